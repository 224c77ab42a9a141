package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"voltbus/fault"
)

// Link carries messages from one place to another, in this direction only.
type Link struct {
	From, To  string
	Delay     time.Duration // of each message
	Jitter    time.Duration // added to it: anything from 0 to this, so messages may overtake each other
	Loss      float64       // share of the messages that are lost, from 0 to 1
	Duplicate float64       // share of the messages that arrive twice, from 0 to 1
	Cuts      []Span        // when it carries nothing; what is on the way then is lost, too
}

// Span is a stretch of time: from its first moment to the last, which is not part of it.
type Span struct {
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// LinkTally counts the messages of a link. Sent + Doubled = Delivered + Lost + Cut + those on the way.
type LinkTally struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Sent      uint64 `json:"sent"`
	Delivered uint64 `json:"delivered"`
	Lost      uint64 `json:"lost"`
	Doubled   uint64 `json:"doubled"`
	Cut       uint64 `json:"cut"` // lost because of a cut
}

type route struct{ from, to string }

type link struct {
	Link
	source *rand.PCG
	random *rand.Rand
	tally  LinkTally
	more   []Span // cuts during the run
}

// Connect adds a link. There is at most one for each direction.
func (k *Kernel) Connect(l Link) error {
	name := l.From + " → " + l.To
	wrong := func(kind fault.Kind, format string, args ...any) error {
		return fault.E("kernel.Connect", kind, name, fmt.Errorf(format, args...))
	}
	switch {
	case k.routes[route{l.From, l.To}] != 0:
		return wrong(fault.Conflict, "there is a link already; write one for each direction")
	case l.Delay < 0 || l.Jitter < 0:
		return wrong(fault.Invalid, "delay %s and jitter %s: write 0s or more", l.Delay, l.Jitter)
	case !share(l.Loss) || !share(l.Duplicate):
		return wrong(fault.Invalid, "loss %g and duplicate %g: write a share from 0 to 1", l.Loss, l.Duplicate)
	}
	for _, c := range l.Cuts {
		if c.From < 0 || c.To <= c.From {
			return wrong(fault.Invalid, "a cut from %s to %s: it must end after it begins", c.From, c.To)
		}
	}
	n := &link{Link: l, source: source(k.opts.Seed, "link "+name), tally: LinkTally{From: l.From, To: l.To}}
	n.random = rand.New(n.source) //nolint:gosec // a simulation is repeatable
	k.links = append(k.links, n)
	k.routes[route{l.From, l.To}] = len(k.links)
	return nil
}

func share(f float64) bool { return f >= 0 && f <= 1 }

// Cut breaks the link between two places from now on, for a while.
func (k *Kernel) Cut(from, to string, during time.Duration) error {
	n := k.routes[route{from, to}]
	if n == 0 {
		return fault.E("kernel.Cut", fault.NotFound, from+" → "+to, errors.New("there is no such link"))
	}
	l := k.links[n-1]
	l.more = append(l.more, Span{k.now, k.now + during})
	return nil
}

// LinkTallies returns the counts of all links, in the order in which they were connected.
func (k *Kernel) LinkTallies() []LinkTally {
	var all []LinkTally
	for _, l := range k.links {
		all = append(all, l.tally)
	}
	return all
}

// send takes a message of an actor.
func (k *Kernel) send(by *member, e Event) error {
	to := k.members[e.To]
	if to == nil {
		return fault.E("kernel.Send", fault.NotFound, e.To, errors.New("the world has no such actor"))
	}
	e.At = k.now
	if to.place == by.place {
		return k.Schedule(e)
	}
	n := k.routes[route{by.place, to.place}]
	if n == 0 {
		k.tally.Unrouted++
		return nil
	}
	return k.carry(n, e)
}

// carry sends a message over a link.
func (k *Kernel) carry(number int, e Event) error {
	l := k.links[number-1]
	l.tally.Sent++
	// The same numbers are drawn whatever happens, so a cut does not change what is lost after it.
	lost, twice := l.random.Float64() < l.Loss, l.random.Float64() < l.Duplicate
	delays := [2]time.Duration{l.delay(), l.delay()}
	switch {
	case l.cut(k.now):
		l.tally.Cut++
		return nil
	case lost:
		l.tally.Lost++
		return nil
	}
	copies := 1
	if twice {
		copies = 2
		l.tally.Doubled++
	}
	e.Over = number
	for _, d := range delays[:copies] {
		e.At = k.now + d
		if err := k.Schedule(e); err != nil {
			return err
		}
	}
	return nil
}

func (l *link) delay() time.Duration {
	return l.Delay + time.Duration(l.random.Float64()*float64(l.Jitter))
}

func (l *link) cut(at time.Duration) bool {
	within := func(s Span) bool { return at >= s.From && at < s.To }
	return slices.ContainsFunc(l.Cuts, within) || slices.ContainsFunc(l.more, within)
}

// arrives reports whether an event gets through the link that it came over, if any.
func (k *Kernel) arrives(e *Event) bool {
	if e.Over == 0 {
		return true
	}
	l := k.links[e.Over-1]
	if l.cut(k.now) {
		l.tally.Cut++
		return false
	}
	l.tally.Delivered++
	return true
}
