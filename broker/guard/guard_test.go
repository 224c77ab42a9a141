package guard_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"voltbus/broker/guard"
)

// clock is set by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

var (
	one = netip.MustParseAddr("192.0.2.1")
	two = netip.MustParseAddr("198.51.100.1")
)

func TestAttackWhoGuessesSecretsWaitsLongerAndLonger(t *testing.T) {
	c := newClock()
	g := guard.NewGuesses(c.now)
	var waits []time.Duration
	for range 12 {
		start := c.at
		for !g.Admits("hall", one) {
			c.at = c.at.Add(time.Second)
		}
		waits = append(waits, c.at.Sub(start))
		g.Failed("hall", one)
	}
	want := "[0s 0s 0s 0s 0s 1s 2s 4s 8s 16s 32s 1m0s]"
	if got := fmt.Sprint(waits); got != want {
		t.Errorf("the waits are %s, want %s", got, want)
	}
	if !g.Admits("hall", two) {
		t.Error("the device itself, at another address, is kept out by who guesses")
	}
	if !g.Admits("kitchen", one) {
		t.Error("another device at the address is kept out after a few failures")
	}
	c.at = c.at.Add(time.Hour)
	g.Forget()
	if !g.Admits("hall", one) {
		t.Error("failures are not forgotten")
	}
}

func TestAttackWhoGuessesNamesWaitsWithAll(t *testing.T) {
	c := newClock()
	g := guard.NewGuesses(c.now)
	for i := range 100 {
		g.Failed(fmt.Sprint("device-", i), one)
	}
	if g.Admits("hall", one) {
		t.Error("an address that failed a hundred times is still asked")
	}
	if !g.Admits("hall", two) {
		t.Error("another address is kept out")
	}
}

// A clock that is set back does not keep anybody out for longer than the longest wait.
func TestGuessesOutliveAClockThatJumps(t *testing.T) {
	c := newClock()
	g := guard.NewGuesses(c.now)
	for range 20 {
		g.Failed("hall", one)
	}
	c.at = c.at.Add(time.Minute)
	if !g.Admits("hall", one) {
		t.Error("it waits for more than a minute")
	}
}

// Many clients that come back at once are let in at the rate, without a moment in which more of them come.
func TestAStormOfReconnectsIsSpread(t *testing.T) {
	c := newClock()
	gate := guard.NewTurnstile(1000)
	start := c.at
	perTenth := map[int]int{}
	for range 5000 {
		if w := gate.Wait(c.at); w > 0 {
			c.at = c.at.Add(w)
		}
		perTenth[int(c.at.Sub(start)/(100*time.Millisecond))]++
	}
	if took := c.at.Sub(start); took < 4900*time.Millisecond || took > 5*time.Second {
		t.Errorf("5,000 clients at 1,000 a second took %s", took)
	}
	for tenth, n := range perTenth {
		if most := 101; tenth > 0 && n > most || n > 2*most {
			t.Errorf("%d clients came in tenth %d of a second", n, tenth)
		}
	}
	c.at = c.at.Add(-time.Hour) // the clock is set back
	if w := gate.Wait(c.at); w > time.Second {
		t.Errorf("after the clock was set back the next client waits %s", w)
	}
}

func TestAttackClientsThatArriveAreBoundedForEachNetwork(t *testing.T) {
	a := guard.NewArrivals(100)
	enter := func(peer netip.Addr) (n int) {
		for range 200 {
			if _, entered := a.Enter(peer); entered {
				n++
			}
		}
		return n
	}
	leave, _ := a.Enter(two)
	if n := enter(one); n != 25 {
		t.Errorf("%d clients of one address wait, want a quarter", n)
	}
	if n := enter(two); n != 24 {
		t.Errorf("%d more clients of another address wait, want 24: half are taken", n)
	}
	leave()
	leave() // again
	if n := enter(two); n != 1 {
		t.Errorf("%d clients have the place that is free", n)
	}
}
