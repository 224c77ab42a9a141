package template_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/internal/strictyaml"
)

// The templates of the guide take the messages that stand below them.
func TestTheTemplatesOfTheGuideDoWhatItSays(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/mqtt-templates.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	var set *template.Set
	for i, block := range strings.Split(string(text), "```") {
		switch kind, body, _ := strings.Cut(block, "\n"); {
		case i%2 == 1 && kind == "yaml":
			set = compile(t, body)
		case i%2 == 1 && kind == "text":
			examples++
			follow(t, set, body)
		}
	}
	if examples < 8 {
		t.Errorf("the guide has %d examples", examples)
	}
}

func compile(t testing.TB, text string) *template.Set {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err, text)
	}
	section := setting.Default()
	if problems := strictyaml.Decode("guide", "templates", node.Content[0], &section.Templates); len(problems) > 0 {
		t.Fatal(problems)
	}
	section.Validate(func(key, format string, args ...any) { t.Errorf("%s: %s\n%s", key, fmt.Sprintf(format, args...), text) })
	set, err := template.Compile(section.Templates)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// follow takes messages, and compares what becomes of them with the lines below each.
func follow(t *testing.T, set *template.Set, text string) {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		got.WriteString(line)
		topic, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m := set.Find(topic)
		if m == nil {
			t.Errorf("no template takes %s", topic)
			continue
		}
		err := m.Take(at(), "", []byte(payload), func(r *template.Reading) {
			words := []string{string(m.Device.Join(r.Name)), string(r.Value.AppendJSON(nil)), r.Unit}
			if !r.Quality.IsGood() {
				words = append(words, r.Quality.String())
			}
			line := "  " + strings.TrimSpace(strings.Join(words, " "))
			if r.Command != nil {
				sent, err := r.Command.Payload(r.Value)
				line += fmt.Sprintf(" → %s %s", r.Command.Topic, sent)
				if err != nil {
					t.Errorf("%s cannot be commanded: %v", r.Name, err)
				}
			}
			got.WriteString(line + "\n")
			if strings.Contains(payload, "12:00:00") && r.Time.Truncate(1e9) != at() {
				t.Errorf("%s has the time %s", r.Name, r.Time)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", topic, err)
		}
	}
	if got.String() != text {
		t.Errorf("the guide says\n%s\nbut what becomes of it is\n%s", text, got.String())
	}
}
