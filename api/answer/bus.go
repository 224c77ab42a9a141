package answer

import "time"

// Bus is who is on the bus, and how much is sent.
type Bus struct {
	Started       time.Time       `json:"started"`
	Total         int             `json:"total"` // connections; the first 1000 are listed
	Subscriptions int             `json:"subscriptions"`
	SlowConsumers int64           `json:"slow_consumers"` // that were cut off since the start
	In            Traffic         `json:"in"`             // since the start
	Out           Traffic         `json:"out"`
	Connections   []BusConnection `json:"connections"`
}

// Traffic counts messages.
type Traffic struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// BusConnection is a program on the bus.
type BusConnection struct {
	ID            uint64    `json:"id"`
	Name          string    `json:"name"`          // as it calls itself; anything
	Who           string    `json:"who"`           // as the node knows it: the agent, the member, node
	Key           string    `json:"key"`           // the first characters of its public key
	Address       string    `json:"address"`       // "" for a part of the node itself
	Role          string    `json:"role"`          // node, agent, reader, barred
	Subscriptions []string  `json:"subscriptions"` // the first 100
	Subscribed    int       `json:"subscribed"`    // how many there are
	In            Traffic   `json:"in"`            // from it
	Out           Traffic   `json:"out"`           // to it
	Pending       int       `json:"pending"`       // octets that wait to be read by it
	Slow          bool      `json:"slow"`          // more than 1 MiB waits
	RTTMS         float64   `json:"rtt_ms"`        // 0 if unknown
	Since         time.Time `json:"since"`
}

// BusMessage is a message that was seen: the data of the event "message".
type BusMessage struct {
	Time    time.Time `json:"time"` // when it was seen
	Subject string    `json:"subject"`
	Bytes   int       `json:"bytes"`
	Text    string    `json:"text"`   // the first 4096 octets; what is no text is replaced
	Cut     bool      `json:"cut"`    // there is more than Text
	Binary  bool      `json:"binary"` // it is no text
}

// BusRates is what was seen in the last second: the data of the event "rates".
type BusRates struct {
	Time     time.Time     `json:"time"`
	Seconds  float64       `json:"seconds"` // that it was counted for
	Total    Traffic       `json:"total"`
	Subjects []SubjectRate `json:"subjects"` // the busiest 200
	More     int           `json:"more"`     // subjects that are not listed; at least so many
	Hidden   int64         `json:"hidden"`   // messages that were counted, but not shown
	Dropped  int64         `json:"dropped"`  // messages that came too fast even to be counted, since the stream began
}

// SubjectRate counts a subject's messages.
type SubjectRate struct {
	Subject string `json:"subject"`
	Traffic
}
