package step_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/control/step"
)

// noted is an owner of a timer that notes that it was due.
type noted struct {
	name string
	list *[]string
	then func()
}

func (n noted) Due() {
	*n.list = append(*n.list, n.name)
	if n.then != nil {
		n.then()
	}
}

// at is a moment of both clocks, which run together.
func at(seconds int) control.Instant {
	d := time.Duration(seconds) * time.Second
	return control.Instant{Wall: time.Unix(1_800_000_000, 0).Add(d), Steady: d}
}

func TestTimersAreDueInOrderAndOnce(t *testing.T) {
	s := step.New(control.Limits{})
	var due []string
	own := func(name string) noted { return noted{name: name, list: &due} }
	var late, first, second, stopped, moved, wall step.Timer
	s.Steady.Set(&late, own("late"), int64(9*time.Second))
	s.Steady.Set(&first, own("first"), int64(2*time.Second))
	s.Steady.Set(&second, own("second"), int64(2*time.Second)) // at the same moment, set later
	s.Steady.Set(&stopped, own("stopped"), int64(time.Second))
	s.Steady.Set(&moved, own("moved"), int64(time.Second))
	s.Steady.Set(&moved, own("moved"), int64(3*time.Second))
	s.Steady.Stop(&stopped)
	s.Wall.Set(&wall, own("wall"), at(4).Wall.UnixNano())
	s.Enter(at(5))
	if want := []string{"first", "second", "moved", "wall"}; !slices.Equal(due, want) {
		t.Errorf("%q were due, want %q", due, want)
	}
	if first.IsSet() || stopped.IsSet() || !late.IsSet() || s.Steady.Len() != 1 {
		t.Errorf("%d timers are set, want only the one that is not due", s.Steady.Len())
	}
	s.Enter(at(5))
	if len(due) != 4 {
		t.Errorf("%q were due again", due[4:])
	}
}

func TestATimerThatIsSetAnewWhileItIsDueIsDueInTheSameStep(t *testing.T) {
	s := step.New(control.Limits{})
	var due []string
	var again step.Timer
	s.Steady.Set(&again, noted{name: "once", list: &due, then: func() {
		s.Steady.Set(&again, noted{name: "twice", list: &due}, int64(2*time.Second))
	}}, int64(time.Second))
	s.Enter(at(3))
	if want := []string{"once", "twice"}; !slices.Equal(due, want) {
		t.Errorf("%q were due, want %q", due, want)
	}
}

func TestTheSteadyClockNeverGoesBack(t *testing.T) {
	s := step.New(control.Limits{})
	s.Enter(at(10))
	back := at(3)
	s.Enter(back)
	if s.Now.Steady != 10*time.Second || !s.Now.Wall.Equal(back.Wall) {
		t.Errorf("it is %v, %v; want the steady clock to stay and the wall clock to follow", s.Now.Steady, s.Now.Wall)
	}
}

func TestAWaitForTheWallClockIsBoundedAndTheSoonerOfTwoCounts(t *testing.T) {
	s := step.New(control.Limits{})
	if _, set := s.Next(at(0)); set {
		t.Error("there is something to wait for, and no timer is set")
	}
	var wall, steady step.Timer
	none := noted{list: new([]string)}
	s.Wall.Set(&wall, none, at(3600).Wall.UnixNano())
	if wait, set := s.Next(at(0)); !set || wait != 10*time.Second {
		t.Errorf("waits %v for the wall clock, which may jump; want 10 s", wait)
	}
	s.Steady.Set(&steady, none, int64(4*time.Second))
	if wait, _ := s.Next(at(0)); wait != 4*time.Second {
		t.Errorf("waits %v, want the 4 s of the steady clock", wait)
	}
	if wait, _ := s.Next(at(7)); wait != 0 {
		t.Errorf("waits %v for a timer that is overdue", wait)
	}
}

func TestEffectsSayWhoCausedThemUntilTheStepEnds(t *testing.T) {
	s := step.New(control.Limits{})
	s.EnterAs(at(1), "operator")
	s.Event(control.Event{Holder: control.Holder{Requester: "agent"}})
	s.Event(control.Event{Holder: control.Holder{Requester: "operator"}})
	s.Write(control.Write{Point: "b/p"})
	s.Write(control.Write{Point: "b/q"})
	e := s.Take()
	if len(e.Events) != 2 || e.Events[0].By != "operator" || e.Events[1].By != "" {
		t.Errorf("events %+v; want the first by the operator, the second by nobody else", e.Events)
	}
	if len(e.Writes) != 2 || e.Writes[0].ID == e.Writes[1].ID {
		t.Errorf("writes %+v, want two with identifiers of their own", e.Writes)
	}
	s.Event(control.Event{Holder: control.Holder{Requester: "agent"}})
	if next := s.Take(); len(next.Events) != 1 || len(next.Writes) != 0 || next.Events[0].By != "" {
		t.Errorf("the next step gave %+v", next)
	}
}

func TestNumbersGoOnAfterARestart(t *testing.T) {
	before := step.New(control.Limits{})
	before.NextOrder()
	last := before.Write(control.Write{})
	after := step.New(control.Limits{})
	after.SetCounters(before.Counters())
	if order, id := after.NextOrder(), after.Write(control.Write{}); order != 2 || id != last+1 {
		t.Errorf("order %d and write %d, want 2 and %d", order, id, last+1)
	}
	if keys := after.Changes(); !slices.Equal(keys, []step.Key{{Kind: step.Meta}}) {
		t.Errorf("%v changed, want the record of the numbers", keys)
	}
	if keys := after.Changes(); len(keys) != 0 {
		t.Errorf("%v changed since", keys)
	}
}

func TestAKeyOfARequesterAndAnIdentifierIsSplitAgainWhateverTheyHold(t *testing.T) {
	for _, ref := range []control.Ref{{Requester: "a", ID: "b"}, {Requester: "3:x", ID: ":"}, {Requester: "", ID: "12:a"}, {Requester: "ä", ID: ""}} {
		if got := step.Split(step.Join(ref)); got != ref {
			t.Errorf("%+v became %+v", ref, got)
		}
	}
	for _, key := range []string{"", "x:a", "9:short", "-1:a"} {
		if got := step.Split(key); got != (control.Ref{}) {
			t.Errorf("%q became %+v, want nothing", key, got)
		}
	}
}
