package line

import (
	"context"
	"log/slog"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/point"
)

// Key identifies a line: the name of the driver, and that of the line.
type Key struct{ Kind, Name string }

// Line is one physical line with its devices. One goroutine does all its work, in Run, and owns the parts below the mailbox;
// only calls is shared with other goroutines.
type Line struct {
	Key    Key
	limits acquisition.Limits
	clock  *clock.Clock
	leave  func(*Line) bool // requests to end a line without devices
	box    *mailbox

	units     []*Device
	scanLast  bool // a slot was served last: a request goes next
	calls     calls
	conn      connection
	timetable timetable
	silences  silences
	listener  listener
	reports   reports
	publisher publisher
	trouble   troubleLog
}

// Owner is what the owner of the devices provides to a line: limits with defaults filled in, the clock, the log, and the destination of scans.
type Owner struct {
	Limits acquisition.Limits
	Clock  *clock.Clock
	Out    *Emitter
	Log    *slog.Logger
	Leave  func(*Line) bool // reports whether a line without devices may end
}

// New returns a line without devices, which is not running.
func New(key Key, o Owner) *Line {
	l := &Line{
		Key: key, limits: o.Limits, clock: o.Clock, leave: o.Leave,
		box:       newMailbox(o.Limits.Queue),
		calls:     calls{line: key.Name, clock: o.Clock},
		timetable: timetable{clock: o.Clock},
		silences:  silences{clock: o.Clock, distance: o.Limits.Probe},
		publisher: publisher{clock: o.Clock, out: o.Out, recordBad: o.Limits.RecordBad},
		trouble:   troubleLog{log: o.Log, line: key.Name, kind: key.Kind},
	}
	l.conn = connection{line: l, redial: backoff.Attempts{First: o.Limits.RedialFirst, Most: o.Limits.RedialMost}}
	l.listener.line, l.reports.line = l, l
	return l
}

// Want sets the devices of the line. It is safe for concurrent use, as are the methods that follow.
func (l *Line) Want(devices []*Device) { l.box.want(devices) }

// Close refuses new requests and answers pending ones, even on a line that is stuck.
func (l *Line) Close() { l.box.close() }

// CloseUnlessWanted is Close for a line without devices, unless it has just got new ones. It reports whether it closed the line.
func (l *Line) CloseUnlessWanted() bool { return l.box.closeUnlessWanted() }

// Nudge makes the goroutine of the line check its mailbox and its timetable.
func (l *Line) Nudge() { l.box.nudge() }

// Busy reports whether the goroutine of the line is in a driver.
func (l *Line) Busy() bool { return l.calls.running() }

// Hung reports whether a call of the driver is overdue, and by how much.
func (l *Line) Hung(now clock.Instant) (overdue time.Duration, hung bool) { return l.calls.hung(now) }

// HungText describes this for people.
func (l *Line) HungText(overdue time.Duration) string { return l.calls.hungText(overdue) }

// Run serves the line until ctx ends or no device is left on it.
func (l *Line) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	l.timetable.jumps = l.clock.Jumps.Load()
	for ctx.Err() == nil {
		l.adopt(ctx)
		if len(l.units) == 0 && l.leave(l) {
			return
		}
		l.listener.receive(ctx)
		now := l.clock.Now()
		l.timetable.follow(now)
		if l.step(ctx, now) {
			continue
		}
		timer.Reset(l.untilNext(now))
		select {
		case <-ctx.Done():
		case <-l.box.wake:
		case <-timer.C:
		}
	}
	l.end(ctx)
}

// end closes everything, and answers all pending requests.
func (l *Line) end(ctx context.Context) {
	l.box.close()
	l.conn.hangUp(ctx)
}

// adopt takes over the wanted devices, if they changed. On a line that stays open nothing is received between
// the last report of leaving devices and the first one of new devices.
func (l *Line) adopt(ctx context.Context) {
	wanted, fresh := l.box.takeWanted()
	if !fresh {
		return
	}
	if l.conn.link != nil {
		defer l.conn.pause(l.units[0])()
	}
	l.exchange(ctx, wanted)
	l.conn.openPaused(ctx)
}

// exchange replaces the devices of the line. Devices that stay are not disturbed. A line on which none stays
// is dialled again, because its own settings may have changed.
func (l *Line) exchange(ctx context.Context, wanted []*Device) {
	now := l.clock.Now()
	staying := make(map[*Device]bool, len(wanted))
	for _, u := range wanted {
		staying[u] = true
	}
	kept := make(map[*Device]bool, len(l.units))
	for _, u := range l.units {
		if kept[u] = staying[u]; !kept[u] {
			l.reports.takeLast(ctx, u)
			l.conn.closeSession(u)
		}
	}
	if len(kept) > 0 && !anyTrue(kept) {
		l.conn.hangUp(ctx)
		l.conn.forget()
	}
	for _, u := range wanted {
		if !kept[u] {
			l.join(u, now)
		}
	}
	l.units = wanted
	l.rebuild(staying)
}

func anyTrue(set map[*Device]bool) bool {
	for _, is := range set {
		if is {
			return true
		}
	}
	return false
}

// join prepares a new device.
func (l *Line) join(u *Device, now clock.Instant) {
	u.clock = l.clock.Backs.Load()
	u.again = backoff.Attempts{First: l.limits.RedialFirst, Most: l.limits.RedialMost}
	if !u.cfg.ReadAtStart {
		u.plan(now)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lastScan = max(now.Steady, 1)
}

// rebuild rebuilds the timetable, the probes and the count of missing subscriptions for the present devices.
func (l *Line) rebuild(staying map[*Device]bool) {
	l.timetable.fill(l.units)
	l.listener.count(l.units)
	l.silences.keep(staying)
}

// step does the next thing that is due, and reports whether there was one. Slots and requests alternate, so
// that neither delays the other; probes and new subscriptions get the remaining time.
func (l *Line) step(ctx context.Context, now clock.Instant) bool {
	slotDue := l.timetable.due(now)
	if !slotDue || l.scanLast {
		if r := l.box.take(); r != nil {
			l.scanLast = false
			l.serve(ctx, r, now)
			return true
		}
	}
	switch {
	case slotDue && !l.silences.starved(now):
		l.scanLast = true
		l.visit(ctx, l.timetable.next(), now)
		return true
	case l.silences.ready(now):
		u := l.silences.take()
		l.scanSlot(ctx, u, u.silence.owed)
		return true
	}
	return l.listener.listen(ctx, now)
}

// visit serves the slot of the device that comes first in the timetable.
func (l *Line) visit(ctx context.Context, u *Device, now clock.Instant) {
	slot := l.timetable.advance(u, now)
	switch {
	case l.conn.resting(now):
		l.publisher.skip(u, slot, point.BadUnreachable, now)
	case u.silence.timeouts > 0:
		if skipped, skip := l.silences.visit(u, slot); skip {
			l.publisher.skip(u, skipped, u.silence.quality, now)
		}
	default:
		l.scanSlot(ctx, u, slot)
	}
}

// longestWait bounds a wait for nothing.
const longestWait = 24 * time.Hour

// untilNext returns the time until something is due.
func (l *Line) untilNext(now clock.Instant) time.Duration {
	return max(min(longestWait, l.timetable.until(now), l.silences.until(now), l.listener.until(now)), 0)
}
