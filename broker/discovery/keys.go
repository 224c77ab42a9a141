package discovery

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
)

// keys are those of a configuration, by their long names.
type keys map[string]any

// short are the abbreviations of Home Assistant's discovery that are of use here.
//
//nolint:gochecknoglobals // a table
var short = map[string]string{
	"act_t": "action_topic", "act_tpl": "action_template", "avty": "availability", "avty_t": "availability_topic", "avty_tpl": "availability_template",
	"cmd_t": "command_topic", "cmd_tpl": "command_template", "cmps": "components", "curr_temp_t": "current_temperature_topic", "curr_temp_tpl": "current_temperature_template",
	"dev": "device", "dev_cla": "device_class", "exp_aft": "expire_after", "fan_mode_cmd_t": "fan_mode_command_topic", "fan_mode_cmd_tpl": "fan_mode_command_template",
	"fan_mode_stat_t": "fan_mode_state_topic", "fan_mode_stat_tpl": "fan_mode_state_template", "ids": "identifiers", "mode_cmd_t": "mode_command_topic",
	"mode_cmd_tpl": "mode_command_template", "mode_stat_t": "mode_state_topic", "mode_stat_tpl": "mode_state_template", "p": "platform",
	"pl_avail": "payload_available", "pl_not_avail": "payload_not_available", "pl_off": "payload_off", "pl_on": "payload_on", "pos_t": "position_topic",
	"pos_tpl": "position_template", "set_pos_t": "set_position_topic", "set_pos_tpl": "set_position_template", "stat_off": "state_off", "stat_on": "state_on",
	"stat_t": "state_topic", "stat_val_tpl": "state_value_template", "t": "topic", "temp_cmd_t": "temperature_command_topic", "temp_cmd_tpl": "temperature_command_template",
	"temp_stat_t": "temperature_state_topic", "temp_stat_tpl": "temperature_state_template", "temp_unit": "temperature_unit", "unit_of_meas": "unit_of_measurement",
	"val_tpl": "value_template",
}

func parseKeys(payload []byte) (keys, error) {
	var whole map[string]any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil || whole == nil {
		return nil, errJSON
	}
	return longNames(whole), nil
}

func longNames(from map[string]any) keys {
	k := make(keys, len(from))
	for name, v := range from {
		if long := short[name]; long != "" {
			name = long
		}
		k[name] = v
	}
	return k
}

// with returns the keys of a component, with those of its device that it lacks.
func (k keys) with(component map[string]any) keys {
	all := maps.Clone(k)
	delete(all, "components")
	maps.Copy(all, longNames(component))
	return all
}

func (k keys) object(name string) map[string]any {
	m, _ := k[name].(map[string]any)
	return m
}

// text returns a text or number, "" for none.
func (k keys) text(name string) string {
	switch v := k[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// topic returns a topic, with ~ replaced at its ends.
func (k keys) topic(name string) string {
	t, base := k.text(name), k.text("~")
	if base == "" {
		return t
	}
	if rest, is := strings.CutPrefix(t, "~"); is {
		t = base + rest
	}
	if rest, is := strings.CutSuffix(t, "~"); is {
		t = rest + base
	}
	return t
}

func (k keys) number(name string, otherwise float64) float64 {
	if p := k.bound(name); p != nil {
		return *p
	}
	return otherwise
}

// bound returns a number, nil for none.
func (k keys) bound(name string) *float64 {
	f, err := strconv.ParseFloat(k.text(name), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// word returns a text, or another one if there is none.
func (k keys) word(name, otherwise string) string {
	if t := k.text(name); t != "" {
		return t
	}
	return otherwise
}

// device returns the name of the device: its name, its identifier, or else what the topic of the configuration has in its place.
func (k keys) device(node, object string) string {
	d := longNames(k.object("device"))
	if name := d.text("name"); name != "" {
		return name
	}
	if id := d.text("identifiers"); id != "" {
		return id
	}
	if list, is := d["identifiers"].([]any); is && len(list) > 0 {
		if id := (keys{"id": list[0]}).text("id"); id != "" {
			return id
		}
	}
	if node != "" && node != object {
		return node
	}
	return object
}

// available is a topic that says whether a device is there.
type available struct{ topic, template, absent string }

// mostAvailable bounds them.
const mostAvailable = 8

func (k keys) availabilities() (list []available) {
	if t := k.topic("availability_topic"); t != "" {
		list = append(list, available{t, k.text("availability_template"), k.word("payload_not_available", "offline")})
	}
	entries, _ := k["availability"].([]any)
	for _, e := range entries[:min(len(entries), mostAvailable)] {
		one, is := e.(map[string]any)
		if !is {
			continue
		}
		each := longNames(one)
		each["~"] = k["~"]
		if t := each.topic("topic"); t != "" {
			list = append(list, available{t, each.text("value_template"), each.word("payload_not_available", "offline")})
		}
	}
	return list
}
