package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
)

// talker reports at random moments, and tells what it hears to another talker now and then.
type talker struct {
	Heard int      `json:"heard"`
	Said  int      `json:"said"`
	Peers []string `json:"-"`
}

func (t *talker) Handle(s *Scope, e *Event) error {
	if e.Kind == "hear" {
		t.Heard++
		return s.Note(fmt.Appendf(nil, "%s heard %s from %s\n", s.Now(), e.Body, e.From))
	}
	t.Said++
	to := t.Peers[s.Rand().IntN(len(t.Peers))]
	if err := s.Send(to, "hear", fmt.Appendf(nil, "%d", s.Rand().IntN(1000))); err != nil {
		return err
	}
	return s.After(time.Duration(1+s.Rand().IntN(5000))*time.Millisecond, "say", nil)
}

func (t *talker) Save() ([]byte, error)   { return json.Marshal(t) }
func (t *talker) Load(state []byte) error { return json.Unmarshal(state, t) }

// crowd is a world of four talkers at two places with a bad link.
func crowd(t *testing.T, seed uint64, history *bytes.Buffer) (*Kernel, []*talker) {
	t.Helper()
	k := New(Options{Seed: seed, History: history})
	names := []string{"a", "b", "c", "d"}
	var all []*talker
	for i, n := range names {
		one := &talker{Peers: names}
		all = append(all, one)
		must(t, k.Add([]string{"north", "south"}[i%2], n, one))
		must(t, k.Schedule(Event{To: n, Kind: "say"}))
	}
	for _, p := range [][2]string{{"north", "south"}, {"south", "north"}} {
		must(t, k.Connect(Link{From: p[0], To: p[1], Delay: time.Second, Jitter: time.Second, Loss: 0.1, Duplicate: 0.1, Cuts: []Span{{time.Minute, 2 * time.Minute}}}))
	}
	return k, all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestARunIsRepeatedByItsSeed(t *testing.T) {
	var digests, histories [3]string
	for i, seed := range []uint64{7, 7, 8} {
		var history bytes.Buffer
		k, _ := crowd(t, seed, &history)
		must(t, k.Run(t.Context(), time.Hour))
		digests[i], histories[i] = k.Digest(), history.String()
	}
	if digests[0] != digests[1] || histories[0] != histories[1] {
		t.Error("two runs with one seed differ")
	}
	if digests[0] == digests[2] {
		t.Error("runs with two seeds are equal")
	}
	if strings.Count(histories[0], "\n") < 1000 {
		t.Errorf("the history has only %d lines", strings.Count(histories[0], "\n"))
	}
}

func TestTheCountsOfALinkBalance(t *testing.T) {
	k, all := crowd(t, 1, &bytes.Buffer{})
	must(t, k.Run(t.Context(), time.Hour))
	onTheWay := uint64(0)
	for _, e := range k.due {
		if e.Over != 0 {
			onTheWay++
		}
	}
	var sum LinkTally
	for _, l := range k.LinkTallies() {
		sum.Sent, sum.Doubled, sum.Delivered = sum.Sent+l.Sent, sum.Doubled+l.Doubled, sum.Delivered+l.Delivered
		sum.Lost, sum.Cut = sum.Lost+l.Lost, sum.Cut+l.Cut
		if l.Lost == 0 || l.Cut == 0 || l.Doubled == 0 {
			t.Errorf("%+v: something never happened", l)
		}
	}
	if sum.Sent+sum.Doubled != sum.Delivered+sum.Lost+sum.Cut+onTheWay {
		t.Errorf("%+v and %d on the way do not balance", sum, onTheWay)
	}
	said, heard := 0, 0
	for _, one := range all {
		said, heard = said+one.Said, heard+one.Heard
	}
	if want := said + int(sum.Doubled) - int(sum.Lost+sum.Cut+onTheWay); heard != want { //nolint:gosec // small counts
		t.Errorf("%d heard, want %d", heard, want)
	}
}

func TestARunGoesOnFromACheckpointAsIfNothingHappened(t *testing.T) {
	var whole, first, second bytes.Buffer
	k, _ := crowd(t, 3, &whole)
	must(t, k.Run(t.Context(), 30*time.Minute))

	k1, _ := crowd(t, 3, &first)
	must(t, k1.Run(t.Context(), 95*time.Second)) // within the cut, with messages on the way
	saved, err := k1.Save()
	must(t, err)
	k2, _ := crowd(t, 3, &second)
	must(t, k2.Load(saved))
	must(t, k2.Run(t.Context(), 30*time.Minute))
	if k2.Digest() != k.Digest() || first.String()+second.String() != whole.String() {
		t.Error("the run that went on differs from the one without a stop")
	}

	k3, _ := crowd(t, 3, &bytes.Buffer{})
	must(t, k3.Load(saved))
	k3.Reseed(4)
	must(t, k3.Run(t.Context(), 30*time.Minute))
	if k3.Digest() == k.Digest() {
		t.Error("a branch with another seed is the same run")
	}
	if s := k3.Seeds(); len(s) != 2 || s[1] != (Seed{95 * time.Second, 4}) {
		t.Errorf("the seeds are %v: the change is not told", s)
	}
}

func TestLoadRefusesWhatIsNoCheckpointOfThisWorld(t *testing.T) {
	k, _ := crowd(t, 3, &bytes.Buffer{})
	saved, err := k.Save()
	must(t, err)
	other := New(Options{})
	must(t, other.Add("north", "a", &talker{}))
	for name, data := range map[string][]byte{
		"no JSON": []byte("{"), "another version": []byte(`{"version":9}`), "another world": saved,
		"an event without an actor": bytes.Replace(saved, []byte(`"to":"a"`), []byte(`"to":"x"`), 1),
	} {
		into := other
		if strings.HasPrefix(name, "an event") {
			into, _ = crowd(t, 3, &bytes.Buffer{})
		}
		if err := into.Load(data); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// acting is an actor of one function.
type acting func(s *Scope, e *Event) error

func (a acting) Handle(s *Scope, e *Event) error { return a(s, e) }
func (acting) Save() ([]byte, error)             { return nil, errors.New("a function cannot be kept") }
func (acting) Load([]byte) error                 { return nil }

func TestEventsOfOneMomentComeInTheOrderInWhichTheyWereScheduled(t *testing.T) {
	k := New(Options{})
	var got []string
	must(t, k.Add("", "a", acting(func(_ *Scope, e *Event) error { got = append(got, e.Kind); return nil })))
	for _, kind := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		must(t, k.Schedule(Event{At: time.Second, To: "a", Kind: kind}))
	}
	must(t, k.Schedule(Event{At: time.Millisecond, To: "a", Kind: "0"}))
	must(t, k.Run(t.Context(), time.Second))
	if s := strings.Join(got, ""); s != "01234567" {
		t.Errorf("the order is %s", s)
	}
}

func TestAnActorThatFailsOrPanicsIsMarkedAndTheRunGoesOn(t *testing.T) {
	k := New(Options{})
	ticks := 0
	tick := func(s *Scope, _ *Event) error { ticks++; return s.After(time.Second, "tick", nil) }
	must(t, k.Add("", "good", acting(tick)))
	must(t, k.Add("", "wrong", acting(func(*Scope, *Event) error { return errors.New("the valve is stuck") })))
	must(t, k.Add("", "broken", acting(func(*Scope, *Event) error { panic("index out of range") })))
	for _, n := range []string{"good", "wrong", "broken"} {
		must(t, k.Schedule(Event{At: time.Second, To: n, Kind: "tick"}))
		must(t, k.Schedule(Event{At: 2 * time.Second, To: n, Kind: "late"}))
	}
	must(t, k.Run(t.Context(), time.Minute))
	if ticks < 60 {
		t.Errorf("the good one ticked %d times", ticks)
	}
	f := k.Failures()
	if len(f) != 2 || f[0] != (Failure{"wrong", time.Second, "the valve is stuck"}) || f[1] != (Failure{"broken", time.Second, "it panicked: index out of range"}) {
		t.Errorf("the failures are %v", f)
	}
	if k.Tally().Missed != 2 {
		t.Errorf("%d events were missed", k.Tally().Missed)
	}
	if _, err := k.Save(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a world that cannot be kept was saved: %v", err)
	}
}

func TestTheClockDoesNotRunBackwards(t *testing.T) {
	k := New(Options{})
	must(t, k.Add("", "a", acting(func(s *Scope, _ *Event) error { return s.After(-time.Nanosecond, "x", nil) })))
	must(t, k.Schedule(Event{At: time.Second, To: "a", Kind: "x"}))
	must(t, k.Run(t.Context(), time.Minute))
	if f := k.Failures(); len(f) != 1 || !strings.Contains(f[0].Reason, "does not run backwards") {
		t.Errorf("an actor went back in time: %v", f)
	}
	if err := k.Run(t.Context(), time.Second); !fault.Is(err, fault.Invalid) {
		t.Errorf("the run went back in time: %v", err)
	}
	if err := k.Schedule(Event{At: time.Second, To: "a"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an event in the past was taken: %v", err)
	}
}

func TestWhatCannotBeAddedSaysWhy(t *testing.T) {
	k := New(Options{})
	a := acting(func(*Scope, *Event) error { return nil })
	must(t, k.Add("", "a", a))
	must(t, k.Connect(Link{From: "x", To: "y"}))
	for want, err := range map[string]error{
		"has an actor of this name": k.Add("", "a", a),
		"no such actor":             k.Schedule(Event{To: "b"}),
		"a link already":            k.Connect(Link{From: "x", To: "y"}),
		"a share from 0 to 1":       k.Connect(Link{From: "y", To: "x", Loss: 1.5}),
		"0s or more":                k.Connect(Link{From: "y", To: "x", Delay: -1}),
		"it must end after":         k.Connect(Link{From: "y", To: "x", Cuts: []Span{{2, 1}}}),
		"no such link":              k.Cut("y", "x", time.Second),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := New(Options{})
		ticks := 0
		must(t, k.Add("", "a", acting(func(s *Scope, _ *Event) error { ticks++; return s.After(time.Second, "x", nil) })))
		must(t, k.Schedule(Event{At: time.Second, To: "a", Kind: "x"}))
		begin := time.Now()
		must(t, k.Run(t.Context(), time.Hour))
		if d := time.Since(begin); d != 0 {
			t.Errorf("as fast as possible took %s", d)
		}
		must(t, k.Pacer().Set(60))
		must(t, k.Run(t.Context(), 2*time.Hour))
		if d := time.Since(begin).Round(time.Millisecond); d != time.Minute {
			t.Errorf("an hour at 60 times real time took %s", d)
		}

		ctx, cancel := context.WithCancel(t.Context())
		must(t, k.Pacer().Set(0))
		k.Pacer().Pause()
		ended := make(chan error)
		go func() { ended <- k.Run(ctx, 3*time.Hour) }()
		before := ticks
		for range 3 {
			k.Pacer().Step()
			synctest.Wait()
		}
		if ticks-before != 3 || k.Now() != 2*time.Hour+3*time.Second {
			t.Errorf("three steps were %d, to %s", ticks-before, k.Now())
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a run that waits ends with %v", err)
		}
		k.Pacer().Resume()
		must(t, k.Run(t.Context(), 3*time.Hour))
		if err := k.Pacer().Set(-1); !fault.Is(err, fault.Invalid) {
			t.Errorf("a pace of -1 was taken: %v", err)
		}
	})
}

func TestASourceFollowsFromItsName(t *testing.T) {
	draw := func(seed uint64, name string) uint64 { return rand.New(source(seed, name)).Uint64() } //nolint:gosec // a simulation
	first, second := draw(1, "a"), draw(1, "a")
	if first != second || draw(1, "a") == draw(1, "b") || draw(1, "a") == draw(2, "a") {
		t.Error("random numbers do not follow from seed and name alone")
	}
}

func BenchmarkEvents(b *testing.B) {
	k := New(Options{})
	for i := range 1000 {
		name := fmt.Sprint("node", i)
		if err := k.Add(name, name, acting(func(s *Scope, _ *Event) error { return s.After(time.Second, "tick", nil) })); err != nil {
			b.Fatal(err)
		}
		_ = k.Schedule(Event{At: time.Duration(i), To: name, Kind: "tick"})
	}
	b.ReportAllocs()
	at := time.Duration(0)
	for b.Loop() {
		at += time.Millisecond // one event on average
		if err := k.Run(b.Context(), at); err != nil {
			b.Fatal(err)
		}
	}
}
