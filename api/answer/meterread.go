package answer

import "time"

// MeterReads are the outcomes of a read on demand.
type MeterReads struct {
	Correlation string      `json:"correlation" doc:"As it was given, or made"`
	Started     time.Time   `json:"started"`
	Outcomes    []MeterRead `json:"outcomes" doc:"In the order of the meters"`
}

// MeterRead is what came of the read of a channel.
type MeterRead struct {
	Meter    string     `json:"meter"`
	Channel  int        `json:"channel,omitempty"`
	Outcome  string     `json:"outcome" api:"one-of=answered|timed-out|unreachable|refused|unknown|failed" doc:"unknown: no point is mapped to the meter"`
	Reason   string     `json:"reason,omitempty" doc:"Why it did not answer, or its value is no reading"`
	Value    *float64   `json:"value,omitempty"`
	At       *time.Time `json:"at,omitempty" doc:"When it had the value"`
	Recorded bool       `json:"recorded" doc:"Whether the value is a reading now"`
}
