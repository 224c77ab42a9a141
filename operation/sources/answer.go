package sources

import "time"

// AllSources are the brokers whose messages are recorded.
type AllSources struct {
	Sources []SourceState `json:"sources" doc:"In the order of the configuration"`
}

// SourceState is a source: what it took, and what became of it.
type SourceState struct {
	_ struct{} `doc:"Counts begin with the start of the node. Of the unread messages: sent on + kept + dropped, those of former starts among the kept, and those that were read again or discarded"`

	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	State    string    `json:"state" api:"one-of=ok|paused"` // paused: nothing is taken at present
	Reason   string    `json:"reason" doc:"Why nothing is taken at present, or why dead letters are kept"`
	Since    time.Time `json:"since,omitzero"`   // when that began
	Messages uint64    `json:"messages"`         // answered, all of them
	Samples  uint64    `json:"samples"`          // recorded
	Refused  uint64    `json:"refused"`          // samples that could not be read, or may not be recorded
	Misdated uint64    `json:"misdated"`         // samples whose time was not accepted
	Unread   uint64    `json:"unread"`           // messages that could not be read, or not all of them
	Diverted uint64    `json:"dead_letters"`     // of those: sent to the place for dead letters
	Kept     int       `json:"kept" api:"min=0"` // messages kept here
	Dropped  uint64    `json:"dropped"`          // of those kept: had to make room for newer ones
	Last     time.Time `json:"last,omitzero"`    // when a message was answered last
}

// UnreadMessages are messages that could not be read.
type UnreadMessages struct {
	Messages []UnreadMessage `json:"messages" doc:"Oldest first"`
	Kept     int             `json:"kept" api:"min=0"` // in all
}

// UnreadMessage is a message that could not be read, or not all of it.
type UnreadMessage struct {
	Topic   string    `json:"topic"` // as templates select it
	Place   string    `json:"place" doc:"Where it was at the broker"`
	At      time.Time `json:"at"` // when it was taken
	Reason  string    `json:"reason"`
	Payload string    `json:"payload" doc:"Its beginning; bytes that are no text as \\x and two digits"`
	Size    int       `json:"size" api:"min=0"` // bytes of the whole payload
}

// SourceCount says how many messages an operation concerned.
type SourceCount struct {
	Messages int `json:"messages" api:"min=0"`
	Kept     int `json:"kept" api:"min=0"` // that are still kept
}
