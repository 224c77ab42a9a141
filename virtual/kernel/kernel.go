package kernel

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"voltbus/fault"
)

// Options are what a world starts with.
type Options struct {
	Seed    uint64    // of all random numbers
	Start   time.Time // what a wall clock shows at the beginning
	History io.Writer // gets what actors note; nil for nothing
}

// Tally counts what a run did.
type Tally struct {
	Events   uint64 `json:"events"`   // handled
	Missed   uint64 `json:"missed"`   // for actors that have failed
	Unrouted uint64 `json:"unrouted"` // messages between places without a link
}

// Kernel holds the clock, the actors and what is due. The zero value is not usable; see New.
type Kernel struct {
	opts     Options
	now      time.Duration
	order    uint64
	due      queue
	members  map[string]*member
	links    []*link
	routes   map[route]int // numbers of links, from 1
	tally    Tally
	failures []Failure
	seeds    []Seed
	trail    trail
	pacer    Pacer
}

// Seed says from when on which seed counts: a branch may go on with another one.
type Seed struct {
	From time.Duration `json:"from"`
	Seed uint64        `json:"seed"`
}

// New returns a world without actors, at its start.
func New(o Options) *Kernel {
	return &Kernel{
		opts: o, members: map[string]*member{}, routes: map[route]int{},
		seeds: []Seed{{Seed: o.Seed}}, trail: trail{digest: sha256.New(), history: o.History}, pacer: newPacer(),
	}
}

// Add puts an actor into a place. Names are unique in a world.
func (k *Kernel) Add(place, name string, a Actor) error {
	if k.members[name] != nil {
		return fault.E("kernel.Add", fault.Conflict, name, errors.New("the world has an actor of this name; give it another one"))
	}
	m := &member{name: name, place: place, actor: a, source: source(k.opts.Seed, "actor "+name)}
	m.random = rand.New(m.source) //nolint:gosec // a simulation is repeatable
	k.members[name] = m
	return nil
}

// source returns the random numbers of a part of a world.
func source(seed uint64, name string) *rand.PCG {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, name))
	return rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
}

// Schedule makes an event due. It fails with fault.Invalid if that moment is over, and with fault.NotFound if the world
// has no such actor. The event's Order is chosen here.
func (k *Kernel) Schedule(e Event) error {
	if e.At < k.now {
		return fault.E("kernel.Schedule", fault.Invalid, e.To, fmt.Errorf("%q is due at %s, and it is %s already: the clock of a world does not run backwards", e.Kind, e.At, k.now))
	}
	if k.members[e.To] == nil {
		return fault.E("kernel.Schedule", fault.NotFound, e.To, errors.New("the world has no such actor"))
	}
	k.order++
	e.Order = k.order
	heap.Push(&k.due, &e)
	return nil
}

// Run handles what is due until a moment, and sets the clock to it. It ends early with the context's error. It may be
// called again for a later moment; an earlier one is an error of kind fault.Invalid.
func (k *Kernel) Run(ctx context.Context, until time.Duration) error {
	if until < k.now {
		return fault.E("kernel.Run", fault.Invalid, until.String(), fmt.Errorf("it is %s already: the clock of a world does not run backwards", k.now))
	}
	for len(k.due) > 0 && k.due[0].At <= until {
		if err := k.step(ctx); err != nil {
			return err
		}
	}
	if err := k.pacer.wait(ctx, k.now, until); err != nil {
		return err
	}
	k.now = until
	return nil
}

// step handles the next event.
func (k *Kernel) step(ctx context.Context) error {
	if err := k.pacer.wait(ctx, k.now, k.due[0].At); err != nil {
		return err
	}
	e, ok := heap.Pop(&k.due).(*Event)
	if !ok {
		return nil
	}
	k.now = e.At
	if !k.arrives(e) {
		return nil
	}
	m := k.members[e.To]
	if m.failed {
		k.tally.Missed++
		return nil
	}
	k.tally.Events++
	k.trail.event(e)
	if err := k.handle(m, e); err != nil {
		m.failed = true
		k.failures = append(k.failures, Failure{Actor: m.name, At: k.now, Reason: err.Error()})
	}
	return nil
}

// handle turns a panic of an actor into an error.
func (k *Kernel) handle(m *member, e *Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return m.actor.Handle(&Scope{k, m}, e)
}

// Now returns the time since the start of the world.
func (k *Kernel) Now() time.Duration { return k.now }

// Pacer returns what sets the speed of the run.
func (k *Kernel) Pacer() *Pacer { return &k.pacer }

// Next returns when the next event is due and for whom; false if nothing is.
func (k *Kernel) Next() (Event, bool) {
	if len(k.due) == 0 {
		return Event{}, false
	}
	return *k.due[0], true
}

// Tally returns what was done so far.
func (k *Kernel) Tally() Tally { return k.tally }

// Failures returns which actors ended, in that order.
func (k *Kernel) Failures() []Failure { return slices.Clone(k.failures) }

// Seeds returns the seeds of the run, the first one from the start on.
func (k *Kernel) Seeds() []Seed { return slices.Clone(k.seeds) }

// Digest returns a hash of all events and notes so far, in hexadecimal. Equal digests are equal runs.
func (k *Kernel) Digest() string { return k.trail.sum() }
