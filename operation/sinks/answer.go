package sinks

import "time"

// AllSinks are the destinations of readings.
type AllSinks struct {
	Sinks []SinkState `json:"sinks" doc:"In the order of the configuration"`
}

// SinkState is a destination: what it got, and what waits for it.
type SinkState struct {
	_ struct{} `doc:"Of the samples that were acknowledged since it was added: acknowledged = sent + left_out + refused + withheld + missing + waiting_samples"`

	Name      string    `json:"name"`
	Kind      string    `json:"kind"`
	Address   string    `json:"address"`                      // "" for a file
	Into      string    `json:"into"`                         // the index, table, topic, queue or file
	State     string    `json:"state" api:"one-of=ok|paused"` // paused: nothing is sent at present
	Reason    string    `json:"reason" doc:"Why nothing is sent at present"`
	Since     time.Time `json:"since,omitzero"`            // when that began
	Waiting   uint64    `json:"waiting"`                   // blocks of the log that are still to be sent
	Samples   uint64    `json:"waiting_samples"`           // samples in them
	Taken     uint64    `json:"acknowledged"`              // samples that were acknowledged since it was added
	Balanced  bool      `json:"balanced"`                  // whether it is known what became of each of them
	Newest    time.Time `json:"newest,omitzero"`           // time of the newest reading that it was offered
	Sent      uint64    `json:"sent"`                      // samples that it accepted
	Left      uint64    `json:"left_out"`                  // samples of points that are not chosen
	Refused   uint64    `json:"refused"`                   // samples that it refused
	Kept      int       `json:"kept" api:"min=0"`          // of those refused: kept to be sent again
	Accepted  uint64    `json:"accepted"`                  // of those refused: accepted when sent again
	Discarded uint64    `json:"discarded"`                 // of those refused: discarded by a person
	Withheld  uint64    `json:"withheld"`                  // samples that a rule withheld
	Held      int       `json:"withheld_kept" api:"min=0"` // of those withheld: that wait for a person
	Missing   uint64    `json:"missing"`                   // samples that the log dropped before they could be sent
	Filled    uint64    `json:"filled"`                    // samples that were sent from the history, beside those of the log
	From      time.Time `json:"history_from,omitzero"`     // of the part of the history that is being sent
	To        time.Time `json:"history_to,omitzero"`       // its end
	Next      time.Time `json:"history_sent_to,omitzero"`  // how far it was sent
}

// SinkRefusals are readings that a destination refused.
type SinkRefusals struct {
	Refusals []SinkRefusal `json:"refusals" doc:"Oldest first"`
	Kept     int           `json:"kept" api:"min=0"` // in all
}

// SinkRefusal is a reading that a destination refused, as it was sent.
type SinkRefusal struct {
	Point   string    `json:"point"`
	Time    time.Time `json:"time"`
	Value   string    `json:"value"` // in the unit of the destination
	Quality string    `json:"quality"`
	Refused time.Time `json:"refused"` // when
	Reason  string    `json:"reason"`
}

// SinkCount says how many readings an operation concerned.
type SinkCount struct {
	Readings int `json:"readings" api:"min=0"`
	Kept     int `json:"kept" api:"min=0"` // that are still refused
}
