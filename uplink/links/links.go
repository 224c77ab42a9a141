// Package links reports connections to neighbouring nodes that are established and lost.
package links

import (
	"context"
	"sync"
	"time"
)

// How often intermittent links are reported.
const (
	spellTime = 10 * time.Minute
	spellLook = 10 * time.Second // interval of checks for ended spells
)

// Turn reports that the link between this node and a neighbour was established or lost, or sums up what has
// happened since the last report.
type Turn struct {
	Neighbour string
	Above     bool // it is the parent
	Up        bool // the link is established; in a sum: its present state
	// Reason is why it was lost; in a sum: the last time.
	Reason  string
	Address string // address of the neighbour; "" if unknown
	Key     string // its fingerprint; "" if unknown

	// In a sum: how often the link was lost and established since a time, without a report.
	Lost, Made uint64
	Since      time.Time // zero if it is not a sum
}

// Links reports links of this node as they are established and lost: the first loss and the first return at
// once; if these recur within ten minutes, one sum every ten minutes per link. It holds the state of links
// that were lost in the last ten minutes. It is safe for concurrent use.
type Links struct {
	tell func(Turn)

	mu     sync.Mutex
	spells map[link]*spell
}

// link is a link of this node.
type link struct {
	neighbour string
	above     bool
}

// spell is the ten minutes since a loss or a sum was reported.
type spell struct {
	from     time.Time
	returned bool // the return was reported, too
	sum      Turn
}

// NewLinks returns a Links without any links. tell is called by one goroutine at a time, which it must not
// block; it must not call Links.
func NewLinks(tell func(Turn)) *Links {
	return &Links{tell: tell, spells: map[link]*spell{}}
}

// Note records that a link was established or lost. Calls for one link must be in order.
func (l *Links) Note(t Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := link{t.Neighbour, t.Above}
	s := l.spells[at]
	switch {
	case s == nil && t.Up:
	case s == nil:
		l.spells[at] = &spell{from: time.Now()}
	case t.Up && !s.returned:
		s.returned = true
	default:
		s.add(t)
		return
	}
	l.tell(t)
}

// add counts events that are not reported at once.
func (s *spell) add(t Turn) {
	sum := t
	sum.Lost, sum.Made, sum.Since = s.sum.Lost, s.sum.Made, s.from
	if t.Up {
		sum.Made++
		sum.Reason = s.sum.Reason
	} else {
		sum.Lost++
	}
	s.sum = sum
}

// Run reports the sums when their times have passed, and all of them when ctx ends; then it returns nil.
func (l *Links) Run(ctx context.Context) error {
	tick := time.NewTicker(spellLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.ripe(true)
			return nil
		case <-tick.C:
			l.ripe(false)
		}
	}
}

// ripe reports the sums of ended spells, or of all.
func (l *Links) ripe(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for at, s := range l.spells {
		if !all && now.Sub(s.from) < spellTime {
			continue
		}
		if s.sum.Since.IsZero() {
			delete(l.spells, at)
			continue
		}
		l.tell(s.sum)
		l.spells[at] = &spell{from: now, returned: true}
	}
}
