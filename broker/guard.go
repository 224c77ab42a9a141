package broker

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

// guard slows those down who fail to log in. The broker's lock guards it.
type guard struct {
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

// admits reports whether somebody may try.
func (g *guard) admits(device string, peer netip.Addr) bool {
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

// failed notes a failure.
func (g *guard) failed(device string, peer netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	network := admission.ParseNetwork(peer.String())
	g.count(guess{device, network}, mostGuesses)
	if device != "" {
		g.count(guess{"", network}, mostFailures)
	}
}

func (g *guard) count(k guess, most int) {
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

// forget lets go of failures that are old.
func (g *guard) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for k, f := range g.each {
		if now.Sub(f.last) > forgetAfter && now.After(f.until) {
			delete(g.each, k)
		}
	}
}

// turnstile lets so many in each second; others wait. It is used by one goroutine for each listener.
type turnstile struct {
	rate int
	mu   sync.Mutex
	next time.Time
}

// wait returns how long to wait before the next one is let in.
func (t *turnstile) wait(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	gap := time.Second / time.Duration(max(t.rate, 1))
	if earliest := now.Add(-100 * time.Millisecond); t.next.Before(earliest) {
		t.next = earliest // a tenth of a second's worth at once
	}
	t.next = t.next.Add(gap)
	return t.next.Sub(now)
}
