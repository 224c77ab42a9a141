package discovery

// view is one value of a component: where it is read, and where it is commanded.
type view struct {
	name     string // behind that of the component, "" for its only or main value
	topic    string
	template string
	unit     string
	kind     string // of setting.Point
	on, off  []string
	command  string // a topic, "" for none
	payload  string // the template of commands
	min, max *float64
}

// viewsOf returns the values of a component. Components without values, such as buttons, have none.
func viewsOf(component string, k keys) []view {
	state := view{topic: k.topic("state_topic"), template: k.text("value_template")}
	switch component {
	case "sensor":
		state.unit = k.text("unit_of_measurement")
		if class := k.text("device_class"); class == "enum" || class == "timestamp" || class == "date" {
			state.kind = "text"
		} else if state.unit != "" || k.text("state_class") != "" {
			state.kind = "float"
		}
	case "binary_sensor":
		state.kind = "bool"
		state.on, state.off = []string{k.word("payload_on", "ON")}, []string{k.word("payload_off", "OFF")}
	case "switch", "light", "fan", "siren", "humidifier":
		return []view{switched(state, k)}
	case "number":
		state.kind, state.unit = "float", k.text("unit_of_measurement")
		state.min, state.max = k.bound("min"), k.bound("max")
		return []view{commanded(state, k)}
	case "select", "text":
		state.kind = "text"
		return []view{commanded(state, k)}
	case "climate":
		return climate(k)
	case "cover", "valve":
		state.kind, state.name = "text", "state"
		position := view{name: "position", topic: k.topic("position_topic"), template: k.text("position_template"), kind: "float", unit: "%"}
		position.command, position.payload = k.topic("set_position_topic"), k.text("set_position_template")
		return []view{state, position}
	default:
		return nil
	}
	return []view{state}
}

func commanded(v view, k keys) view {
	v.command, v.payload = k.topic("command_topic"), k.text("command_template")
	return v
}

// switched is the value of a component that is on or off.
func switched(v view, k keys) view {
	on, off := k.word("payload_on", "ON"), k.word("payload_off", "OFF")
	v.kind, v.on, v.off = "bool", []string{on, k.word("state_on", on)}, []string{off, k.word("state_off", off)}
	if t := k.text("state_value_template"); t != "" {
		v.template = t
	}
	v.command = k.topic("command_topic")
	if k.text("schema") == "json" {
		v.template, v.payload = "{{ value_json.state }}", `{"state": {{ value }}}`
	}
	return v
}

// climate are the values of a thermostat or an air conditioner.
func climate(k keys) []view {
	unit := "degC"
	if k.text("temperature_unit") == "F" {
		unit = "degF"
	}
	list := []view{
		{name: "current_temperature", kind: "float", unit: unit, topic: k.topic("current_temperature_topic"), template: k.text("current_temperature_template")},
		{name: "temperature", kind: "float", unit: unit, topic: k.topic("temperature_state_topic"), template: k.text("temperature_state_template"), command: k.topic("temperature_command_topic"), payload: k.text("temperature_command_template"), min: k.bound("min_temp"), max: k.bound("max_temp")},
		{name: "action", kind: "text", topic: k.topic("action_topic"), template: k.text("action_template")},
	}
	for _, name := range []string{"mode", "fan_mode"} {
		list = append(list, view{
			name: name, kind: "text", topic: k.topic(name + "_state_topic"), template: k.text(name + "_state_template"),
			command: k.topic(name + "_command_topic"), payload: k.text(name + "_command_template"),
		})
	}
	return list
}
