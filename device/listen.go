package device

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// listen subscribes to one of the devices that report by themselves and are not heard yet. It
// returns false if there is none whose time has come.
func (l *line) listen(ctx context.Context, now instant) bool {
	u := l.unheard(now)
	if u == nil || l.resting(now) {
		return false
	}
	if err := l.subscribe(ctx, u); err != nil && ctx.Err() == nil {
		l.unheardBecause(ctx, u, err)
	}
	return true
}

// unheard returns the next device to subscribe to, or nil.
func (l *line) unheard(now instant) *unit {
	if l.deaf == 0 {
		return nil
	}
	for range l.units {
		l.turn = (l.turn + 1) % len(l.units)
		if u := l.units[l.turn]; u.listens && !u.subscribed && now.steady >= u.listenAt {
			return u
		}
	}
	return nil
}

// untilListen returns how long there is nobody to subscribe to.
func (l *line) untilListen(now instant) time.Duration {
	wait := longestWait
	if l.deaf == 0 {
		return wait
	}
	for _, u := range l.units {
		if at := max(u.listenAt, l.restUntilDial()); u.listens && !u.subscribed && at > now.steady {
			wait = min(wait, at-now.steady)
		}
	}
	return wait
}

// restUntilDial returns until when the line is not dialled; 0 if it is open.
func (l *line) restUntilDial() time.Duration {
	if l.link != nil {
		return 0
	}
	return l.restUntil
}

// subscribe has a device tell the mailbox when it has something to say.
func (l *line) subscribe(ctx context.Context, u *unit) error {
	if err := l.reach(ctx, u); err != nil || u.subscribed {
		return err
	}
	return l.heed(ctx, u)
}

// heed is subscribe for a device whose session is open.
func (l *line) heed(ctx context.Context, u *unit) error {
	session, can := u.session.(driver.Subscriber)
	if !can {
		u.listens = false
		l.deaf--
		return fault.E("device.listen", fault.Invalid, string(u.cfg.Path), fmt.Errorf(
			"driver %s cannot subscribe; remove subscribe and give an interval", u.cfg.Kind.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	l.careful(ctx, u)
	err := l.guard(u, func() error {
		return session.Subscribe(ctx, u.names, func() { l.box.tell(u) })
	})
	if err == nil {
		u.subscribed = true
		l.deaf--
	}
	return err
}

// overhear has the session of a device that is only scanned keep what it reports all the same: a read may bring events,
// which the device does not say again.
func (l *line) overhear(ctx context.Context, u *unit) {
	session, can := u.session.(driver.Forgetful)
	if !can || u.listens {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	l.careful(ctx, u)
	u.overheard = l.guard(u, func() error { return session.Subscribe(ctx, u.names, func() { l.box.tell(u) }) }) == nil
}

// unheardBecause draws the conclusions when a device that reports by itself is not heard.
func (l *line) unheardBecause(ctx context.Context, u *unit, err error) {
	now := l.clock.now()
	u.listenAt = now.steady + u.again.next()
	l.conclude(ctx, u, err, now, now)
	if !l.resting(now) { // else that was said when the line was lost
		l.deliverBad(u, time.Time{}, qualityOf(err), now)
	}
}

// hear takes what devices have reported. Those that say more meanwhile wait for the next call.
func (l *line) hear(ctx context.Context) {
	l.news = l.box.takeNews(l.news)
	for _, u := range l.news {
		switch {
		case ctx.Err() != nil:
		case u.subscribed:
			l.take(ctx, u)
		case u.overheard:
			_ = l.takeReports(ctx, u) // what is wrong the next read says
		}
	}
}

// take emits what one device has reported, and draws the conclusions.
func (l *line) take(ctx context.Context, u *unit) {
	err := l.takeReports(ctx, u)
	if err == nil {
		err = u.meanwhile
	}
	u.meanwhile = nil
	switch {
	case ctx.Err() != nil:
	case err != nil:
		l.unheardBecause(ctx, u, err)
	default:
		l.heardFrom(ctx, u)
		u.diagnoseReports(ctx)
	}
}

// diagnoseReports is diagnose for a device that is not scanned. What was found stays until the driver knows better.
func (u *unit) diagnoseReports(ctx context.Context) {
	l := u.line
	session, can := u.session.(driver.Lacking)
	if !can || u.cfg.Interval > 0 {
		return
	}
	known, lacks := false, error(nil)
	if err := l.guard(u, func() error { known, lacks = session.Lacks(); return nil }); err == nil && known {
		u.diagnosis = lacks
		l.diagnose(ctx, u, false)
	}
}

// takeReports emits what one device has reported. The error says why it is not heard any more.
func (l *line) takeReports(ctx context.Context, u *unit) error {
	session, _ := u.session.(driver.Subscriber)
	limited := newDeadline(ctx, u.cfg.Timeout)
	defer limited.end()
	err := l.guard(u, func() error {
		return session.Take(limited, func(s point.Sample) { l.report(ctx, u, s) }) //nolint:contextcheck // limited is ctx with a deadline
	})
	l.deliverReports(ctx, u)
	l.keep(u, func() {})
	u.countOddities(ctx)
	return err
}

// heardFrom notes that a device is there.
func (l *line) heardFrom(ctx context.Context, u *unit) {
	now := l.clock.now()
	l.answered(ctx, u)
	u.again.reset()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.become(Online, now)
}

// report keeps one sample that the device sent by itself. A scan holds each point once: a second
// report of one begins the next.
func (l *line) report(ctx context.Context, u *unit, s point.Sample) {
	i, known := l.indexOf(u)[string(s.Point)]
	if !known {
		l.log.DebugContext(ctx, "report of an unknown point", slog.String("device", string(u.cfg.Path)), slog.String("point", string(s.Point)))
		return
	}
	if l.inReports[i] {
		l.deliverReports(ctx, u)
	}
	if l.inReports == nil {
		l.inReports = make(map[int]bool)
	}
	l.inReports[i] = true
	l.date(u, i, &s)
	l.reports, l.reportPaths = append(l.reports, s), append(l.reportPaths, u.paths[i])
}

// deliverReports emits what was reported so far.
func (l *line) deliverReports(ctx context.Context, u *unit) {
	if len(l.reports) == 0 {
		return
	}
	now := l.clock.now()
	l.heardFrom(ctx, u)
	l.stamp(u, l.reportPaths, l.reports, now)
	u.mu.Lock()
	u.state.Reports += uint64(len(l.reports))
	u.state.LastRead = now.wall
	u.mu.Unlock()
	l.deliver(u, time.Time{}, l.reports, now)
	clear(l.inReports)
	l.reports, l.reportPaths = l.reports[:0], l.reportPaths[:0]
}

func (l *line) indexOf(u *unit) map[string]int {
	if u.index == nil {
		u.index = make(map[string]int, len(u.names))
		for i, name := range u.names {
			u.index[name] = i
		}
	}
	return u.index
}
