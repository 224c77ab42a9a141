package discovery_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"voltbus/broker/discovery"
	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/point"
)

func host() *discovery.Host {
	return discovery.New(setting.HomeAssistant{Prefix: "homeassistant", Device: "home/{device}"})
}

// follow takes messages, each a line of topic and payload, and writes below each what becomes of it.
func follow(h *discovery.Host, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out.WriteString(line)
		topic, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m := h.Find(topic)
		if m == nil {
			out.WriteString("  nothing\n")
			continue
		}
		err := m.Take(time.Time{}, topic, []byte(payload), func(r *template.Reading) {
			words := []string{string(m.Device.Join(r.Name)), string(r.Value.AppendJSON(nil)), r.Unit}
			if !r.Quality.IsGood() {
				words = append(words, r.Quality.String())
			}
			out.WriteString("  " + strings.Join(strings.Fields(strings.Join(words, " ")), " "))
			if r.Command != nil && r.Quality.IsGood() {
				sent, err := r.Command.Payload(r.Value)
				fmt.Fprintf(&out, " → %s %s", r.Command.Topic, sent)
				if err != nil {
					fmt.Fprintf(&out, " (%v)", err)
				}
			}
			out.WriteByte('\n')
		})
		if err != nil {
			fmt.Fprintf(&out, "  error: %v\n", err)
		}
	}
	return out.String()
}

// The guide's messages, which are those of the documentation of Home Assistant, Zigbee2MQTT and ESPHome, become what it says.
func TestDevicesOfTheGuideDescribeThemselves(t *testing.T) {
	text, err := os.ReadFile("../../docs/guides/mqtt-templates.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Devices that describe themselves")
	_, block, is := strings.Cut(section, "```text discovery\n")
	block, _, _ = strings.Cut(block, "```")
	if got := follow(host(), block); !is || got != block {
		t.Errorf("the guide says\n%s\nbut what becomes of it is\n%s", block, got)
	}
}

func TestConfigurationsAndMessages(t *testing.T) {
	const sensor = `homeassistant/sensor/plug/power/config {"name":"Power","state_topic":"plug/state","unit_of_measurement":"W",`
	for _, c := range []struct{ name, script string }{
		{"a configuration that is replaced", sensor + `"value_template":"{{ value_json.power }}"}
` + sensor + `"value_template":"{{ value_json.watts }}"}
plug/state {"power":1,"watts":2}
  home/plug/power 2 W
`},
		{"a configuration that is removed", sensor + `"value_template":"{{ value_json.power }}"}
homeassistant/sensor/plug/power/config
plug/state {"power":1}
`},
		{"a number with a factor, rounded", sensor + `"value_template":"{{ (value_json['a.b'][1] | float(0) * 0.1) | round(1) }}"}
plug/state {"a.b":[0,123]}
  home/plug/power 12.3 W
`},
		{"a default", sensor + `"value_template":"{{ value_json.power | default(0) }}"}
plug/state {}
  home/plug/power 0 W
`},
		{"a value that is not there", sensor + `"value_template":"{{ value_json.power }}"}
plug/state {}
  error: power: is not in the payload
plug/state {
  error: the payload is not JSON: unexpected EOF
plug/state {"power":"unavailable"}
  home/plug/power null W bad(sensor)
`},
		{"a program in place of a template", sensor + `"value_template":"{% if x %}1{% endif %}"}
  error: power: "{% if x %}1{% endif %}" is a template that is not understood: write {{ value }} or {{ value_json.name }}, with filters such as | float, | int, | round(1), | default(0), or give the topic a template in mqtt.templates
plug/state {"power":1}
  nothing
`},
		{"no JSON", `homeassistant/sensor/x/config [1]
  error: the configuration is not a JSON object
`},
		{"a topic with a wildcard", `homeassistant/sensor/x/config {"state_topic":"#"}
  error: x: "#" is not a topic: topic name has the wildcard '#' at byte 1 [MQTT-4.7.0-1]
`},
		{"a component without values", `homeassistant/button/x/y/config {"command_topic":"x/set"}
`},
		{"a device whose name would leave its place", `homeassistant/sensor/x/y/config {"state_topic":"s","device":{"name":"../../plant"}}
s 1
  home/..%2F..%2Fplant/y 1
`},
		{"a command that is a program cannot be sent", `homeassistant/number/x/y/config {"state_topic":"s","command_topic":"s/set","command_template":"{{ value * 2 }}"}
s 1
  home/x/y 1
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := follow(host(), c.script); got != c.script {
				t.Errorf("got\n%s\nwant\n%s", got, c.script)
			}
		})
	}
}

func TestACommandIsMadeAgainAfterARestart(t *testing.T) {
	h := host()
	const script = `homeassistant/number/boiler/supply/config {"state_topic":"b/s","command_topic":"b/s/set","min":5,"max":"80","unit_of_measurement":"°C"}
`
	follow(h, script)
	var detail string
	if err := h.Find("b/s").Take(time.Time{}, "b/s", []byte("60"), func(r *template.Reading) { detail = r.Command.Detail }); err != nil {
		t.Fatal(err)
	}
	c := host().Restore(detail) // which was told nothing yet
	if c == nil || c.Point != "home/boiler/supply" || c.Topic != "b/s/set" || *c.Max != 80 || c.Unit != "degC" || c.Kind != point.Float {
		t.Fatalf("it is %+v", c)
	}
	if sent, err := c.Payload(point.FloatOf(61.5)); err != nil || string(sent) != "61.5" {
		t.Errorf("sent is %s, %v", sent, err)
	}
	for _, other := range []string{"", "{}", discovery.Detail, discovery.Detail + "[]"} {
		if c := h.Restore(other); other != discovery.Detail+"{}" && c != nil {
			t.Errorf("%q is restored as %+v", other, c)
		}
	}
	var none *discovery.Host
	if none.Find("x") != nil || none.Restore(detail) != nil {
		t.Error("a node without discovery finds something")
	}
}

func TestAttackConfigurationsAreBounded(t *testing.T) {
	h := host()
	var b strings.Builder
	b.WriteString(`homeassistant/device/x/config {"cmps":{`)
	for i := range 1001 {
		fmt.Fprintf(&b, `"c%d":{"p":"sensor","state_topic":"s"},`, i)
	}
	b.WriteString(`"last":{"p":"sensor","state_topic":"s"}}}` + "\n")
	if got := follow(h, b.String()); !strings.Contains(got, "1002 components; 1000 at most") {
		t.Errorf("got %.200s", got)
	}
}

func FuzzConfiguration(f *testing.F) {
	f.Add(`{"stat_t":"~/s","~":"x","val_tpl":"{{ value_json.a[0] | float / 10 }}","avty_t":"~/a","dev":{"ids":["i"]}}`, `{"a":[1]}`)
	f.Add(`{"cmps":{"a":{"p":"climate","temp_stat_t":"x","temp_cmd_t":"y"}}}`, `1`)
	f.Fuzz(func(t *testing.T, config, payload string) {
		h := host()
		for _, topic := range []string{"homeassistant/sensor/a/b/config", "homeassistant/device/a/config", "homeassistant/climate/config"} {
			h.Learn(topic, []byte(config))
		}
		for _, topic := range []string{"x/s", "x/a", "x"} {
			m := h.Find(topic)
			if m == nil {
				continue
			}
			_ = m.Take(time.Time{}, topic, []byte(payload), func(r *template.Reading) {
				if path := m.Device.Join(r.Name); path.Validate() == nil && !strings.HasPrefix(string(path), "home/") {
					t.Errorf("%q reads %q at %q", config, payload, path)
				}
			})
		}
	})
}
