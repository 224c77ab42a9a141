package mqtt

import "time"

// AllApplications are the programs outside that may command a few points.
type AllApplications struct {
	Applications []ApplicationState `json:"applications"`
}

// ApplicationState is a program outside, with what it may do and what it did since the start.
type ApplicationState struct {
	Name      string               `json:"name"`
	Connected int                  `json:"connected" api:"min=0" doc:"Its clients"`
	Status    []string             `json:"status" doc:"Patterns of the points whose readings it gets"`
	Published uint64               `json:"published"` // readings
	Accepted  uint64               `json:"accepted"`
	Refused   uint64               `json:"refused" doc:"Requests, and what else its clients tried"`
	Failed    uint64               `json:"failed"`
	Commands  []ApplicationCommand `json:"commands"`
	Events    []ApplicationEvent   `json:"events" doc:"The last ones, newest first"`
}

// ApplicationCommand is a command that an application may give.
type ApplicationCommand struct {
	Name     string            `json:"name"`
	Node     string            `json:"node,omitempty" doc:"Without it this one"`
	Point    string            `json:"point"`
	Level    int               `json:"level"`
	Min      float64           `json:"min"`
	Max      float64           `json:"max"`
	Step     float64           `json:"step,omitempty" doc:"How far a value may be from the present one; without it any distance"`
	Every    float64           `json:"every" doc:"Seconds between two of them, at least"`
	Lease    float64           `json:"lease" doc:"Seconds, at most"`
	Accepted uint64            `json:"accepted"`
	Refused  uint64            `json:"refused"`
	Failed   uint64            `json:"failed"`
	Last     *ApplicationEvent `json:"last,omitempty"`
}

// ApplicationEvent is what became of a request, or of what else a client of the application tried.
type ApplicationEvent struct {
	Time   time.Time `json:"time"`
	Topic  string    `json:"topic,omitempty"`
	Value  *float64  `json:"value,omitempty"`
	Status string    `json:"status" doc:"accepted, pending, released, refused or failed"`
	Why    string    `json:"why,omitempty"`
}
