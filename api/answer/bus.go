package answer

import "time"

// Bus describes the connections on the bus and its traffic.
type Bus struct {
	Started       time.Time       `json:"started"`
	Total         int             `json:"total" api:"min=0" doc:"Connections; the first 1000 are listed"`
	Subscriptions int             `json:"subscriptions" api:"schema=Count"`
	SlowConsumers int64           `json:"slow_consumers" api:"min=0" doc:"That were cut off since the start"`
	In            Traffic         `json:"in"` // since the start
	Out           Traffic         `json:"out"`
	Connections   []BusConnection `json:"connections"`
}

// Traffic counts messages.
type Traffic struct {
	Messages int64 `json:"messages" api:"schema=Count"`
	Bytes    int64 `json:"bytes" api:"schema=Count"`
}

// BusConnection is a program on the bus.
type BusConnection struct {
	ID            uint64    `json:"id"`
	Name          string    `json:"name" doc:"As it calls itself; anything"`
	Who           string    `json:"who" doc:"As the node knows it: the name of the agent or of the member, or node"`
	Key           string    `json:"key" doc:"The first characters of its public key"`
	Address       string    `json:"address" doc:"Empty for a part of the node itself"`
	Role          string    `json:"role" api:"one-of=node|agent|reader|barred" doc:"Barred is told why it may not come in, and closed"`
	Subscriptions []string  `json:"subscriptions" api:"max=100"` // the first 100
	Subscribed    int       `json:"subscribed" api:"min=0" doc:"How many subscriptions there are"`
	In            Traffic   `json:"in"`  // from it
	Out           Traffic   `json:"out"` // to it
	Pending       int       `json:"pending" api:"min=0" doc:"Bytes that wait to be read by it"`
	Slow          bool      `json:"slow" doc:"More than 1 MiB waits"`
	RTTMS         float64   `json:"rtt_ms" api:"min=0" doc:"0 if unknown"`
	Since         time.Time `json:"since"`
}

// BusMessage is a message seen on the bus: the data of the event "message".
type BusMessage struct {
	Time    time.Time `json:"time"` // when it was seen
	Subject string    `json:"subject"`
	Bytes   int       `json:"bytes" api:"schema=Count"`
	Text    string    `json:"text" doc:"The first 4096 bytes; what is no text is replaced"`
	Cut     bool      `json:"cut" doc:"There is more than text"`
	Binary  bool      `json:"binary" doc:"It is no text"`
}

// BusRates counts what was seen in the last second: the data of the event "rates".
type BusRates struct {
	Time     time.Time     `json:"time"`
	Seconds  float64       `json:"seconds" doc:"That it was counted for"`
	Total    Traffic       `json:"total"`
	Subjects []SubjectRate `json:"subjects" api:"max=200" doc:"The busiest"`
	More     int           `json:"more" api:"min=0" doc:"Subjects that are not listed; at least so many"`
	Hidden   int64         `json:"hidden" api:"min=0" doc:"Messages that were counted, but not shown"`
	Dropped  int64         `json:"dropped" api:"min=0" doc:"Messages that came too fast even to be counted, since the stream began"`
}

// SubjectRate counts a subject's messages.
type SubjectRate struct {
	Subject string `json:"subject"`
	Traffic
}
