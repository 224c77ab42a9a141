package dnp3_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// history is a random sequence of events over a line that loses, repeats, delays and
// spoils what it carries, and what must have arrived at its end.
type history struct {
	*pair

	draw *rapid.T
	next int64 // number of the next event: its value
}

// weather spoils a write in one of the ways a line can.
func (h *history) weather(octets []byte) [][]byte {
	switch rapid.IntRange(0, 11).Draw(h.draw, "fate") {
	case 0:
		return nil // lost
	case 1:
		return [][]byte{octets, append([]byte(nil), octets...)} // repeated
	case 2: // spoiled
		at := rapid.IntRange(0, len(octets)-1).Draw(h.draw, "octet")
		octets[at] ^= 1 << rapid.IntRange(0, 7).Draw(h.draw, "bit")
	case 3: // garbage before, and in two pieces
		octets = append([]byte{0x05, 0x64, 0x05}, octets...)
		at := rapid.IntRange(0, len(octets)).Draw(h.draw, "cut")
		return [][]byte{octets[:at:at], octets[at:]}
	}
	return [][]byte{octets}
}

// events makes some events; each value comes once.
func (h *history) events() {
	n := rapid.IntRange(1, 150).Draw(h.draw, "events")
	h.outstation.Update(func(tx *outstation.Tx) {
		for range n {
			h.next++
			kind := object.KindAnalogInput
			if h.next%3 == 0 {
				kind = object.KindCounter
			}
			tx.Set(kind, online(object.Unsigned(uint64(h.next)), uint32(h.next%4)), outstation.Force)
		}
	})
}

// overflowed reports whether the master was told that events were lost.
func (h *history) overflowed() bool {
	for _, i := range h.seen.infos {
		if i.IIN.Has(app.IINOverflow) {
			return true
		}
	}
	return false
}

// arrived counts the events by their number, and fails if they are out of order.
func (h *history) arrived(once bool) map[int64]int {
	seen := make(map[int64]int)
	last := int64(0)
	for _, p := range h.seen.points {
		if !p.variation.Event() {
			continue
		}
		n := p.point.Value.Int()
		seen[n]++
		if once && n <= last {
			h.t.Fatalf("event %d came after %d", n, last)
		}
		last = n
	}
	return seen
}

func newHistory(tb testing.TB, t *rapid.T, limit int) *history {
	c := plant(4)
	c.EventLimits = map[object.Kind]int{object.KindAnalogInput: limit, object.KindCounter: limit}
	h := &history{draw: t}
	h.pair = newPair(tb, master.Config{Enable: app.EventClasses, RetryDelay: time.Second}, c, outstation.SessionConfig{Unsolicited: true})
	h.spoil = h.weather
	h.open()
	return h
}

func TestEveryReportArrivesOnceWhateverTheLineDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := newHistory(fatal{t, r}, r, 10_000)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				h.run(time.Duration(rapid.IntRange(0, 20_000).Draw(r, "pause")) * time.Millisecond)
			case 1:
				h.cut()
				h.open()
			default:
				h.events()
				h.run(time.Duration(rapid.IntRange(0, 30).Draw(r, "pause")) * time.Millisecond)
			}
		}
		h.spoil = nil
		h.run(5 * time.Minute)
		seen := h.arrived(true)
		for n := int64(1); n <= h.next; n++ {
			if seen[n] != 1 {
				r.Fatalf("event %d of %d came %d times", n, h.next, seen[n])
			}
		}
	})
}

func TestLostEventsAreAlwaysFlagged(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := newHistory(fatal{t, r}, r, rapid.IntRange(1, 60).Draw(r, "limit"))
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			h.events()
			h.run(time.Duration(rapid.IntRange(0, 6000).Draw(r, "pause")) * time.Millisecond)
		}
		h.spoil = nil
		h.run(5 * time.Minute)
		missing := 0
		for n, seen := int64(1), h.arrived(true); n <= h.next; n++ {
			if seen[n] == 0 {
				missing++
			}
		}
		if missing > 0 && !h.overflowed() {
			r.Fatalf("%d of %d events are missing and nobody said so", missing, h.next)
		}
	})
}

func TestPolledEventsArriveAtLeastOnceWhateverTheLineDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := plant(4)
		h := &history{draw: r}
		h.pair = newPair(fatal{t, r}, master.Config{
			Retries: 1, Polls: []master.Poll{{Classes: app.EventClasses, Interval: 7 * time.Second}},
		}, c, outstation.SessionConfig{})
		h.spoil = h.weather
		h.open()
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			h.events()
			h.run(time.Duration(rapid.IntRange(0, 20_000).Draw(r, "pause")) * time.Millisecond)
		}
		h.spoil = nil
		h.run(5 * time.Minute)
		for n, seen := int64(1), h.arrived(false); n <= h.next; n++ {
			if seen[n] == 0 {
				r.Fatalf("event %d of %d never came", n, h.next)
			}
		}
	})
}

func TestACommandIsCarriedOutAtMostOnceWhateverTheLineDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		operated := make(map[uint32]int)
		c := plant(60)
		c.Callbacks.Operate = func(_ *outstation.Tx, c outstation.Command) object.Status {
			operated[c.Index]++
			return object.StatusSuccess
		}
		h := &history{draw: r}
		h.pair = newPair(fatal{t, r}, master.Config{ResponseTimeout: time.Second, Retries: 3}, c, outstation.SessionConfig{})
		h.spoil = h.weather
		h.open()
		succeeded := make(map[uint32]bool)
		for i := range uint32(rapid.IntRange(1, 40).Draw(r, "commands")) {
			command := master.Operate
			if rapid.Bool().Draw(r, "select") {
				command = master.SelectOperate
			}
			if _, err := h.ask(command(master.Latch(i, true))); err == nil {
				succeeded[i] = true
			}
		}
		for i, n := range operated {
			if n > 1 {
				r.Fatalf("command %d was carried out %d times", i, n)
			}
		}
		for i := range succeeded {
			if operated[i] != 1 {
				r.Fatalf("command %d succeeded and was carried out %d times", i, operated[i])
			}
		}
	})
}

// fatal lets a helper of tests fail a property, so that it is made small.
type fatal struct {
	testing.TB

	draw *rapid.T
}

func (f fatal) Fatal(args ...any)                 { f.draw.Fatal(args...) }
func (f fatal) Fatalf(format string, args ...any) { f.draw.Fatal(fmt.Sprintf(format, args...)) }
