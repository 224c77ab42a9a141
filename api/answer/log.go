package answer

import (
	"encoding/json"
	"time"
)

// NodeLog holds records of a node's own log, oldest first.
type NodeLog struct {
	Entries []NodeLogLine `json:"entries"`
	// Last is the number to pass in the request for the records that follow.
	Last uint64 `json:"last" doc:"The number to ask for what follows with"`
	// Lost counts the records after the requested number that are no longer kept.
	Lost uint64 `json:"lost,omitempty" doc:"Records behind the number that was asked with that are not kept any more"`
}

// NodeLogLine is a record of a node's own log. Its strings may come from devices and other programs.
type NodeLogLine struct {
	_ struct{} `doc:"Texts may come from devices and other programs"`

	Number  uint64          `json:"number" doc:"Grows with each record, also over a new start"`
	Time    time.Time       `json:"time"`
	Level   string          `json:"level" api:"one-of=debug|info|warning|error"` // debug, info, warning or error
	Message string          `json:"message"`
	Extra   json.RawMessage `json:"extra,omitempty" api:"object"` // an object
}

// NodeLogLost is an event of a followed log: records came faster than the client read them.
type NodeLogLost struct {
	Count uint64 `json:"count"`
}
