package answer

import "time"

// MQTTStatus is the state of the MQTT broker.
type MQTTStatus struct {
	Broker        bool   `json:"broker" doc:"Whether the node has a broker; without one all counts are 0"`
	Devices       int    `json:"devices" api:"min=0"`   // that may connect
	Connected     int    `json:"connected" api:"min=0"` // clients
	Sessions      int    `json:"sessions" api:"min=0"`
	Subscriptions int    `json:"subscriptions" api:"min=0"`
	Retained      int    `json:"retained" api:"min=0"` // messages
	Waiting       int    `json:"waiting" api:"min=0"`  // messages waiting to be recorded
	Connects      uint64 `json:"connects"`             // since the start, as are all that follow
	Refused       uint64 `json:"refused"`              // rejected connection attempts
	Received      uint64 `json:"received"`             // messages from clients
	Delivered     uint64 `json:"delivered"`
	Recorded      uint64 `json:"recorded"` // messages
	Samples       uint64 `json:"samples"`
	Unknown       uint64 `json:"unknown"`      // messages that match no template
	Undecoded     uint64 `json:"undecoded"`    // messages whose payload does not match the template
	Unauthorized  uint64 `json:"unauthorized"` // messages and subscriptions outside the device's rights
	Dropped       uint64 `json:"dropped"`      // deliveries to slow or disconnected clients
	Overflow      uint64 `json:"overflow"`     // QoS 0 messages not recorded because the queue was full
	NotRecorded   uint64 `json:"not_recorded"` // QoS 1 or 2 messages refused because they could not be recorded
	NotRetained   uint64 `json:"not_retained"` // messages and wills not retained for later subscribers, for lack of space
}

// MQTTDevice is a device that may connect.
type MQTTDevice struct {
	Name        string     `json:"name"`
	Kind        string     `json:"kind"`
	Certificate *time.Time `json:"certificate,omitempty" doc:"When the certificate that it was given ends"`
	Created     time.Time  `json:"created"`
	Changed     time.Time  `json:"changed"` // when its secret or certificate changed
}

// MQTTDevices is a page of devices, by name.
type MQTTDevices struct {
	Devices []MQTTDevice `json:"devices"`
	Total   int          `json:"total" api:"min=0"`
	More    bool         `json:"more"`
}

// MQTTSecret is the secret with which a device connects. It is shown once.
type MQTTSecret struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Secret string `json:"secret"`
}

// MQTTSecrets are the secrets of devices that were added together.
type MQTTSecrets struct {
	Count   int          `json:"count" api:"min=0"` // devices added
	Devices []MQTTSecret `json:"devices"`
}

// MQTTCertificate is the certificate with which a device connects instead of a secret. The key is shown once.
type MQTTCertificate struct {
	Name        string    `json:"name"`
	Certificate string    `json:"certificate"` // PEM
	Key         string    `json:"key"`         // PEM
	Authority   string    `json:"authority"`   // PEM; the node's own, for the device to trust
	Expires     time.Time `json:"expires"`
}

// MQTTCertificates are those of many devices.
type MQTTCertificates struct {
	Devices []MQTTCertificate `json:"devices"`
}

// MQTTClient is a session of a client.
type MQTTClient struct {
	Client        string     `json:"client"`
	Device        string     `json:"device"`
	Address       string     `json:"address"` // empty while disconnected
	Version       string     `json:"version"` // of MQTT; empty while disconnected
	Connected     *time.Time `json:"connected,omitempty"`
	Expiry        int64      `json:"expiry" api:"min=0" doc:"In seconds"`
	Subscriptions int        `json:"subscriptions" api:"min=0"`
	Waiting       int        `json:"waiting" api:"min=0"` // messages with QoS 1 or 2
	Dropped       uint64     `json:"dropped"`
}

// MQTTClients is a page of clients ordered by device and client identifier.
type MQTTClients struct {
	Clients []MQTTClient `json:"clients"`
	More    bool         `json:"more"`
}

// MQTTUnknown is a topic whose messages match no template or could not be decoded.
type MQTTUnknown struct {
	Topic    string    `json:"topic"`
	Device   string    `json:"device"`
	Template string    `json:"template"` // empty if none matches the topic
	Why      string    `json:"why"`      // what is wrong with the payload
	Payload  string    `json:"payload"`  // the beginning of the last message's payload
	Count    uint64    `json:"count"`
	At       time.Time `json:"at"`       // time of the last message
	Proposal string    `json:"proposal"` // a template for it, in YAML; empty if none can be proposed
}

// MQTTUnknowns are the latest topics whose messages were not accepted, newest first.
type MQTTUnknowns struct {
	Topics []MQTTUnknown `json:"topics"`
}
