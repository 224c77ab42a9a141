// Package setting defines the section "mqtt" of the configuration: what each kind of device may do, and how its messages become points.
// The comments of the fields are the reference documentation.
package setting

import "time"

// Section is the section "mqtt".
type Section struct {
	// Anonymous admits clients without a name that connect from this machine to the address listen.mqtt. They may
	// publish and subscribe to everything. Clients of other machines always need a name and a secret, or a certificate.
	Anonymous bool `yaml:"anonymous"`
	// Clients is how many clients may be connected at a time. The limit of open files applies too.
	Clients int `yaml:"clients" example:"10000"`
	// Connects is how many clients are admitted each second. Others wait, so that many simultaneous reconnects do not
	// delay connected clients.
	Connects int `yaml:"connects" example:"2000"`
	// Packet is the size of the largest packet in bytes that a client may send.
	Packet int `yaml:"packet" example:"262144"`
	// KeepAlive is the longest keep-alive time of a client. For clients of MQTT 5.0 a longer one, or none, is replaced
	// by it.
	KeepAlive time.Duration `yaml:"keep_alive" example:"1h"`
	// Expiry is the longest time that the session of a disconnected client is kept.
	Expiry time.Duration `yaml:"expiry" example:"7d"`
	// Queue is how many messages with QoS 1 or 2 are queued for a client that is disconnected or slow. Further ones are
	// dropped for it, and counted.
	Queue int `yaml:"queue" example:"1000"`
	// QueueBytes is the maximum of their topics, payloads and properties in bytes; a single message may be larger.
	QueueBytes int `yaml:"queue_bytes" example:"1048576"`
	// Retained is how many retained messages are kept, at most a quarter of them of one device. Further ones are
	// refused; a will is then published, but not retained.
	Retained int `yaml:"retained" example:"100000"`
	// RetainedBytes is the maximum of their topics, payloads and properties in bytes, at most a quarter of one device.
	// Further ones are treated in the same way.
	RetainedBytes int `yaml:"retained_bytes" example:"67108864"`
	// Kinds set the rights of devices by kind. Devices of the kind default, if it is not listed, publish and subscribe
	// to devices/{device}/#.
	Kinds []Kind `yaml:"kinds"`
	// Sparkplug makes the node a host application of Sparkplug B for edge nodes that publish to its broker.
	Sparkplug Sparkplug `yaml:"sparkplug"`
	// HomeAssistant makes points of devices that describe themselves by Home Assistant's MQTT discovery. Templates come first.
	HomeAssistant HomeAssistant `yaml:"home_assistant"`
	// Applications are programs outside that get readings of some points, and may command a few within bounds. Nothing else of the
	// node can be reached with their accounts.
	Applications []Application `yaml:"applications"`
	// Publish sends samples to brokers of others. What is recorded while a broker is away is sent when it is back.
	Publish []Publish `yaml:"publish"`
	// Templates turn messages into points: the first whose topic matches is used. A message without a template is only
	// sent to subscribers, and "voltbus mqtt unknown" shows it.
	Templates []Template `yaml:"templates"`
}

// Sparkplug is the section "mqtt.sparkplug".
type Sparkplug struct {
	// Host is the identifier of the host application, which edge nodes find in the topic spBv1.0/STATE/<host>. Default: the
	// node is none, and messages of Sparkplug B are like others.
	Host string `yaml:"host" example:"plant"`
	// Device is the path of the points of an edge node. Those of its devices lie below their names.
	Device string `yaml:"device" example:"sparkplug/{group}/{node}"`
	// Writable are patterns of the points within an edge node, such as boiler/setpoint, that can be commanded, beside those
	// whose birth has the property readOnly with the value false.
	Writable []string `yaml:"writable" example:"[\"**/setpoint\"]"`
}

// HomeAssistant is the section "mqtt.home_assistant".
type HomeAssistant struct {
	// Prefix begins the topics where devices describe themselves, such as homeassistant/sensor/boiler/supply/config. Default: such
	// messages are like others.
	Prefix string `yaml:"prefix" example:"homeassistant"`
	// Device is the path of the points of a device; {device} stands for its name.
	Device string `yaml:"device" example:"home/{device}"`
}

// Kind is an entry of "mqtt.kinds".
type Kind struct {
	// Name is used to add devices: letters, digits, "-" and "_".
	Name string `yaml:"name" example:"thermostat"`
	// Publish are the topics that a device may publish to: filters with the wildcards + and #, where {device} stands
	// for its name.
	Publish []string `yaml:"publish" example:"[\"thermostats/{device}/#\"]"`
	// Subscribe are the topics that a device may subscribe to. A filter that it subscribes to must be within one of
	// them.
	Subscribe []string `yaml:"subscribe" example:"[\"thermostats/{device}/set/#\"]"`
	// Rate is how many messages a device may publish in a second, with bursts of four times that. A device that sends
	// more is read more slowly. Default: 50.
	Rate int `yaml:"rate" example:"50"`
	// Bytes is how many bytes a device may publish in a second, with bursts of four times that. Default: 65536.
	Bytes int `yaml:"bytes" example:"65536"`
	// Payload is how many bytes a message of a device may have. Larger ones are refused. Default: limited by packet.
	Payload int `yaml:"payload" example:"4096"`
	// Sessions is how many clients with different client identifiers may use the name of one device at a time. Default:
	// 2.
	Sessions int `yaml:"sessions" example:"2"`
	// Points is how many points a device may create by templates. Default: 200.
	Points int `yaml:"points" example:"200"`
}

// DeviceName stands for the name of a device in the topics of a kind.
const DeviceName = "{device}"

// DefaultKind is the name of the kind that devices have if they are added without one.
const DefaultKind = "default"

// The formats of a payload.
const (
	JSON      = "json"
	Plain     = "plain"
	SenML     = "senml"
	CBOR      = "cbor"
	SenMLCBOR = "senml-cbor"
)

// Template is an entry of "mqtt.templates".
type Template struct {
	// Name identifies the template in messages.
	Name string `yaml:"name" example:"thermostat"`
	// Topic selects messages: a filter with the wildcards + and # in which {name} stands for any one level, whose text
	// is used in device, points and set.
	Topic string `yaml:"topic" example:"thermostats/{device}/state"`
	// Device is the path of the points.
	Device string `yaml:"device" example:"home/{device}"`
	// Format is the format of the payload: json for an object of JSON, cbor for one of CBOR (RFC 8949), plain for one value as
	// text, senml and senml-cbor for SenML in JSON and CBOR (RFC 8428).
	Format string `yaml:"format" enum:"json,plain,senml,cbor,senml-cbor"`
	// Points are the values in the payload that become points.
	Points []Point `yaml:"points"`
	// Rest also uses all other numbers, texts and booleans of a JSON object, under their names there.
	Rest bool `yaml:"rest"`
	// Leave are names that rest does not use.
	Leave []string `yaml:"leave" example:"[linkquality, update]"`
	// Time is the place of the time in a JSON object: a number of seconds, milliseconds, microseconds or nanoseconds
	// since 1970, distinguished by its size, or a text of RFC 3339. Default: the time of arrival.
	Time string `yaml:"time" example:"ts"`
	// Interval is the expected time between messages, for display and for the completeness of the history.
	Interval time.Duration `yaml:"interval" example:"60s"`
	// StaleAfter is the time without messages after which the points get the quality bad(stale). 0: never.
	StaleAfter time.Duration `yaml:"stale_after" example:"5m"`
	// Live sends the values only to subscribers and does not record them.
	Live bool `yaml:"live"`
}

// Point is an entry of "mqtt.templates.points".
type Point struct {
	// Name is that of the point within the device; {name} stands for a level of the topic, or for the i-th * of from
	// as {1}.
	Name string `yaml:"name" example:"temperature"`
	// From is the place of the value in a JSON object: names with dots between them, [2] for an element of a list, *
	// for each member. Default: the name.
	From string `yaml:"from" example:"sensor.temperature"`
	// Unit is that of the point.
	Unit string `yaml:"unit" example:"degC"`
	// Type is the type of its values. By default the payload decides: numbers are floats.
	Type string `yaml:"type" enum:"float,int,bool,text"`
	// Scale is the factor for numbers. Default: 1.
	Scale float64 `yaml:"scale" example:"0.1"`
	// Offset is added to numbers after that.
	Offset float64 `yaml:"offset" example:"-40"`
	// On are the texts that are true for the type bool, beside true, on and 1, in any case.
	On []string `yaml:"on" example:"[open]"`
	// Off are the texts that are false, beside false, off and 0.
	Off []string `yaml:"off" example:"[closed]"`
	// Bad are values that mean no value, such as that of a broken sensor.
	Bad []string `yaml:"bad" example:"[\"-127\", unavailable]"`
	// Set lets commands set the point: a message to a topic of the device. The point then needs a type.
	Set Set `yaml:"set"`
}

// Set is the entry "set" of a point: how it is commanded. What the device reports in the template's topic after that says
// whether it has the value.
type Set struct {
	// Topic is where the device takes the value; {name} stands for a level of the template's topic.
	Topic string `yaml:"topic" example:"thermostats/{device}/set/setpoint"`
	// Payload is what is sent, with {value} for the value. Where it is JSON, texts are quoted. Default: {value}.
	Payload string `yaml:"payload" example:"{\"setpoint\": {value}}"`
	// To is the place of the value in a JSON object that is sent, in place of payload.
	To string `yaml:"to" example:"room.setpoint"`
	// Timeout is how long the device may take to report the value. Default: 5s.
	Timeout time.Duration `yaml:"timeout" example:"5s"`
	// Ask is a topic where the device takes a request to report the point. By default the last report counts.
	Ask string `yaml:"ask" example:"zigbee2mqtt/{device}/get"`
	// AskPayload is the payload of such a request.
	AskPayload string `yaml:"ask_payload" example:"{\"setpoint\": \"\"}"`
	// Default is the relinquish default of the point, such as 21.5 or true.
	Default string `yaml:"default" example:"19"`
	// Revert is what the point reverts to when its last command has ended: default for its default, before for its value
	// before the first command. By default it is default, or before if there is none.
	Revert string `yaml:"revert" enum:"default,before"`
	// Min is the smallest value that may be commanded, in the point's unit.
	Min *float64 `yaml:"min" example:"5"`
	// Max is the largest value that may be commanded, in the point's unit.
	Max *float64 `yaml:"max" example:"30"`
	// Lease is how long a command may last without being renewed. 0: until it is relinquished.
	Lease time.Duration `yaml:"lease" example:"15m"`
	// Tolerance is the allowed difference between report and commanded value, in the point's unit.
	Tolerance float64 `yaml:"tolerance" example:"0.5"`
}

// Wait returns how long the device may take to report a value.
func (s *Set) Wait() time.Duration {
	if s.Timeout == 0 {
		return 5 * time.Second
	}
	return s.Timeout
}

// Default returns the section of an empty file.
func Default() Section {
	return Section{
		Clients: 10_000, Connects: 2000, Packet: 256 << 10, KeepAlive: time.Hour, Expiry: 7 * 24 * time.Hour,
		Queue: 1000, QueueBytes: 1 << 20, Retained: 100_000, RetainedBytes: 64 << 20,
		Sparkplug: Sparkplug{Device: "sparkplug/{group}/{node}"}, HomeAssistant: HomeAssistant{Device: "homeassistant/" + DeviceName},
	}
}

// Bounded returns the kind with the bounds that were left out.
func (k Kind) Bounded() Kind {
	set := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	set(&k.Rate, 50)
	set(&k.Bytes, 64<<10)
	set(&k.Sessions, 2)
	set(&k.Points, 200)
	return k
}

// Fallback returns the kind of devices whose kind is not configured.
func Fallback() Kind {
	own := []string{"devices/" + DeviceName + "/#"}
	return Kind{Name: DefaultKind, Publish: own, Subscribe: own}.Bounded()
}
