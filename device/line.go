package device

import (
	"container/heap"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"voltbus/driver"
	"voltbus/point"
)

// lineKey tells lines apart.
type lineKey struct{ kind, name string }

// line is one physical line with its devices. All its work is done by one goroutine, in run;
// the fields below the mailbox belong to that.
type line struct {
	key    lineKey
	limits Limits
	clock  *clock
	out    *outlets
	log    *slog.Logger
	leave  func(*line) bool // asks to end a line without devices
	box    *mailbox

	busy   atomic.Int64         // steady moment from which the driver counts as hung; 0: not in the driver
	busyOn atomic.Pointer[unit] // the device that the driver is busy with; nil for the line itself

	units    []*unit
	agenda   agenda  // of the units that are read
	probes   []*unit // silent units whose turn has come, in order
	deaf     int     // units that are to be listened to and have no subscription
	turn     int     // of those
	news     []*unit // being taken
	jumps    uint64  // of the clock, as far as seen
	scanLast bool    // a slot was served last: a request goes first

	link      driver.Line
	proven    bool          // the link gave an answer since it was dialled
	down      error         // why there is no link
	redial    backoff       // distance between dials
	restUntil time.Duration // no dial before
	gate      time.Duration // no probe before
	mute      int           // probes without an answer since the last answer of any device
	noise     doubling
	told      bool // the present loss was logged

	scan    point.Scan      // lent to the outlet, one at a time
	written [1]point.Sample // likewise

	reports     []point.Sample // being taken from one device, each point once
	reportPaths []point.Path   // of reports
	inReports   map[int]bool   // by the place in the unit's points
}

func (f *Fleet) newLine(key lineKey) *line {
	return &line{
		key: key, limits: f.limits, clock: f.clock, out: f.out, log: f.log, leave: f.leave,
		box:    newMailbox(f.limits.Queue),
		redial: backoff{first: f.limits.RedialFirst, most: f.limits.RedialMost},
	}
}

// run serves the line until ctx ends or no device is left on it.
func (l *line) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	l.jumps = l.clock.jumps.Load()
	for ctx.Err() == nil {
		l.adopt(ctx)
		if len(l.units) == 0 && l.leave(l) {
			return
		}
		l.hear(ctx)
		now := l.clock.now()
		l.follow(now)
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
	l.hangUp(ctx)
}

// adopt takes over the wanted devices, if they changed. On a line that stays open nothing is heard between
// the last word of those that leave and the first of those that come.
func (l *line) adopt(ctx context.Context) {
	wanted, fresh := l.box.takeWanted()
	if !fresh {
		return
	}
	if l.link != nil {
		defer l.pause(l.units[0])()
	}
	l.exchange(ctx, wanted)
	l.settle(ctx)
}

// exchange makes the wanted devices those of the line. Devices that stay notice nothing. A line on which
// none stays is dialled again, because its own settings may have changed.
func (l *line) exchange(ctx context.Context, wanted []*unit) {
	now := l.clock.now()
	staying := make(map[*unit]bool, len(wanted))
	for _, u := range wanted {
		staying[u] = true
	}
	kept := make(map[*unit]bool, len(l.units))
	for _, u := range l.units {
		if kept[u] = staying[u]; !kept[u] {
			l.takeLast(ctx, u)
			l.closeSession(u)
		}
	}
	if len(kept) > 0 && !anyTrue(kept) {
		l.hangUp(ctx)
		l.redial.reset()
		l.restUntil = 0
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
func (l *line) join(u *unit, now instant) {
	u.clock = l.clock.backs.Load()
	u.again = backoff{first: l.limits.RedialFirst, most: l.limits.RedialMost}
	if !u.cfg.ReadAtStart {
		u.plan(now)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.heard = max(now.steady, 1)
}

// rebuild makes agenda, probes and the count of the deaf those of the present devices.
func (l *line) rebuild(staying map[*unit]bool) {
	l.agenda, l.deaf = l.agenda[:0], 0
	for _, u := range l.units {
		if u.cfg.Interval > 0 {
			l.agenda = append(l.agenda, u)
		}
		if u.listens && !u.subscribed {
			l.deaf++
		}
	}
	heap.Init(&l.agenda)
	waiting := l.probes[:0]
	for _, u := range l.probes {
		if staying[u] {
			waiting = append(waiting, u)
		}
	}
	clear(l.probes[len(waiting):])
	l.probes = waiting
}

// follow plans every slot anew after the wall clock jumped.
func (l *line) follow(now instant) {
	jumps := l.clock.jumps.Load()
	if jumps == l.jumps {
		return
	}
	l.jumps = jumps
	for _, u := range l.agenda {
		if !u.at.IsZero() {
			u.plan(now)
		}
	}
	heap.Init(&l.agenda)
}

// step does the next thing that is due, and reports whether there was one. Slots and requests
// alternate, so that neither holds up the other; probes and new subscriptions get the rest.
func (l *line) step(ctx context.Context, now instant) bool {
	slotDue := len(l.agenda) > 0 && !l.agenda[0].at.After(now.wall)
	if !slotDue || l.scanLast {
		if r := l.box.take(); r != nil {
			l.scanLast = false
			l.serve(ctx, r, now)
			return true
		}
	}
	switch {
	case slotDue && !l.starved(now):
		l.scanLast = true
		l.visit(ctx, l.agenda[0], now)
		return true
	case l.probeReady(now):
		l.probe(ctx)
		return true
	}
	return l.listen(ctx, now)
}

// visit serves the slot of the device that stands first in the agenda.
func (l *line) visit(ctx context.Context, u *unit, now instant) {
	slot := l.advance(u, now)
	switch {
	case l.resting(now):
		l.skip(u, slot, point.BadUnreachable, now)
	case u.silence.timeouts > 0:
		l.visitSilent(u, slot, now)
	default:
		l.scanSlot(ctx, u, slot)
	}
}

// advance returns the slot to serve now, which is the latest one, and plans the next.
func (l *line) advance(u *unit, now instant) time.Time {
	u.served = now.steady
	var slot time.Time
	if u.at.IsZero() {
		u.plan(now)
	} else {
		slot = u.schedule.last(now.wall)
		if missed := slot.Sub(u.at) / u.cfg.Interval; missed > 0 {
			u.mu.Lock()
			u.state.Overruns += uint64(missed)
			u.mu.Unlock()
		}
		u.at = slot.Add(u.cfg.Interval)
	}
	heap.Fix(&l.agenda, 0)
	return slot
}

// longestWait bounds a wait for nothing.
const longestWait = 24 * time.Hour

// untilNext returns how long nothing is due.
func (l *line) untilNext(now instant) time.Duration {
	wait := longestWait
	if len(l.agenda) > 0 {
		wait = min(wait, l.agenda[0].at.Sub(now.wall))
	}
	if len(l.probes) > 0 {
		wait = min(wait, l.gate-now.steady)
	}
	return max(min(wait, l.untilListen(now)), 0)
}
