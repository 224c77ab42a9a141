// Package links reports connections to neighbouring nodes that are established and lost.
package links

import (
	"context"
	"sync"
	"time"
)

// How often the links that come and go again and again are told of.
const (
	spellTime = 10 * time.Minute
	spellLook = 10 * time.Second // spells that are over are looked for
)

// Turn is that the link between this node and a neighbour was made or lost, or what became of it since
// that was told last.
type Turn struct {
	Neighbour string
	Above     bool // it is the parent
	Up        bool // the link is made; of a sum: it is now
	// Reason is why it was lost; of a sum: the last time.
	Reason  string
	Address string // where the neighbour was reached, or came from; "" if that is not known
	Key     string // its fingerprint; "" if that is not known

	// Of a sum: how often the link was lost and made since a moment, with nothing told of it.
	Lost, Made uint64
	Since      time.Time // zero for what is no sum
}

// Links tells of the links of this node as they are made and lost: at once the first loss and the first
// return; when they come again within ten minutes, one sum each ten minutes for a link. It holds what is
// under way of links that were lost in the last ten minutes. It is safe for concurrent use.
type Links struct {
	tell func(Turn)

	mu     sync.Mutex
	spells map[link]*spell
}

// link is one of this node's.
type link struct {
	neighbour string
	above     bool
}

// spell are the ten minutes since a loss was told, or a sum.
type spell struct {
	from     time.Time
	returned bool // the return was told, too
	sum      Turn
}

// NewLinks returns one that knows of no link. tell is called by one goroutine at a time, which it must
// not hold up; it must not call Links.
func NewLinks(tell func(Turn)) *Links {
	return &Links{tell: tell, spells: map[link]*spell{}}
}

// Note takes that a link was made or lost. Those of one link come in their order.
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

// add counts what is not told at once.
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

// Run tells the sums as their times are over, and all when ctx ends; then it returns nil.
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

// ripe tells the sums of spells that are over, or of all.
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
