package line

import (
	"sync"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/device/schedule"
	"voltbus/device/timestamp"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Device is one device with one configuration, as seen by its line. A changed configuration creates another one, which replaces it.
type Device struct {
	cfg      acquisition.Config
	line     *Line // nil if the device is disabled, or another replica reads it
	order    int   // position in the configuration
	names    []string
	paths    []point.Path
	schedule schedule.Schedule

	// Used by the line's goroutine only.
	session   driver.Session
	at        time.Time     // its next time in the agenda
	served    time.Duration // when it was last served
	silence   silence
	listens   bool             // whether to listen to it
	listenAt  time.Duration    // not before
	again     backoff.Attempts // between attempts to listen
	index     map[string]int   // by name, for reports; built when first needed
	clock     uint64           // jumps back seen so far
	noise     backoff.Messages
	lossNoise backoff.Messages // for lost reports
	dateNoise backoff.Messages // for rejected times
	noNoise   backoff.Messages // for declined requests
	logged    bool             // the current trouble has been logged
	diagnosis error            // why the last read left points bad although the device answered
	diagnosed string           // the diagnosis last logged

	subscribed bool  // its session announces reports
	meanwhile  error // why no more reports come, found while the line was busy
	collects   bool  // it is not listened to, and its session keeps reports for the next scan
	hasNews    bool  // it is in the mailbox's news; guarded by the mailbox

	mu       sync.Mutex // guards the fields below, and orders what the line and the watch emit
	state    acquisition.State
	bad      point.Quality    // quality of the last scan, if it was bad
	badAt    time.Duration    // when bad scans were last recorded
	lastScan time.Duration    // last scan of any quality
	stale    bool             // has been reported as stale since then
	before   *Device          // the device that this one replaces, until it is released
	claimed  bool             // a session is open or being opened
	retired  bool             // the configuration has changed: no new session
	unkept   bool             // samples could not be recorded
	dates    timestamp.Points // of its points
}

// NewDevice returns a device with a position in the configuration and one in its group. It opens its session after before has
// closed its own, and is on no line if it is disabled or another replica reads it.
func NewDevice(c acquisition.Config, order, place int, before *Device, l *Line) *Device {
	infos := c.Driver.Points()
	u := &Device{
		cfg: c, line: l, order: order, schedule: c.Schedule(place), listens: c.Subscribe, before: before,
		names: make([]string, len(infos)), paths: make([]point.Path, len(infos)),
	}
	for i := range infos {
		u.names[i] = string(infos[i].Path)
		u.paths[i] = c.Path.Join(u.names[i])
	}
	u.state = acquisition.State{
		Path: c.Path, Driver: c.Kind.Name, Line: c.LineName(),
		Points: len(infos), Interval: c.Interval,
	}
	switch {
	case c.Disabled:
		u.state.Status = acquisition.Disabled
	case c.Elsewhere:
		u.state.Status, u.state.Owner = acquisition.Elsewhere, c.Owner
	}
	return u
}

// Line returns the line of the device, nil if it has none here.
func (u *Device) Line() *Line { return u.line }

// Elsewhere reports whether another replica may use the device, and its name; "" if none does at the moment.
func (u *Device) Elsewhere() (owner string, is bool) {
	return u.cfg.Owner, u.cfg.Elsewhere && !u.cfg.Disabled
}

// Keeps reports whether the device needs no restart for a configuration and a place in its group.
func (u *Device) Keeps(c acquisition.Config, place int) bool {
	return u.cfg.Same(c) && u.schedule == c.Schedule(place)
}

// claim reserves the one session that the device may have. It fails if the device was replaced.
func (u *Device) claim() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claimed = !u.retired
	return u.claimed
}

// release records that the session is closed.
func (u *Device) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claimed = false
}

// Retire forbids new sessions: the device has been replaced or removed.
func (u *Device) Retire() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retired = true
}

func (u *Device) isRetired() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.retired
}

// IsFree reports whether no device that this one replaces still holds a session.
func (u *Device) IsFree() bool {
	for old := u.replaces(); old != nil; old = old.replaces() {
		if old.isClaimed() {
			return false
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.before = nil
	return true
}

func (u *Device) replaces() *Device {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.before
}

func (u *Device) isClaimed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.claimed
}

// plan sets when the device is read next.
func (u *Device) plan(now clock.Instant) {
	if u.cfg.Interval > 0 {
		u.at = u.schedule.Next(now.Wall)
	}
}

// Names returns the names of the device's points, which the caller must not modify.
func (u *Device) Names() []string { return u.names }

// Find returns the index of a point's name, or -1.
func (u *Device) Find(name string) int {
	for i, n := range u.names {
		if n == name {
			return i
		}
	}
	return -1
}

// answered counts a request that was answered. The caller holds the mutex.
func (u *Device) answered(now clock.Instant) {
	u.state.Reads++
	u.state.LastRead = now.Wall
	u.become(acquisition.Online, now)
}

// failed counts a request that was not answered. The caller holds the mutex.
func (u *Device) failed(err error, now clock.Instant) {
	u.state.Failures++
	u.state.Problem, u.state.Refuses = "", false // not answering is now the problem
	u.blame(err, now)
	u.become(acquisition.Offline, now)
}

// declined counts a request that the device declined: the status does not change. The caller holds the mutex.
func (u *Device) declined(err error, now clock.Instant) {
	u.state.Failures++
	u.blame(err, now)
}

// blame records an error for people. The caller holds the mutex.
func (u *Device) blame(err error, now clock.Instant) {
	u.state.LastError = err.Error()
	u.state.LastErrorKind = trouble.KindOf(err)
	u.state.LastErrorTime = now.Wall
}

func (u *Device) become(s acquisition.Status, now clock.Instant) {
	if u.state.Status != s {
		u.state.Status, u.state.Since = s, now.Wall
	}
}

// scanned records that a scan with values is emitted. The caller holds the mutex.
func (u *Device) scanned(now clock.Instant) {
	u.lastScan, u.stale, u.bad = now.Steady, false, point.Good
}

// turnedBad records that a scan without values is emitted, and reports whether to record it. The caller holds
// the mutex.
func (u *Device) turnedBad(q point.Quality, now, every time.Duration) bool {
	record := u.bad != q || now-u.badAt >= every
	if record {
		u.badAt = now
	}
	u.lastScan, u.stale, u.bad = now, q == point.BadStale, q
	return record
}

// ReportStale emits a bad scan, once, if the device has given none for too long; while it stays bad it is recorded at intervals.
func (u *Device) ReportStale(out *Emitter, now clock.Instant, every time.Duration) {
	if u.line == nil || u.cfg.StaleAfter <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lastScan > 0 && !u.stale && !u.retired && now.Steady-u.lastScan > u.cfg.StaleAfter {
		out.emitBad(u, time.Time{}, point.BadStale, now, every)
	}
}

// State returns the state of the device, which is hung if its line's driver is overdue.
func (u *Device) State(now clock.Instant) acquisition.State {
	u.mu.Lock()
	state := u.state
	u.mu.Unlock()
	if u.line == nil {
		return state
	}
	if overdue, hung := u.line.calls.hung(now); hung {
		state.Status = acquisition.Hung
		state.Since = now.Wall.Add(-overdue)
		state.LastError = u.line.calls.hungText(overdue)
		state.LastErrorKind = fault.Internal
		state.LastErrorTime = now.Wall
	}
	return state
}
