package system

import (
	"net/http"

	"voltbus/meter/collection"
	"voltbus/meter/valve"
)

// Passage is when a message with readings passed the valves of a node that is measured.
type Passage = valve.Passage

// Entered is told of messages with readings, see valve.Entered.
type Entered = valve.Entered

// Value is what came of the read of a point, see collection.Value.
type Value = collection.Value

// Watch returns a handler that has next answer, and tells of each message that holds readings, see valve.Watch.
func Watch(next http.Handler, entered Entered) http.Handler { return valve.Watch(next, entered) }
