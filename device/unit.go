package device

import (
	"sync"
	"time"

	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/device/schedule"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/point"
)

// unit is one device as its line sees it.
type unit struct {
	cfg      Config
	line     *line // nil if the device is disabled
	order    int   // in the configuration
	names    []string
	paths    []point.Path
	schedule schedule.Schedule

	// Used by the line's goroutine only.
	session   driver.Session
	at        time.Time     // when the agenda has it next
	served    time.Duration // when it was last
	silence   silence
	listens   bool             // whether it is to be listened to
	listenAt  time.Duration    // not before
	again     backoff.Attempts // between attempts to listen
	index     map[string]int   // of names, for reports; made when first needed
	clock     uint64           // jumps back that were seen
	noise     backoff.Messages
	lossNoise backoff.Messages // of reports that were lost
	dateNoise backoff.Messages // of times that are not believed
	noNoise   backoff.Messages // of requests that were declined
	logged    bool             // the present trouble was logged
	diagnosis error            // why the last read left points bad although the device answered
	diagnosed string           // that was logged last

	subscribed bool  // its session notifies of reports
	meanwhile  error // why nothing more comes, noticed while the line was busy
	collects   bool  // it is not to be listened to, and its session keeps reports for the next scan
	hasNews    bool  // it is in the mailbox's news; guarded by that

	mu       sync.Mutex // guards what follows, and orders what the line and the watch emit
	state    State
	bad      point.Quality // quality of the last scan, if it was bad
	badAt    time.Duration // when bad scans were last recorded
	lastScan time.Duration // last scan of any quality
	stale    bool          // reported as stale since then
	before   *unit         // the unit that this one replaces, until that is released
	claimed  bool          // a session is open or being opened
	retired  bool          // the configuration has changed: no new session
	unkept   bool          // samples could not be recorded
	dates    []date        // of its points, by place; nil until one of them has a time of its own
}

func newUnit(c Config, order, place int) *unit {
	infos := c.Driver.Points()
	u := &unit{
		cfg: c, order: order, schedule: c.schedule(place), listens: c.Subscribe,
		names: make([]string, len(infos)), paths: make([]point.Path, len(infos)),
	}
	for i := range infos {
		u.names[i] = string(infos[i].Path)
		u.paths[i] = c.Path.Join(u.names[i])
	}
	u.state = State{
		Path: c.Path, Driver: c.Kind.Name, Line: c.lineName(),
		Points: len(infos), Interval: c.Interval,
	}
	if c.Disabled {
		u.state.Status = Disabled
	}
	return u
}

// claim reserves the one session that the device may have. It fails if the unit was replaced.
func (u *unit) claim() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claimed = !u.retired
	return u.claimed
}

// release says that the session is closed.
func (u *unit) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claimed = false
}

// retire forbids new sessions.
func (u *unit) retire() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retired = true
}

func (u *unit) isRetired() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.retired
}

// isFree reports whether no unit that this one replaces holds a session any more.
func (u *unit) isFree() bool {
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

func (u *unit) replaces() *unit {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.before
}

func (u *unit) isClaimed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.claimed
}

// plan sets when the unit is read next.
func (u *unit) plan(now clock.Instant) {
	if u.cfg.Interval > 0 {
		u.at = u.schedule.Next(now.Wall)
	}
}

// find returns the index of a point's name, or -1.
func (u *unit) find(name string) int {
	for i, n := range u.names {
		if n == name {
			return i
		}
	}
	return -1
}

// answered counts a request that was answered. The mutex is held.
func (u *unit) answered(now clock.Instant) {
	u.state.Reads++
	u.state.LastRead = now.Wall
	u.become(Online, now)
}

// failed counts a request that was not. The mutex is held.
func (u *unit) failed(err error, now clock.Instant) {
	u.state.Failures++
	u.state.Problem, u.state.Refuses = "", false // it does not answer, which is the trouble now
	u.blame(err, now)
	u.become(Offline, now)
}

// declined counts a request that was answered with no: the status stays what it was. The mutex is held.
func (u *unit) declined(err error, now clock.Instant) {
	u.state.Failures++
	u.blame(err, now)
}

// blame keeps an error for people. The mutex is held.
func (u *unit) blame(err error, now clock.Instant) {
	u.state.LastError = err.Error()
	u.state.LastErrorKind = trouble.KindOf(err)
	u.state.LastErrorTime = now.Wall
}

func (u *unit) become(s Status, now clock.Instant) {
	if u.state.Status != s {
		u.state.Status, u.state.Since = s, now.Wall
	}
}

// scanned notes that a scan with values goes out. The mutex is held.
func (u *unit) scanned(now clock.Instant) {
	u.lastScan, u.stale, u.bad = now.Steady, false, point.Good
}

// turnedBad notes that a scan without values goes out, and reports whether it is to be recorded.
// The mutex is held.
func (u *unit) turnedBad(q point.Quality, now, every time.Duration) bool {
	record := u.bad != q || now-u.badAt >= every
	if record {
		u.badAt = now
	}
	u.lastScan, u.stale, u.bad = now, q == point.BadStale, q
	return record
}
