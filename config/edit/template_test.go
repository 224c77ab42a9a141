package edit_test

import (
	"errors"
	"strings"
	"testing"

	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver/all"
	"voltbus/fault"
)

const entry = `- name: "plug state"
  topic: "plug/{device}/state"
  device: "mqtt/{device}"
  format: json
  rest: true
`

const listed = "- name: plug state\nZtopic: plug/{device}/state\nZdevice: mqtt/{device}\nZformat: json\nZrest: true\n"

// below writes the entry as it stands behind so many spaces.
func below(indent int) string {
	spaces := strings.Repeat(" ", indent)
	text := strings.ReplaceAll(spaces+listed, "Z", spaces+"  ")
	for _, quoted := range []string{"plug state", "plug/{device}/state", "mqtt/{device}"} {
		text = strings.Replace(text, ": "+quoted+"\n", `: "`+quoted+"\"\n", 1)
	}
	return text
}

const one = `    - name: one # the first
      topic: one/{d}
      device: home/{d}
      format: plain
      points: [{name: v}]
`

func TestATemplateIsAddedBehindTheOthers(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"without a section", "node: {name: n} # mine\n", "node: {name: n} # mine\nmqtt:\n  templates:\n" + below(4)},
		{"into a section without templates", "node: {name: n}\nmqtt:\n  clients: 10\nlisten: {http: off}\n", "node: {name: n}\nmqtt:\n  templates:\n" + below(4) + "  clients: 10\nlisten: {http: off}\n"},
		{
			"behind another, before the next section", "node: {name: n}\nmqtt:\n  templates:\n" + one + "\n# where\nlisten: {http: off}\n",
			"node: {name: n}\nmqtt:\n  templates:\n" + one + below(4) + "\n# where\nlisten: {http: off}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := edit.AddTemplate(config.Place{File: "v.yaml", Kinds: all.Kinds()}, []byte(c.before), []byte(entry))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Text) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got.Text, c.after)
			}
			if got.Name != "plug state" || got.Config.MQTT.Templates[len(got.Config.MQTT.Templates)-1].Topic != "plug/{device}/state" {
				t.Errorf("added is %+v", got)
			}
		})
	}
}

// Where lines cannot be put in, the file is written anew and means the same.
func TestATemplateIsAddedToEveryForm(t *testing.T) {
	for _, before := range []string{
		"node: {name: n}\nmqtt: {clients: 10}\n", "node: {name: n}\nmqtt:\n", "node: {name: n}\nmqtt: {templates: []}\n",
		"node: {name: n}\nmqtt:\n  templates: [{name: one, topic: one, device: home, format: plain, points: [{name: v}]}] # one\n",
		"node: {name: n}\nmqtt:\n  templates:\n    - name: one\n      topic: one\n      device: home\n      format: plain\n      points:\n        - name: v\n          unit: |-\n            m\n",
	} {
		got, err := edit.AddTemplate(config.Place{File: "v.yaml", Kinds: all.Kinds()}, []byte(before), []byte(entry))
		if err != nil {
			t.Errorf("%s: %v", before, err)
			continue
		}
		list := got.Config.MQTT.Templates
		if list[len(list)-1].Name != "plug state" || strings.Contains(before, "one") != (len(list) == 2) {
			t.Errorf("%s becomes\n%s", before, got.Text)
		}
	}
}

func TestATemplateThatIsWrongIsNotAdded(t *testing.T) {
	const before = "node: {name: n}\nmqtt:\n  templates:\n" + one
	for _, c := range []struct{ name, entry, want string }{
		{"no YAML", "- name: [", "is not one template"},
		{"two entries", entry + entry, "is not one template"},
		{"a text", "plug", "is not one template"},
		{"a key that is not known", entry + "  colour: red\n", "colour"},
		{"a name that another has", strings.Replace(entry, "plug state", "one", 1), "is there already"},
		{"a template that takes nothing", "{name: x, topic: x, device: y, format: json}", "nothing would be taken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := edit.AddTemplate(config.Place{File: "v.yaml", Kinds: all.Kinds()}, []byte(before), []byte(c.entry))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, is := errors.AsType[config.Problems](err); !is && !fault.Is(err, fault.Invalid) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
