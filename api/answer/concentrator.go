package answer

import "time"

// MeterConcentrators describes how a node handles meter readings.
type MeterConcentrators struct {
	System        bool                `json:"system" doc:"Whether the node is a metering data system"`
	Concentrators []MeterConcentrator `json:"concentrators" doc:"One if the node is a concentrator"`
}

// MeterConcentrator reports what a concentrator received, the outcome, and where it is forwarded.
type MeterConcentrator struct {
	To       string          `json:"to" doc:"systems or parent"`
	Bulk     int             `json:"bulk" doc:"The most readings of a request"`
	Age      float64         `json:"age" doc:"Seconds that a reading waits at most for the bulk to fill"`
	Taken    uint64          `json:"taken" doc:"Readings that were acknowledged to meters; to a parent: samples of the log"`
	Sent     uint64          `json:"sent" doc:"Of them those that were taken further on"`
	Refused  uint64          `json:"refused" doc:"Those that a system refused"`
	Lost     uint64          `json:"lost" doc:"Samples that the log dropped before they were sent"`
	Waiting  uint64          `json:"waiting" doc:"Those that are still to be sent"`
	Oldest   *time.Time      `json:"oldest,omitempty" doc:"When the oldest of those was recorded that are being sent"`
	Rate     float64         `json:"rate" doc:"Readings sent a second, over the last ten seconds"`
	Requests uint64          `json:"requests" doc:"That were answered, since the start"`
	Events   MeterEventWay   `json:"events" doc:"What became of events of meters, which overtake readings"`
	Systems  []MeterSystem   `json:"systems"`
	Refusals []MeterNotTaken `json:"refusals" doc:"The newest readings that were refused, at most 200"`
	Reason   string          `json:"reason,omitempty" doc:"What is wrong here"`
}

// MeterEventWay reports the outcome of the events that a concentrator received.
type MeterEventWay struct {
	Sent    uint64 `json:"sent" doc:"Events that were taken further on; to a parent: samples of the log"`
	Refused uint64 `json:"refused" doc:"Those that a system refused"`
	Lost    uint64 `json:"lost" doc:"Samples that the log dropped before they were sent"`
	Waiting uint64 `json:"waiting" doc:"Samples of the log with events that are still to be sent"`
}

// MeterSystem is a metering data system to which a concentrator sends.
type MeterSystem struct {
	URL      string     `json:"url"`
	State    string     `json:"state" doc:"ready, or failing"`
	Reason   string     `json:"reason,omitempty" doc:"Why it is failing"`
	Since    *time.Time `json:"since,omitempty" doc:"Since when"`
	Next     *time.Time `json:"next,omitempty" doc:"When it is tried again"`
	Requests uint64     `json:"requests" doc:"That it answered, since the start"`
	Failed   uint64     `json:"failed" doc:"Requests without a usable answer, since the start"`
	Sent     uint64     `json:"sent" doc:"Readings that it took, since the start"`
}

// MeterNotTaken is a reading that a system refused.
type MeterNotTaken struct {
	Meter       string    `json:"meter"`
	Event       string    `json:"event,omitempty" doc:"The kind of an event, whose time is end"`
	Channel     int       `json:"channel,omitempty"`
	ReadingType string    `json:"readingType,omitempty"`
	End         time.Time `json:"end"`
	Value       float64   `json:"value"`
	Reason      string    `json:"reason"`
	System      string    `json:"system"`
	Time        time.Time `json:"time" doc:"When it was refused"`
}
