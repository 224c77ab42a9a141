package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Propose returns a template in YAML that takes messages of a topic with a payload, as an entry of mqtt.templates; "" if
// none can be proposed. device is the name of who sent it, "" if it has none: its level of the topic then stays as it is.
func Propose(topic, device string, payload []byte) string {
	levels := strings.Split(topic, "/")
	place := "mqtt/" + strings.Join(levels, "/")
	var words []string // of the name: different topics get different names
	for i, l := range levels {
		if l == "" {
			return ""
		}
		if device != "" && l == device {
			levels[i], place = "{device}", "mqtt/{device}"
			continue
		}
		words = append(words, l)
	}
	name := cmp.Or(strings.Join(words, " "), "device")
	body := bytes.TrimSpace(payload)
	var lines []string
	switch {
	case len(body) == 0:
		return ""
	case json.Valid(body) && body[0] == '[' && bytes.Contains(body, []byte(`"n"`)):
		lines = append(lines, "format: senml")
	case json.Valid(body) && (body[0] == '{' || body[0] == '['):
		lines = append(lines, "format: json", "rest: true")
		if at := timeIn(body); at != "" {
			lines = append(lines, "time: "+at)
		}
	case body[0] == '{' || bytes.ContainsFunc(body, func(r rune) bool { return r < 0x20 || r == 0xFFFD }):
		return "" // its end is missing, or it is no text
	default:
		last := levels[len(levels)-1]
		if !plainName.MatchString(last) {
			last = "value"
		}
		lines = append(lines, "format: plain", fmt.Sprintf("points: [{name: %s}]", last))
	}
	head := []string{fmt.Sprintf("- name: %q", name), fmt.Sprintf("topic: %q", strings.Join(levels, "/")), fmt.Sprintf("device: %q", place)}
	return strings.Join(append(head, lines...), "\n  ") + "\n"
}

// timeIn finds the time of an object by the names that are usual.
func timeIn(body []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return ""
	}
	for _, name := range []string{"time", "Time", "timestamp", "ts", "t"} {
		var v any
		d := json.NewDecoder(bytes.NewReader(members[name]))
		d.UseNumber()
		if d.Decode(&v) != nil {
			continue
		}
		if at, err := moment(v); err == nil && at.Year() > 2001 {
			return name
		}
	}
	return ""
}
