package system

import (
	"net/http"

	"voltbus/meter/valve"
)

// Passage is when a message with readings passed the valves of a node that is measured.
type Passage = valve.Passage

// Watch returns a handler that has next answer, and tells of each message that held readings, see valve.Watch.
func Watch(next http.Handler, told func(*Passage)) http.Handler { return valve.Watch(next, told) }
