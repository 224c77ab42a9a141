package template_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/broker/setting"
	"voltbus/broker/template"
)

func at() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// take returns what a template takes from a message, as lines.
func take(t *testing.T, tpl setting.Template, topic, payload string) (device string, lines []string, err error) {
	t.Helper()
	var problems []string
	section := setting.Default()
	section.Templates = []setting.Template{tpl}
	section.Validate(func(key, format string, args ...any) {
		problems = append(problems, key+": "+fmt.Sprintf(format, args...))
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, err := template.Compile(section.Templates)
	if err != nil {
		t.Fatal(err)
	}
	m := set.Find(topic)
	if m == nil {
		return "", nil, nil
	}
	err = m.Take(at(), "", []byte(payload), func(r *template.Reading) {
		line := r.Name + " " + string(r.Value.AppendJSON(nil))
		if r.Unit != "" {
			line += " " + r.Unit
		}
		if !r.Quality.IsGood() {
			line += " " + r.Quality.String()
		}
		if !r.Time.IsZero() {
			line += " @" + r.Time.Format("15:04:05.999")
		}
		lines = append(lines, line)
	})
	return string(m.Device), lines, err
}

func points(list ...setting.Point) []setting.Point { return list }

func TestPayloadsBecomeReadings(t *testing.T) {
	one := setting.Template{Name: "t", Topic: "d/{device}/+", Device: "home/{device}"}
	with := func(format string, change func(*setting.Template)) setting.Template {
		tpl := one
		tpl.Format = format
		change(&tpl)
		return tpl
	}
	list := func(p ...setting.Point) func(*setting.Template) {
		return func(tpl *setting.Template) { tpl.Points = points(p...) }
	}
	tests := []struct {
		name    string
		tpl     setting.Template
		payload string
		want    string
		wrong   string
	}{
		{"a plain number", with("plain", list(setting.Point{Name: "t", Unit: "degC"})), " 21.50 ", "t 21.5 degC", ""},
		{"a plain text", with("plain", list(setting.Point{Name: "mode"})), "eco", `mode "eco"`, ""},
		{"a plain switch", with("plain", list(setting.Point{Name: "on", Type: "bool", On: []string{"Open"}})), "OPEN", "on true", ""},
		{"a plain payload that is no number", with("plain", list(setting.Point{Name: "t", Type: "float"})), "NaN", "", "t: is not a number"},
		{"a value that means none", with("plain", list(setting.Point{Name: "t", Bad: []string{"-127"}})), "-127", "t null bad(sensor)", ""},
		{
			"values by their ways", with("json", list(setting.Point{Name: "a", From: "x.y[1]"}, setting.Point{Name: "b", From: `["k.l"]`}, setting.Point{Name: "c"})),
			`{"x":{"y":[1,2]},"k.l":true,"other":1}`, "a 2, b true", "",
		},
		{"every member", with("json", list(setting.Point{Name: "{1}/t", From: "*.T"})), `{"S1":{"T":1},"S2":{"T":2},"n":3}`, "S1/t 1, S2/t 2", ""},
		{"scaled to a whole number", with("json", list(setting.Point{Name: "p", Scale: 0.1, Offset: -40, Type: "int"})), `{"p": 655}`, "p 26", ""},
		{"a whole number of 63 bits", with("json", list(setting.Point{Name: "n", Type: "int"})), `{"n": 9007199254740993}`, "n 9007199254740993", ""},
		{"all the rest", with("json", func(tpl *setting.Template) {
			tpl.Points, tpl.Rest, tpl.Leave = points(setting.Point{Name: "t", From: "a.t"}), true, []string{"link"}
		}), `{"a":{"t":1,"h":2},"link":{"q":1},"l":["x",false],"n":null}`, `t 1, a/h 2, l/0 "x", l/1 false`, ""},
		{
			"the time of the payload, in seconds", with("json", func(tpl *setting.Template) { tpl.Points, tpl.Time = points(setting.Point{Name: "v"}), "ts" }),
			`{"v":1,"ts":1772366400.5}`, "v 1 @12:00:00.5", "",
		},
		{
			"the time of the payload, in milliseconds", with("json", func(tpl *setting.Template) { tpl.Points, tpl.Time = points(setting.Point{Name: "v"}), "ts" }),
			`{"v":1,"ts":1772366400123}`, "v 1 @12:00:00.123", "",
		},
		{
			"the time of the payload, as a text", with("json", func(tpl *setting.Template) { tpl.Points, tpl.Time = points(setting.Point{Name: "v"}), "m.at" }),
			`{"v":1,"m":{"at":"2026-03-01T13:00:00+01:00"}}`, "v 1 @12:00:00", "",
		},
		{
			"SenML", with("senml", func(*setting.Template) {}), `[{"bn":"s/","n":"t","u":"Cel","v":21,"bt":1772366400},{"n":"on","vb":true}]`,
			"s/t 21 Cel @12:00:00, s/on true @12:00:00", "",
		},
		{"no JSON", with("json", list(setting.Point{Name: "t"})), "21", "", ""},
		{"half a payload", with("json", list(setting.Point{Name: "t"})), `{"t":`, "", "the payload is not JSON"},
		{"two objects", with("json", list(setting.Point{Name: "t"})), `{"t":1}{}`, "", "something follows"},
		{"a deep payload", with("json", list(setting.Point{Name: "t"})), strings.Repeat(`{"t":`, 17), "", "nested more than 16 deep"},
		{"one wrong value among others", with("json", list(setting.Point{Name: "t", Type: "bool"}, setting.Point{Name: "u"})), `{"t":"x","u":1}`, "u 1", "t: is neither true nor false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			device, lines, err := take(t, tt.tpl, "d/boiler/state", tt.payload)
			if got := strings.Join(lines, ", "); got != tt.want || device != "home/boiler" {
				t.Errorf("%s has %s, want %s", device, got, tt.want)
			}
			if (err != nil) != (tt.wrong != "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("the error is %v, want %q", err, tt.wrong)
			}
		})
	}
}

func TestTopicsFindTheirTemplate(t *testing.T) {
	tests := []struct{ filter, topic, device string }{
		{"a/{x}/b", "a/1/b", "p/1"},
		{"a/{x}/b", "a/1/b/c", ""},
		{"a/{x}/b", "a//b", ""},
		{"a/{x}/#", "a/1", "p/1"},
		{"a/{x}/#", "a/1/2/3", "p/1"},
		{"+/{x}", "$SYS/1", ""},
		{"a/{x}", "a/..", "p/%2E%2E"},
		{"a/{x}", "a/100%\x01é", "p/100%25%01é"},
		{"a/{x}", "a/" + strings.Repeat("x", 600), ""},
	}
	for _, tt := range tests {
		tpl := setting.Template{Name: "t", Topic: tt.filter, Device: "p/{x}", Format: "plain", Points: points(setting.Point{Name: "v"})}
		if device, _, _ := take(t, tpl, tt.topic, "1"); device != tt.device {
			t.Errorf("%q with %q: device %q, want %q", tt.topic, tt.filter, device, tt.device)
		}
	}
}

func FuzzPayload(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,{"c":"x"}]},"ts":1}`, `[{"n":"a","v":1}]`, "21.5", `{"a":1e999}`, "\xff\xfe", `{"..":1,"/":2,"":3}`} {
		f.Add(s)
	}
	set, err := template.Compile([]setting.Template{
		{Name: "j", Topic: "json", Device: "d", Format: "json", Rest: true, Time: "ts", Points: points(setting.Point{Name: "{1}/c", From: "*.b[1].c"})},
		{Name: "p", Topic: "plain", Device: "d", Format: "plain", Points: points(setting.Point{Name: "v"})},
		{Name: "s", Topic: "senml", Device: "d", Format: "senml"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		for _, topic := range []string{"json", "plain", "senml"} {
			m := set.Find(topic)
			n := 0
			_ = m.Take(at(), "", []byte(payload), func(r *template.Reading) {
				n++
				if topic == "json" {
					for segment := range strings.SplitSeq(r.Name, "/") {
						if segment == "." || segment == ".." || segment == "" {
							t.Errorf("%q has the name %q", payload, r.Name)
						}
					}
				}
				if !json.Valid(r.Value.AppendJSON(nil)) {
					t.Errorf("%q has the value %v", payload, r.Value)
				}
			})
			if n > 1000 && topic == "json" {
				t.Errorf("%d readings", n)
			}
		}
	})
}
