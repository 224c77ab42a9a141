package answer

import (
	"encoding/json"
	"time"
)

// NodeLog are records of a node's own log, oldest first.
type NodeLog struct {
	Entries []NodeLogLine `json:"entries"`
	// Last is the number to ask for what follows with.
	Last uint64 `json:"last"`
	// Lost counts the records behind the number that was asked with that are not kept any more.
	Lost uint64 `json:"lost,omitempty"`
}

// NodeLogLine is a record of a node's own log. Texts in it may come from devices and other programs.
type NodeLogLine struct {
	Number  uint64          `json:"number"` // grows with each record, also over a new start
	Time    time.Time       `json:"time"`
	Level   string          `json:"level"` // debug, info, warning or error
	Message string          `json:"message"`
	Extra   json.RawMessage `json:"extra,omitempty"` // an object
}

// NodeLogLost is an event of a log that is followed: records came faster than they were read.
type NodeLogLost struct {
	Count uint64 `json:"count"`
}
