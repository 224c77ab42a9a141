// Package setting holds the section "mqtt" of the configuration: what kinds of device may do, and how
// what they send becomes points. The comments of the fields are the reference documentation.
package setting

import "time"

// Section is the section "mqtt".
type Section struct {
	// Anonymous lets clients without a name in that connect from this machine to the address listen.mqtt. They may
	// publish and subscribe to everything. Clients of other machines always need a name and a secret, or a certificate.
	Anonymous bool `yaml:"anonymous"`
	// Clients is how many clients may be connected at a time. What the process may open of files bounds it too.
	Clients int `yaml:"clients" example:"10000"`
	// Connects is how many clients are let in each second. Those that come faster wait, so that the reconnect of a
	// whole fleet does not delay the clients that are connected.
	Connects int `yaml:"connects" example:"2000"`
	// Packet is the size of the largest packet in bytes that a client may send.
	Packet int `yaml:"packet" example:"262144"`
	// KeepAlive is the longest time that a client may be silent. A longer one, or none, is replaced for clients of
	// MQTT 5.0.
	KeepAlive time.Duration `yaml:"keep_alive" example:"1h"`
	// Expiry is how long the session of a client that is away is kept at most.
	Expiry time.Duration `yaml:"expiry" example:"7d"`
	// Queue is how many messages with QoS 1 or 2 wait for a client that is away or slow. What comes then is not kept
	// for it, and counted.
	Queue int `yaml:"queue" example:"1000"`
	// QueueBytes is how many bytes these messages may have in all, of topics, payloads and properties; one message may
	// have more.
	QueueBytes int `yaml:"queue_bytes" example:"1048576"`
	// Retained is how many retained messages are kept, a quarter of them at most of one device. A client that retains
	// more is refused; a will beyond it is published, and not retained.
	Retained int `yaml:"retained" example:"100000"`
	// RetainedBytes is how many bytes the retained messages may have in all, of topics, payloads and properties, a
	// quarter of it at most those of one device. What happens beyond it is the same.
	RetainedBytes int `yaml:"retained_bytes" example:"67108864"`
	// Kinds say what devices may do, by their kind. Devices of the kind default, if it is not listed, publish and
	// subscribe to devices/{device}/#.
	Kinds []Kind `yaml:"kinds"`
	// Templates turn messages into points: the first whose topic fits is taken. A message that none takes goes to
	// subscribers only, and "voltbus mqtt unknown" shows it.
	Templates []Template `yaml:"templates"`
}

// Kind is an entry of "mqtt.kinds".
type Kind struct {
	// Name is what devices are added with: letters, digits, "-" and "_".
	Name string `yaml:"name" example:"thermostat"`
	// Publish are the topics that a device may publish to: filters with the wildcards + and #, where {device} stands
	// for its name.
	Publish []string `yaml:"publish" example:"[\"thermostats/{device}/#\"]"`
	// Subscribe are the topics that a device may subscribe to. A filter that it subscribes to must lie within one of
	// them.
	Subscribe []string `yaml:"subscribe" example:"[\"thermostats/{device}/set/#\"]"`
	// Rate is how many messages a device may publish in a second, and four times that at once. A device that sends
	// more is read more slowly. 50 if it is left out.
	Rate int `yaml:"rate" example:"50"`
	// Bytes is how many bytes a device may publish in a second, and four times that at once. 65536 if it is left out.
	Bytes int `yaml:"bytes" example:"65536"`
	// Payload is how many bytes a message of a device may have. Larger ones are refused. What packet leaves if it is left
	// out.
	Payload int `yaml:"payload" example:"4096"`
	// Sessions is how many clients with different client identifiers may use the name of one device at a time. 2 if it
	// is left out.
	Sessions int `yaml:"sessions" example:"2"`
	// Points is how many points a device may make by templates. 200 if it is left out.
	Points int `yaml:"points" example:"200"`
}

// DeviceName stands for the name of a device in the topics of a kind.
const DeviceName = "{device}"

// DefaultKind is the name of the kind that devices have if they are added without one.
const DefaultKind = "default"

// The formats of a payload.
const (
	JSON  = "json"
	Plain = "plain"
	SenML = "senml"
)

// Template is an entry of "mqtt.templates".
type Template struct {
	// Name tells templates apart where problems are shown.
	Name string `yaml:"name" example:"thermostat"`
	// Topic says which messages are meant: a filter with the wildcards + and # in which {name} stands for any one level,
	// whose text is used in device, points and set.
	Topic string `yaml:"topic" example:"thermostats/{device}/state"`
	// Device is the place of the points.
	Device string `yaml:"device" example:"home/{device}"`
	// Format is how the payload is written: json for an object of JSON, plain for one value as text, senml for
	// SenML in JSON (RFC 8428).
	Format string `yaml:"format" enum:"json,plain,senml"`
	// Points are the values that are taken from the payload.
	Points []Point `yaml:"points"`
	// Rest takes all other numbers, texts and truth values of an object of JSON as well, below the names that they have
	// there.
	Rest bool `yaml:"rest"`
	// Leave are names of values that rest does not take.
	Leave []string `yaml:"leave" example:"[linkquality, update]"`
	// Time is where the time stands in an object of JSON: a number of seconds, milliseconds, microseconds or
	// nanoseconds since 1970, told apart by its size, or a text of RFC 3339. Without it the time of arrival counts.
	Time string `yaml:"time" example:"ts"`
	// Interval is how often a message is expected, for people and for the completeness of the history.
	Interval time.Duration `yaml:"interval" example:"60s"`
	// StaleAfter is the silence after which the points get the quality bad(stale). 0 waits for ever.
	StaleAfter time.Duration `yaml:"stale_after" example:"5m"`
	// Live leaves the values out of the history: they are only sent to whoever listens.
	Live bool `yaml:"live"`
}

// Point is an entry of "mqtt.templates.points".
type Point struct {
	// Name is that of the point within the device; {name} stands for a level of the topic, or for the i-th * of from
	// as {1}.
	Name string `yaml:"name" example:"temperature"`
	// From is where the value stands in an object of JSON: names with dots between them, [2] for an element of a
	// list, * for each member. If it is left out it is the name.
	From string `yaml:"from" example:"sensor.temperature"`
	// Unit is that of the point.
	Unit string `yaml:"unit" example:"degC"`
	// Type is what its values are. If it is left out the payload decides: numbers are floats.
	Type string `yaml:"type" enum:"float,int,bool,text"`
	// Scale is what numbers are multiplied with, 1 if it is left out.
	Scale float64 `yaml:"scale" example:"0.1"`
	// Offset is added to numbers after that.
	Offset float64 `yaml:"offset" example:"-40"`
	// On are the texts that are true for the type bool, beside true, on and 1, in any case.
	On []string `yaml:"on" example:"[open]"`
	// Off are the texts that are false, beside false, off and 0.
	Off []string `yaml:"off" example:"[closed]"`
	// Bad are the values that say that there is none, such as those of a sensor that is broken.
	Bad []string `yaml:"bad" example:"[\"-127\", unavailable]"`
}

// Default returns the section of an empty file.
func Default() Section {
	return Section{
		Clients: 10_000, Connects: 2000, Packet: 256 << 10, KeepAlive: time.Hour, Expiry: 7 * 24 * time.Hour,
		Queue: 1000, QueueBytes: 1 << 20, Retained: 100_000, RetainedBytes: 64 << 20,
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
