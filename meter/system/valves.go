package system

import (
	"net/http"

	"voltbus/meter/valve"
)

// Passage is when a message with readings passed the valves of a node that is measured.
type Passage = valve.Passage

// Entered is told of messages with readings, see valve.Entered.
type Entered = valve.Entered

// Watch returns a handler that has next answer, and tells of each message that holds readings, see valve.Watch.
func Watch(next http.Handler, entered Entered) http.Handler { return valve.Watch(next, entered) }
