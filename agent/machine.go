package agent

import "time"

// The timing of restarts.
const (
	firstPause = time.Second
	lastPause  = time.Minute
	healthy    = time.Minute     // after running this long the pauses start over
	settled    = 5 * time.Second // a process that has run this long counts as running, even without a report
	loopAfter  = 3               // ends in a row that count as a crash loop
)

// act is an action to take after an event.
type act uint8

const (
	nothing   act = iota
	begin         // start a process
	terminate     // request it to end
	kill          // kill it
)

// machine decides what happens to one agent. It is pure: events and times go in, actions come out.
type machine struct {
	restart Restart
	grace   time.Duration

	state    State
	since    time.Time
	wanted   bool // it should run
	failing  bool // it stops because something is wrong with it, not on request
	barred   bool // another replica has the right to run it
	failures int
	deadline time.Time // when tick is due; zero for never
}

func (m *machine) enter(s State, now time.Time, wait time.Duration) {
	m.state, m.since, m.deadline = s, now, time.Time{}
	if wait > 0 {
		m.deadline = now.Add(wait)
	}
}

// alive reports whether there is a process.
func (m *machine) alive() bool {
	return m.state == Starting || m.state == Running || m.state == Stopping
}

// looping reports whether it ends again and again.
func (m *machine) looping() bool { return m.failures >= loopAfter }

// start makes the agent run.
func (m *machine) start(now time.Time) act {
	m.wanted = true
	if m.alive() {
		return nothing
	}
	m.failures = 0
	if m.barred {
		m.enter(Elsewhere, now, 0)
		return nothing
	}
	m.enter(Starting, now, settled)
	return begin
}

// bar records that this node may not run the agent any more: its process must end at once. Whether it should run stays as it is.
func (m *machine) bar(now time.Time) act {
	m.barred, m.failing = true, false
	if m.alive() {
		m.enter(Stopping, now, m.grace)
		return kill
	}
	m.enter(Elsewhere, now, 0)
	return nothing
}

// refuse records that this node may not run the agent whose process was about to be started.
func (m *machine) refuse(now time.Time) {
	m.barred, m.failing = true, false
	m.enter(Elsewhere, now, 0)
}

// unbar records that this node may run the agent.
func (m *machine) unbar(now time.Time) act {
	m.barred = false
	if m.alive() { // it ends, and is started again then
		return nothing
	}
	m.enter(Stopped, now, 0)
	if m.wanted {
		return m.start(now)
	}
	return nothing
}

// stop makes the agent end.
func (m *machine) stop(now time.Time) act {
	m.wanted, m.failing = false, false
	switch {
	case m.state == Stopping:
		return nothing
	case m.alive():
		m.enter(Stopping, now, m.grace)
		return terminate
	case m.barred:
		return nothing
	}
	m.enter(Stopped, now, 0)
	return nothing
}

// again restarts the agent.
func (m *machine) again(now time.Time) act {
	if !m.alive() {
		return m.start(now)
	}
	m.wanted, m.failing, m.failures = true, false, 0
	if m.state == Stopping {
		return nothing
	}
	m.enter(Stopping, now, m.grace)
	return terminate
}

// hang ends a process that gives no sign of life.
func (m *machine) hang(now time.Time) act {
	if m.state != Running {
		return nothing
	}
	m.failing = true
	m.enter(Stopping, now, m.grace)
	return terminate
}

// heard records a health report.
func (m *machine) heard(now time.Time) {
	if m.state == Starting {
		m.enter(Running, now, 0)
	}
}

// ended records that the process has ended; clean means that it intended to.
func (m *machine) ended(now time.Time, clean bool) act {
	if m.barred {
		m.enter(Elsewhere, now, 0)
		return nothing
	}
	if m.state == Stopping && !m.failing {
		if !m.wanted {
			m.enter(Stopped, now, 0)
			return nothing
		}
		m.enter(Starting, now, settled)
		return begin
	}
	ran := m.state == Running && now.Sub(m.since) >= healthy
	m.failing = false
	switch {
	case m.restart == OnFailure && clean:
		m.wanted = false
		m.enter(Stopped, now, 0)
		return nothing
	case m.restart == Never:
		m.enter(Failed, now, 0)
		return nothing
	case ran:
		m.failures = 0
	}
	m.failures++
	m.enter(BackingOff, now, pause(m.failures))
	return nothing
}

// pause is how long to wait after so many failures in a row.
func pause(failures int) time.Duration {
	p := firstPause
	for range failures - 1 {
		if p *= 2; p >= lastPause {
			return lastPause
		}
	}
	return p
}

// tick must be called at the deadline.
func (m *machine) tick(now time.Time) act {
	if m.deadline.IsZero() || now.Before(m.deadline) {
		return nothing
	}
	switch m.state {
	case BackingOff:
		m.enter(Starting, now, settled)
		return begin
	case Starting:
		m.enter(Running, now, 0)
	case Stopping:
		m.deadline = now.Add(m.grace) // a process stuck in the kernel is killed again
		return kill
	case Stopped, Running, Failed, Elsewhere:
		m.deadline = time.Time{}
	}
	return nothing
}
