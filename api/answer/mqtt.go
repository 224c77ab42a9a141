package answer

import "time"

// MQTTStatus is how the MQTT broker is.
type MQTTStatus struct {
	Devices       int    `json:"devices" api:"min=0"`   // that may connect
	Connected     int    `json:"connected" api:"min=0"` // clients
	Sessions      int    `json:"sessions" api:"min=0"`
	Subscriptions int    `json:"subscriptions" api:"min=0"`
	Retained      int    `json:"retained" api:"min=0"` // messages
	Waiting       int    `json:"waiting" api:"min=0"`  // messages that wait to be recorded
	Connects      uint64 `json:"connects"`             // since the start, as all that follow
	Refused       uint64 `json:"refused"`              // clients that were not let in
	Received      uint64 `json:"received"`             // messages of clients
	Delivered     uint64 `json:"delivered"`
	Recorded      uint64 `json:"recorded"` // messages
	Samples       uint64 `json:"samples"`
	Unknown       uint64 `json:"unknown"`      // messages that no template took
	Undecoded     uint64 `json:"undecoded"`    // messages whose payload is not what the template says
	Unauthorized  uint64 `json:"unauthorized"` // messages and subscriptions outside of the rights
	Dropped       uint64 `json:"dropped"`      // deliveries to clients that are slow or away
	Overflow      uint64 `json:"overflow"`     // messages with QoS 0 that were not recorded, too many waited
	NotRecorded   uint64 `json:"not_recorded"` // messages with QoS 1 or 2 that were refused, they could not be recorded
	NotRetained   uint64 `json:"not_retained"` // messages and wills that were not kept for later subscribers: there was no room
}

// MQTTDevice is a device that may connect.
type MQTTDevice struct {
	Name        string     `json:"name"`
	Kind        string     `json:"kind"`
	Certificate *time.Time `json:"certificate,omitempty" doc:"When the certificate that it was given ends"`
	Created     time.Time  `json:"created"`
	Changed     time.Time  `json:"changed"` // its secret or certificate
}

// MQTTDevices is a page of devices by name.
type MQTTDevices struct {
	Devices []MQTTDevice `json:"devices"`
	Total   int          `json:"total" api:"min=0"`
	More    bool         `json:"more"`
}

// MQTTSecret is what a device shows to be admitted. It is shown once.
type MQTTSecret struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Secret string `json:"secret"`
}

// MQTTSecrets are those that were made for devices that were added together.
type MQTTSecrets struct {
	Count   int          `json:"count" api:"min=0"` // devices that were added
	Devices []MQTTSecret `json:"devices"`
}

// MQTTCertificate is what a device shows in place of a secret. The key is shown once.
type MQTTCertificate struct {
	Name        string    `json:"name"`
	Certificate string    `json:"certificate"` // PEM
	Key         string    `json:"key"`         // PEM
	Authority   string    `json:"authority"`   // PEM; of the node, to be trusted
	Expires     time.Time `json:"expires"`
}

// MQTTClient is a session of a client.
type MQTTClient struct {
	Client        string     `json:"client"`
	Device        string     `json:"device"`
	Address       string     `json:"address"` // empty while it is away
	Version       string     `json:"version"` // of MQTT, empty while it is away
	Connected     *time.Time `json:"connected,omitempty"`
	Expiry        int64      `json:"expiry" api:"min=0" doc:"In seconds"`
	Subscriptions int        `json:"subscriptions" api:"min=0"`
	Waiting       int        `json:"waiting" api:"min=0"` // messages with QoS 1 or 2
	Dropped       uint64     `json:"dropped"`
}

// MQTTClients is a page of clients by device and client identifier.
type MQTTClients struct {
	Clients []MQTTClient `json:"clients"`
	More    bool         `json:"more"`
}

// MQTTUnknown is a topic whose messages no template takes, or not as they are.
type MQTTUnknown struct {
	Topic    string    `json:"topic"`
	Device   string    `json:"device"`
	Template string    `json:"template"` // empty if none fits the topic
	Why      string    `json:"why"`      // what is wrong with the payload
	Payload  string    `json:"payload"`  // of the last message, its beginning
	Count    uint64    `json:"count"`
	At       time.Time `json:"at"`       // of the last message
	Proposal string    `json:"proposal"` // a template that takes it, in YAML; empty if none can be proposed
}

// MQTTUnknowns are the last topics whose messages were not taken, the last one first.
type MQTTUnknowns struct {
	Topics []MQTTUnknown `json:"topics"`
}
