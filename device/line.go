package device

import (
	"context"
	"time"

	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/point"
)

// lineKey tells lines apart.
type lineKey struct{ kind, name string }

// line is one physical line with its devices. All its work is done by one goroutine, in run, which also owns the parts below the
// mailbox; only calls may be asked by others.
type line struct {
	key    lineKey
	limits Limits
	clock  *clock.Clock
	leave  func(*line) bool // asks to end a line without devices
	box    *mailbox

	units     []*unit
	scanLast  bool // a slot was served last: a request goes first
	calls     calls
	conn      connection
	timetable timetable
	silences  silences
	listener  listener
	reports   reports
	publisher publisher
	trouble   troubleLog
}

func (f *Fleet) newLine(key lineKey) *line {
	l := &line{
		key: key, limits: f.limits, clock: f.clock, leave: f.roster.leave,
		box:       newMailbox(f.limits.Queue),
		calls:     calls{line: key.name, clock: f.clock},
		timetable: timetable{clock: f.clock},
		silences:  silences{clock: f.clock, distance: f.limits.Probe},
		publisher: publisher{clock: f.clock, out: f.out, recordBad: f.limits.RecordBad},
		trouble:   troubleLog{log: f.log, line: key.name, kind: key.kind},
	}
	l.conn = connection{line: l, redial: backoff.Attempts{First: f.limits.RedialFirst, Most: f.limits.RedialMost}}
	l.listener.line, l.reports.line = l, l
	return l
}

// run serves the line until ctx ends or no device is left on it.
func (l *line) run(ctx context.Context) {
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

// end closes everything, and answers whoever waits.
func (l *line) end(ctx context.Context) {
	l.box.close()
	l.conn.hangUp(ctx)
}

// adopt takes over the wanted devices, if they changed. On a line that stays open nothing is received between
// the last report of those that leave and the first of those that come.
func (l *line) adopt(ctx context.Context) {
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

// exchange makes the wanted devices those of the line. Devices that stay notice nothing. A line on which
// none stays is dialled again, because its own settings may have changed.
func (l *line) exchange(ctx context.Context, wanted []*unit) {
	now := l.clock.Now()
	staying := make(map[*unit]bool, len(wanted))
	for _, u := range wanted {
		staying[u] = true
	}
	kept := make(map[*unit]bool, len(l.units))
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

func anyTrue(set map[*unit]bool) bool {
	for _, is := range set {
		if is {
			return true
		}
	}
	return false
}

// join prepares a new device.
func (l *line) join(u *unit, now clock.Instant) {
	u.clock = l.clock.Backs.Load()
	u.again = backoff.Attempts{First: l.limits.RedialFirst, Most: l.limits.RedialMost}
	if !u.cfg.ReadAtStart {
		u.plan(now)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lastScan = max(now.Steady, 1)
}

// rebuild makes timetable, probes and the count of missing subscriptions those of the present devices.
func (l *line) rebuild(staying map[*unit]bool) {
	l.timetable.fill(l.units)
	l.listener.count(l.units)
	l.silences.keep(staying)
}

// step does the next thing that is due, and reports whether there was one. Slots and requests
// alternate, so that neither holds up the other; probes and new subscriptions get the rest.
func (l *line) step(ctx context.Context, now clock.Instant) bool {
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
func (l *line) visit(ctx context.Context, u *unit, now clock.Instant) {
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

// untilNext returns how long nothing is due.
func (l *line) untilNext(now clock.Instant) time.Duration {
	return max(min(longestWait, l.timetable.until(now), l.silences.until(now), l.listener.until(now)), 0)
}
