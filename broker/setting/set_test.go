package setting_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/broker/setting"
)

func TestWhatCannotBeSetIsSaidWithWhatToWrite(t *testing.T) {
	for name, c := range map[string]struct {
		point setting.Point
		want  string
	}{
		"no topic":        {setting.Point{Type: "float", Set: setting.Set{To: "x"}}, "set.topic: is missing"},
		"no type":         {setting.Point{Set: setting.Set{Topic: "x/{device}"}}, "write type: float, int, bool or text"},
		"unknown level":   {setting.Point{Type: "int", Set: setting.Set{Topic: "x/{room}"}}, "{room} is not in the topic"},
		"wildcard":        {setting.Point{Type: "int", Set: setting.Set{Topic: "x/+"}}, "is not a topic"},
		"payload":         {setting.Point{Type: "int", Set: setting.Set{Topic: "x", Payload: "1"}}, "does not hold {value}"},
		"two ways":        {setting.Point{Type: "int", Set: setting.Set{Topic: "x", Payload: "{value}", To: "a"}}, "remove one of them"},
		"list":            {setting.Point{Type: "int", Set: setting.Set{Topic: "x", To: "a[1]"}}, "is not the place of one value"},
		"star":            {setting.Point{Type: "int", From: "*.a", Set: setting.Set{Topic: "x"}}, "from has a *"},
		"time-out":        {setting.Point{Type: "int", Set: setting.Set{Topic: "x", Timeout: -1}}, "is out of range"},
		"nothing to ask":  {setting.Point{Type: "int", Set: setting.Set{Topic: "x", AskPayload: "?"}}, "set.ask: is missing"},
		"default missing": {setting.Point{Type: "int", Set: setting.Set{Topic: "x", Revert: "default"}}, "set.default: is missing"},
	} {
		c.point.Name = "p"
		if strings.Contains(c.point.From, "*") {
			c.point.Name = "{1}/p"
		}
		s := setting.Default()
		s.Templates = []setting.Template{{Name: "t", Topic: "t/{device}", Device: "home/{device}", Format: "json", Points: []setting.Point{c.point}}}
		var said []string
		s.Validate(func(key, format string, args ...any) { said = append(said, key+": "+fmt.Sprintf(format, args...)) })
		if len(said) != 1 || !strings.Contains(said[0], c.want) {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}
