package answer

import "time"

// MeterEventIn is an event sent by a program.
type MeterEventIn struct {
	Meter    string `json:"meter"`
	At       string `json:"at"`
	Kind     string `json:"kind,omitempty"`     // such as last-gasp; defaults to that of the code
	Code     string `json:"code,omitempty"`     // of IEC 61968-9
	Severity string `json:"severity,omitempty"` // information, warning or critical; defaults to that of the kind
	Detail   string `json:"detail,omitempty"`
}

// MeterEvents are events of meters.
type MeterEvents struct {
	Events  []MeterEvent   `json:"events"`
	Cluster *MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterEvent is what a meter reported.
type MeterEvent struct {
	Number   uint64    `json:"number" doc:"In the order of recording"`
	Meter    string    `json:"meter"`
	At       time.Time `json:"at" doc:"By the clock of the meter"`
	Kind     string    `json:"kind" doc:"What it means, such as last-gasp, restoration or tamper; other for a code of which nothing is known"`
	Code     string    `json:"code,omitempty" doc:"Of IEC 61968-9, annex E, as the meter gave it"`
	Severity string    `json:"severity" api:"one-of=information|warning|critical"`
	Detail   string    `json:"detail,omitempty" doc:"Text of the meter"`
	Recorded time.Time `json:"recorded" doc:"Since when it is known"`
	Who      string    `json:"who,omitempty" doc:"Who sent it"`
}
