// Package guard bounds what strangers may do at a broker: guesses of secrets, connections that say nothing, and how many arrive in a
// second.
package guard

import (
	"net/netip"
	"sync"
	"time"

	"voltbus/internal/admission"
)

// The bounds of guesses. Secrets are random, so this is about noise and load more than about luck.
const (
	mostGuesses  = 5               // failures of one device from one address until it has to wait
	mostFailures = 100             // failures of one address until all its devices have to wait
	forgetAfter  = time.Minute     // a failure
	longestWait  = time.Minute     // after many
	mostGuessers = 100_000         // that are remembered
	firstWait    = 1 * time.Second // after mostGuesses, and twice as long with each further one
)

// Guesses slows those down who fail to log in. Make it with NewGuesses; it is safe for concurrent use.
type Guesses struct {
	now  func() time.Time
	mu   sync.Mutex
	each map[guess]*failures
}

// guess is a device from an address; without a device it is all of the address.
type guess struct {
	device  string
	network netip.Prefix
}

type failures struct {
	count int
	last  time.Time
	until time.Time
}

// NewGuesses returns guesses of nobody.
func NewGuesses(now func() time.Time) *Guesses { return &Guesses{now: now} }

// Admits reports whether somebody may try.
func (g *Guesses) Admits(device string, peer netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	network := admission.ParseNetwork(peer.String())
	for _, k := range []guess{{device, network}, {"", network}} {
		if f := g.each[k]; f != nil && now.Before(f.until) {
			return false
		}
	}
	return true
}

// Failed notes a failure.
func (g *Guesses) Failed(device string, peer netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	network := admission.ParseNetwork(peer.String())
	g.count(guess{device, network}, mostGuesses)
	if device != "" {
		g.count(guess{"", network}, mostFailures)
	}
}

func (g *Guesses) count(k guess, most int) {
	if g.each == nil {
		g.each = map[guess]*failures{}
	}
	f := g.each[k]
	if f == nil {
		if len(g.each) >= mostGuessers {
			return
		}
		f = &failures{}
		g.each[k] = f
	}
	now := g.now()
	f.count++
	f.last = now
	if over := f.count - most; over >= 0 {
		f.until = now.Add(min(firstWait<<min(over, 10), longestWait))
	}
}

// Forget lets go of failures that are old.
func (g *Guesses) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for k, f := range g.each {
		if now.Sub(f.last) > forgetAfter && now.After(f.until) {
			delete(g.each, k)
		}
	}
}

// Turnstile lets so many in each second; others wait. It is used by one goroutine for each listener.
type Turnstile struct {
	rate int
	mu   sync.Mutex
	next time.Time
}

// NewTurnstile lets so many in each second.
func NewTurnstile(rate int) *Turnstile { return &Turnstile{rate: rate} }

// longestTurn is more than the listeners, each of which waits for one client at a time, make each other wait beside the rate.
const longestTurn = time.Second

// Wait returns how long to wait before the next one is let in.
func (t *Turnstile) Wait(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	gap := time.Second / time.Duration(max(t.rate, 1))
	if earliest := now.Add(-100 * time.Millisecond); t.next.Before(earliest) {
		t.next = earliest // a tenth of a second's worth at once
	} else if t.next.Sub(now) > gap+longestTurn { // the clock was set back
		t.next = now
	}
	t.next = t.next.Add(gap)
	return t.next.Sub(now)
}
