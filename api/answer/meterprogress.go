package answer

import "time"

// MeterProgress is how far a local day is.
type MeterProgress struct {
	Day     string         `json:"day"`
	Hours   []MeterHour    `json:"hours" doc:"Of the local day: 23 or 25 when the clock changes"`
	Arrived []MeterArrival `json:"arrived" doc:"How late readings came, the shortest time first"`
}

// MeterHour is the intervals that begin in an hour. Each counts for what is known of it: edited, else estimated, validated or doubted.
type MeterHour struct {
	From      time.Time `json:"from"`
	Expected  uint64    `json:"expected" doc:"Intervals"`
	Received  uint64    `json:"received" doc:"Have a reading"`
	Validated uint64    `json:"validated"`
	Doubted   uint64    `json:"doubted"`
	Estimated uint64    `json:"estimated"`
	Edited    uint64    `json:"edited"`
}

// MeterArrival is how many readings came within a time.
type MeterArrival struct {
	Within   float64 `json:"within" doc:"Seconds after the end of the interval"`
	Readings uint64  `json:"readings"`
}
