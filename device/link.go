package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// attempt lets ask talk to the device within its time-out, and draws the conclusions: for the line
// when it is lost, for the device when it is silent. With again, a line that worked and is lost
// now is dialled and asked once more. It returns when the attempt ended. The error is ask's, or
// says why the device could not be reached. When ctx ends meanwhile, nothing is concluded.
func (l *line) attempt(ctx context.Context, u *unit, again bool, ask asking) (instant, error) {
	begin := l.clock.now()
	err := l.try(ctx, u, begin, ask)
	if again && isLineLost(err) && l.proven && ctx.Err() == nil {
		l.hangUp(ctx)
		err = l.try(ctx, u, l.clock.now(), ask)
	}
	now := l.clock.now()
	if err == nil || ctx.Err() == nil {
		l.conclude(ctx, u, err, begin, now)
	}
	return now, err
}

// asking is one conversation with a device.
type asking func(ctx context.Context, s driver.Session) error

// try opens what has to be open and lets ask talk to the device once.
func (l *line) try(ctx context.Context, u *unit, now instant, ask asking) error {
	if !l.isOpen(u) {
		if err := l.reach(ctx, u); err != nil {
			return err
		}
		now = l.clock.now()
	}
	limited := newDeadline(ctx, u.cfg.Timeout)
	defer limited.end()
	return l.guardUntil(u, now.steady+hangAfter(u), func() error { //nolint:contextcheck // limited is ctx with a deadline
		return ask(limited, u.session)
	})
}

// conclude keeps the books after an attempt.
func (l *line) conclude(ctx context.Context, u *unit, err error, begin, now instant) {
	took := now.steady - begin.steady
	u.mu.Lock()
	u.state.Latency = took
	switch {
	case err == nil:
		u.answered(now)
	case Declined(err):
		u.declined(err, now)
	case !isAbandoned(err):
		u.failed(err, now)
	}
	u.mu.Unlock()
	switch {
	case err == nil:
		l.answered(ctx, u)
	case isLineLost(err):
		l.lose(ctx, err)
	case isCrash(err):
		l.lose(ctx, err)
		l.hush(ctx, u, qualityOf(err), took)
		l.complain(ctx, u, err, now)
	case isAbandoned(err):
	case isOfScan(err): // what it means is said where the scan is
	case Declined(err):
		l.tellDeclined(ctx, u, err, now)
	case isSilence(err):
		l.hush(ctx, u, qualityOf(err), took)
		l.complain(ctx, u, err, now)
	default:
		l.complain(ctx, u, err, now)
	}
}

// answered ends the trouble of the device and of the line.
func (l *line) answered(ctx context.Context, u *unit) {
	l.proven, l.mute, l.down = true, 0, nil
	l.redial.reset()
	l.wake(u)
	if l.told {
		l.told = false
		l.log.InfoContext(ctx, "line is back", slog.String("line", l.key.name), slog.String("driver", l.key.kind))
	}
	if u.told {
		u.told = false
		l.log.InfoContext(ctx, "device answers again", slog.String("device", string(u.cfg.Path)))
	}
}

// complain logs a device's trouble, if it is new enough.
func (l *line) complain(ctx context.Context, u *unit, err error, now instant) {
	if !u.noise.due(now.steady) {
		return
	}
	u.told = true
	facts := []slog.Attr{
		slog.String("device", string(u.cfg.Path)), slog.String("driver", l.key.kind),
		slog.Uint64("count", u.noise.count), slog.String("kind", kindOf(err).String()), slog.Any("err", err),
	}
	if c := crashOf(err); c != nil {
		l.log.LogAttrs(ctx, slog.LevelError, "driver crashed", append(facts, slog.String("stack", string(c.stack)))...)
		return
	}
	l.log.LogAttrs(ctx, slog.LevelWarn, "device does not answer as it should", facts...)
}

// tellDeclined logs a request that was answered with no, if it is new enough. The device answers.
func (l *line) tellDeclined(ctx context.Context, u *unit, err error, now instant) {
	if u.noNoise.due(now.steady) {
		l.log.WarnContext(ctx, "device does not do what was asked", slog.String("device", string(u.cfg.Path)), slog.String("driver", l.key.kind),
			slog.Uint64("count", u.noNoise.count), slog.String("kind", kindOf(err).String()), slog.Any("err", err))
	}
}

func (l *line) isOpen(u *unit) bool { return u.session != nil && l.link != nil }

// reach dials the line and opens the device's session, as far as they are not open. On a new line the
// sessions of all devices that report by themselves are opened before anything is heard.
func (l *line) reach(ctx context.Context, u *unit) error {
	if l.isOpen(u) {
		return nil
	}
	if !u.isFree() {
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path),
			errors.New("its session under the previous configuration is still being closed"))
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	fresh := l.link == nil
	if fresh {
		if err := l.dial(ctx, u); err != nil {
			return err
		}
	}
	defer l.pause(u)()
	if fresh {
		l.settle(ctx)
	}
	switch {
	case l.isOpen(u):
		return nil
	case l.link == nil: // nobody stayed
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path), errReplaced)
	}
	return l.admit(ctx, u)
}

// dial opens the line. Every error means that there is none.
func (l *line) dial(ctx context.Context, u *unit) error {
	var link driver.Line
	err := l.guard(u, func() (err error) {
		link, err = u.cfg.Kind.Dial(ctx, u.cfg.Driver)
		return err
	})
	if err == nil && link == nil {
		err = fmt.Errorf("driver %s dialled nothing: this is a defect of the driver", l.key.kind)
	}
	if err != nil && !isLineLost(err) && !isCrash(err) {
		err = fault.E("device.dial", kindOf(err), l.key.name, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	if err == nil {
		l.link, l.proven = link, false
	}
	return err
}

// open begins a session with the device, the only one that exists.
func (l *line) open(ctx context.Context, u *unit) error {
	if !u.claim() {
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path), errReplaced)
	}
	var session driver.Session
	err := l.guard(u, func() (err error) {
		session, err = l.link.Open(ctx, u.cfg.Driver)
		return err
	})
	if err == nil && session == nil {
		err = fmt.Errorf("driver %s opened nothing: this is a defect of the driver", l.key.kind)
	}
	if err != nil {
		u.release()
		return err
	}
	u.session = session
	l.overhear(ctx, u)
	return nil
}

// guard calls a driver, turns its panic into an error, and lets others see when it hangs.
func (l *line) guard(u *unit, call func() error) error {
	return l.guardUntil(u, l.clock.now().steady+hangAfter(u), call)
}

// guardUntil is guard for a call that hangs if it has not returned at a moment.
func (l *line) guardUntil(u *unit, moment time.Duration, call func() error) (err error) {
	l.busyOn.Store(u)
	l.busy.Store(int64(moment))
	defer func() {
		l.busy.Store(0)
		if value := recover(); value != nil {
			err = fault.E("device.call", fault.Internal, string(u.cfg.Path), newCrash(value))
		}
	}()
	return call()
}

// hangAfter returns how long a driver may stay away.
func hangAfter(u *unit) time.Duration { return 2 * u.cfg.Timeout }

// hung reports whether the driver has been away for too long, and by how much. It is safe for
// concurrent use.
func (l *line) hung(now instant) (time.Duration, bool) {
	since := time.Duration(l.busy.Load())
	return now.steady - since, since != 0 && now.steady > since
}

// hungText says so for people. It is safe for concurrent use.
func (l *line) hungText(overdue time.Duration) string {
	subject := "the line"
	if u := l.busyOn.Load(); u != nil {
		subject = string(u.cfg.Path)
		overdue += hangAfter(u)
	}
	return fmt.Sprintf("line %s stands still: its driver has been busy with %s for %v and does not return; "+
		"restart the node if it stays so", l.key.name, subject, overdue.Truncate(time.Second))
}

// resting reports whether the line is lost and must not be dialled yet.
func (l *line) resting(now instant) bool { return l.link == nil && now.steady < l.restUntil }

// lose closes a line that is lost. One that worked may be dialled again at once: many devices
// close a connection that was idle. Otherwise its devices are offline, and it rests.
func (l *line) lose(ctx context.Context, err error) {
	now := l.clock.now()
	l.drain(ctx)
	worked := l.proven
	l.hangUp(ctx)
	l.down = err
	if worked {
		l.restUntil = 0
		return
	}
	rest := l.redial.next()
	l.restUntil = now.steady + rest
	l.endSilence(now)
	for _, u := range l.units {
		u.mu.Lock()
		if u.state.Status != Offline {
			u.blame(err, now)
			u.become(Offline, now)
		}
		if u.cfg.Interval == 0 || u.listens { // others when their slot comes
			l.out.emitBad(u, time.Time{}, point.BadUnreachable, now, l.limits.RecordBad)
		}
		u.mu.Unlock()
	}
	if l.noise.due(now.steady) {
		l.told = true
		l.log.WarnContext(ctx, "line is lost",
			slog.String("line", l.key.name), slog.String("driver", l.key.kind), slog.Int("devices", len(l.units)),
			slog.Uint64("count", l.noise.count), slog.Duration("retry", rest),
			slog.String("kind", kindOf(err).String()), slog.Any("err", err))
	}
}

// hangUp closes all sessions and the line, after what they heard was taken. What closing says no longer
// matters.
func (l *line) hangUp(ctx context.Context) {
	l.drain(ctx)
	for _, u := range l.units {
		l.closeSession(u)
	}
	if l.link != nil {
		_ = l.guard(l.units[0], l.link.Close)
	}
	l.link, l.proven = nil, false
}

func (l *line) closeSession(u *unit) {
	if u.session == nil {
		return
	}
	_ = l.guard(u, u.session.Close)
	u.session, u.overheard = nil, false
	if u.subscribed {
		u.subscribed = false
		l.deaf++
	}
	u.release()
}
