package kernel

import (
	"math/rand/v2"
	"time"
)

// Event is something that happens to an actor at a moment.
type Event struct {
	At    time.Duration `json:"at"`  // since the start of the world
	Order uint64        `json:"seq"` // decides between events of one moment: the lower is first
	To    string        `json:"to"`
	From  string        `json:"from,omitempty"` // the actor that sent it; "" if it was scheduled from outside
	Kind  string        `json:"kind"`
	Body  []byte        `json:"body,omitempty"` // what Kind says; the kernel does not look at it
	Over  int           `json:"over,omitempty"` // number of the link that it comes over, from 1; 0: none
}

// Actor is a part of a world. Its methods are called from the kernel's goroutine, never at the same time.
type Actor interface {
	// Handle does what an event asks for. After an error or a panic the actor is marked as failed: it gets no more
	// events, and the run goes on without it.
	Handle(s *Scope, e *Event) error
	// Save returns the actor's whole state, for Load. It fails if the actor cannot be kept, such as a process.
	Save() ([]byte, error)
	// Load replaces the state of an actor that was made the same way.
	Load(state []byte) error
}

// Failure says when and why an actor ended before the run did.
type Failure struct {
	Actor  string        `json:"actor"`
	At     time.Duration `json:"at"`
	Reason string        `json:"reason"`
}

// member is an actor with what the kernel keeps for it.
type member struct {
	name, place string
	actor       Actor
	source      *rand.PCG
	random      *rand.Rand
	failed      bool
}

// Scope is what an actor may do while it handles an event. It must not be kept.
type Scope struct {
	k *Kernel
	m *member
}

// Now returns the time since the start of the world.
func (s *Scope) Now() time.Duration { return s.k.now }

// Time returns the time as a wall clock in the world shows it, in UTC.
func (s *Scope) Time() time.Time { return s.k.opts.Start.Add(s.k.now) }

// Rand returns the actor's own random numbers, which follow from the seed and its name alone.
func (s *Scope) Rand() *rand.Rand { return s.m.random }

// After schedules an event for the actor itself. A negative delay is an error: the clock does not run backwards.
func (s *Scope) After(delay time.Duration, kind string, body []byte) error {
	return s.k.Schedule(Event{At: s.k.now + delay, To: s.m.name, From: s.m.name, Kind: kind, Body: body})
}

// Send sends a message to an actor: at once within a place, over the link between two places otherwise, which may
// delay, lose or double it. A message between places without a link is counted in Tally.Unrouted and lost.
func (s *Scope) Send(to, kind string, body []byte) error {
	return s.k.send(s.m, Event{To: to, From: s.m.name, Kind: kind, Body: body})
}

// Note writes to the history of the run, and into its digest.
func (s *Scope) Note(line []byte) error { return s.k.trail.note(line) }
