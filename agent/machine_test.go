package agent

import (
	"testing"
	"testing/synctest"
	"time"
)

func newMachine(r Restart) *machine {
	return &machine{restart: r, grace: 10 * time.Second, state: Stopped}
}

// wait lets time pass until the machine has something to do, and returns how long that took.
func wait(t *testing.T, m *machine) (time.Duration, act) {
	t.Helper()
	if m.deadline.IsZero() {
		t.Fatalf("in %s nothing is waited for", m.state)
	}
	began := time.Now()
	<-time.After(time.Until(m.deadline))
	return time.Since(began), m.tick(time.Now())
}

func expect(t *testing.T, m *machine, got, want act, state State) {
	t.Helper()
	if got != want || m.state != state {
		t.Fatalf("act %d in state %s, want %d in %s", got, m.state, want, state)
	}
}

func TestPausesDoubleAndNeverEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(Always)
		expect(t, m, m.start(time.Now()), begin, Starting)
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			expect(t, m, m.ended(time.Now(), false), nothing, BackingOff)
			if m.looping() != (i >= 2) {
				t.Errorf("after %d ends looping is %v", i+1, m.looping())
			}
			took, got := wait(t, m)
			expect(t, m, got, begin, Starting)
			if took != want*time.Second {
				t.Errorf("pause %d is %v, want %v", i, took, want*time.Second)
			}
		}
	})
}

func TestAMinuteOfHealthForgetsTheFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(Always)
		m.start(time.Now())
		for range 5 {
			m.ended(time.Now(), false)
			wait(t, m)
		}
		m.heard(time.Now())
		<-time.After(healthy - time.Second)
		m.ended(time.Now(), false)
		if m.failures != 6 {
			t.Errorf("after a short run there are %d failures", m.failures)
		}
		wait(t, m)
		m.heard(time.Now())
		<-time.After(healthy)
		m.ended(time.Now(), false)
		if m.failures != 1 {
			t.Errorf("after a long run there are %d failures", m.failures)
		}
	})
}

func TestAProcessThatDoesNotEndIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(Always)
		m.start(time.Now())
		m.heard(time.Now())
		expect(t, m, m.stop(time.Now()), terminate, Stopping)
		expect(t, m, m.stop(time.Now()), nothing, Stopping)
		took, got := wait(t, m)
		expect(t, m, got, kill, Stopping)
		if took != m.grace {
			t.Errorf("after %v", took)
		}
		_, got = wait(t, m)
		expect(t, m, got, kill, Stopping)
		expect(t, m, m.ended(time.Now(), false), nothing, Stopped)
	})
}

func TestEventsInEachState(t *testing.T) {
	now := time.Now()
	running := func(m *machine) { m.start(now); m.heard(now) }
	tests := []struct {
		name    string
		restart Restart
		before  func(*machine)
		event   func(*machine) act
		want    act
		state   State
		wanted  bool
	}{
		{"a start while it runs is nothing", Always, running, func(m *machine) act { return m.start(now) }, nothing, Running, true},
		{"a start while it backs off starts at once", Always, func(m *machine) { running(m); m.ended(now, false) }, func(m *machine) act { return m.start(now) }, begin, Starting, true},
		{"a start while it stops runs it anew afterwards", Always, func(m *machine) { running(m); m.stop(now); m.start(now) }, func(m *machine) act { return m.ended(now, true) }, begin, Starting, true},
		{"a stop while it backs off", Always, func(m *machine) { running(m); m.ended(now, false) }, func(m *machine) act { return m.stop(now) }, nothing, Stopped, false},
		{"a stop while it is stopped", Always, func(*machine) {}, func(m *machine) act { return m.stop(now) }, nothing, Stopped, false},
		{"a restart ends it", Always, running, func(m *machine) act { return m.again(now) }, terminate, Stopping, true},
		{"a restart starts it when it has ended", Always, func(m *machine) { running(m); m.again(now) }, func(m *machine) act { return m.ended(now, false) }, begin, Starting, true},
		{"a restart of what is stopped starts it", Always, func(*machine) {}, func(m *machine) act { return m.again(now) }, begin, Starting, true},
		{"a hung one ends", Always, running, func(m *machine) act { return m.hang(now) }, terminate, Stopping, true},
		{"a hung one backs off when it has ended", Always, func(m *machine) { running(m); m.hang(now) }, func(m *machine) act { return m.ended(now, false) }, nothing, BackingOff, true},
		{"one that is starting cannot hang", Always, func(m *machine) { m.start(now) }, func(m *machine) act { return m.hang(now) }, nothing, Starting, true},
		{"a stop of a hung one stays", Always, func(m *machine) { running(m); m.hang(now); m.stop(now) }, func(m *machine) act { return m.ended(now, false) }, nothing, Stopped, false},
		{"a clean end is started again", Always, running, func(m *machine) act { return m.ended(now, true) }, nothing, BackingOff, true},
		{"a clean end may be the end", OnFailure, running, func(m *machine) act { return m.ended(now, true) }, nothing, Stopped, false},
		{"a failure is started again", OnFailure, running, func(m *machine) act { return m.ended(now, false) }, nothing, BackingOff, true},
		{"never is never", Never, running, func(m *machine) act { return m.ended(now, false) }, nothing, Failed, true},
		{"a failed one can be started", Never, func(m *machine) { running(m); m.ended(now, false) }, func(m *machine) act { return m.start(now) }, begin, Starting, true},
		{"it settles", Always, func(m *machine) { m.start(now) }, func(m *machine) act { return m.tick(now.Add(settled)) }, nothing, Running, true},
		{"a tick too early is nothing", Always, func(m *machine) { m.start(now) }, func(m *machine) act { return m.tick(now) }, nothing, Starting, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(tt.restart)
			tt.before(m)
			expect(t, m, tt.event(m), tt.want, tt.state)
			if m.wanted != tt.wanted {
				t.Errorf("wanted is %v", m.wanted)
			}
		})
	}
}

func TestWithoutTheRightNothingRunsAndWithItWhatIsWantedDoes(t *testing.T) {
	now := time.Now()
	m := newMachine(Always)
	m.barred, m.state = true, Elsewhere
	expect(t, m, m.start(now), nothing, Elsewhere)
	expect(t, m, m.unbar(now), begin, Starting)
	expect(t, m, m.bar(now), kill, Stopping)
	expect(t, m, m.ended(now, false), nothing, Elsewhere)
	expect(t, m, m.unbar(now), begin, Starting)
	expect(t, m, m.bar(now), kill, Stopping)
	expect(t, m, m.unbar(now), nothing, Stopping) // the old process has not ended yet
	expect(t, m, m.ended(now, false), begin, Starting)
	m.heard(now)
	expect(t, m, m.ended(now, false), nothing, BackingOff)
	expect(t, m, m.bar(now), nothing, Elsewhere)
	expect(t, m, m.stop(now), nothing, Elsewhere)
	expect(t, m, m.unbar(now), nothing, Stopped)
}
