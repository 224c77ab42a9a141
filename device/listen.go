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

// listenTurn is how long one of several listeners of a line is listened to.
const listenTurn = time.Second

// listen gives the line's idle time to a device that reports by itself. It returns false if
// there is none to listen to now.
func (l *line) listen(ctx context.Context, now instant) bool {
	u := l.listener(now)
	if u == nil || l.resting(now) {
		return false
	}
	limit := l.untilNext(now)
	if l.listeners > 1 {
		limit = min(limit, listenTurn)
	}
	if limit <= 0 {
		return false
	}
	err := l.subscribe(ctx, u, limit)
	if ctx.Err() != nil {
		return true
	}
	now = l.clock.now()
	if err == nil {
		u.mu.Lock()
		u.become(Online, now)
		u.mu.Unlock()
		return true
	}
	u.listenAt = now.steady + u.again.next()
	l.conclude(ctx, u, err, now, now)
	if u.cfg.Interval == 0 && !l.resting(now) {
		l.deliverBad(u, time.Time{}, qualityOf(err), now)
	}
	return true
}

// listener returns the next device to listen to, or nil.
func (l *line) listener(now instant) *unit {
	for range l.units {
		l.turn = (l.turn + 1) % len(l.units)
		if u := l.units[l.turn]; u.listens && now.steady >= u.listenAt {
			return u
		}
	}
	return nil
}

// untilListen returns how long there is nobody to listen to: less than zero if there is one now,
// and then it does not count as something due.
func (l *line) untilListen(now instant) time.Duration {
	wait := longestWait
	for _, u := range l.units {
		if at := max(u.listenAt, l.restUntilDial()); u.listens && at > now.steady {
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

// subscribe listens to a device until something else is due. It returns nil then.
func (l *line) subscribe(ctx context.Context, u *unit, limit time.Duration) error {
	if err := l.reach(ctx, u); err != nil {
		return err
	}
	session, can := u.session.(driver.Subscriber)
	if !can {
		u.listens = false
		l.listeners--
		return fault.E("device.listen", fault.Invalid, string(u.cfg.Path), fmt.Errorf(
			"driver %s cannot subscribe; remove subscribe and give an interval", u.cfg.Kind.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if !l.box.listen(cancel) {
		return nil
	}
	defer l.box.listened()
	err := l.guardUntil(u, l.clock.now().steady+limit+hangAfter(u), func() error {
		return session.Subscribe(ctx, u.names, func(s point.Sample) { l.report(ctx, u, s) })
	})
	if err == nil && ctx.Err() == nil {
		err = fault.E("device.listen", fault.Unavailable, string(u.cfg.Path),
			fmt.Errorf("driver %s stopped listening by itself", u.cfg.Kind.Name))
	}
	if ctx.Err() != nil && !isLineLost(err) && !isCrash(err) {
		return nil
	}
	return err
}

// report emits one sample that the device sent by itself.
func (l *line) report(ctx context.Context, u *unit, s point.Sample) {
	i, known := l.indexOf(u)[string(s.Point)]
	if !known {
		l.log.DebugContext(ctx, "report of an unknown point", slog.String("device", string(u.cfg.Path)), slog.String("point", string(s.Point)))
		return
	}
	now := l.clock.now()
	l.answered(ctx, u)
	u.again.reset()
	l.reported[0] = s
	l.stamp(u, u.paths[i:i+1], l.reported[:], now)
	u.mu.Lock()
	u.state.Reports++
	u.state.LastRead = now.wall
	u.become(Online, now)
	u.mu.Unlock()
	l.deliver(u, time.Time{}, l.reported[:], now)
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
