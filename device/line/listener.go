package line

import (
	"context"
	"fmt"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
)

// listener subscribes to the devices of a line that report on their own, and receives their reports.
type listener struct {
	line    *Line
	missing int       // devices to listen to that have no subscription
	turn    int       // the next of those
	news    []*Device // devices being received from
}

// count counts the missing subscriptions.
func (s *listener) count(units []*Device) {
	s.missing = 0
	for _, u := range units {
		if u.listens && !u.subscribed {
			s.missing++
		}
	}
}

// listen subscribes to one of the devices that report on their own and have no subscription yet. It returns
// false if none is due.
func (s *listener) listen(ctx context.Context, now clock.Instant) bool {
	u := s.next(now)
	if u == nil || s.line.conn.resting(now) {
		return false
	}
	if err := s.subscribe(ctx, u); err != nil && ctx.Err() == nil {
		s.failed(ctx, u, err)
	}
	return true
}

// next returns the next device to subscribe to, or nil.
func (s *listener) next(now clock.Instant) *Device {
	if s.missing == 0 {
		return nil
	}
	for range s.line.units {
		s.turn = (s.turn + 1) % len(s.line.units)
		if u := s.line.units[s.turn]; u.listens && !u.subscribed && now.Steady >= u.listenAt {
			return u
		}
	}
	return nil
}

// until returns the time until the next subscription is due.
func (s *listener) until(now clock.Instant) time.Duration {
	wait := longestWait
	if s.missing == 0 {
		return wait
	}
	for _, u := range s.line.units {
		if at := max(u.listenAt, s.line.conn.untilDial()); u.listens && !u.subscribed && at > now.Steady {
			wait = min(wait, at-now.Steady)
		}
	}
	return wait
}

// subscribe makes the session of a device notify the mailbox when there are reports.
func (s *listener) subscribe(ctx context.Context, u *Device) error {
	if err := s.line.conn.reach(ctx, u); err != nil || u.subscribed {
		return err
	}
	return s.subscribeOpen(ctx, u)
}

// subscribeOpen is subscribe for a device whose session is open.
func (s *listener) subscribeOpen(ctx context.Context, u *Device) error {
	session, can := u.session.(driver.Subscriber)
	if !can {
		u.listens = false
		s.missing--
		return fault.E("device.listen", fault.Invalid, string(u.cfg.Path), fmt.Errorf(
			"driver %s cannot subscribe; remove subscribe and give an interval", u.cfg.Kind.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	s.confirmOnDisk(ctx, u)
	err := s.line.calls.use(u, func() error {
		return session.Subscribe(ctx, u.names, func() { s.line.box.notify(u) })
	})
	if err == nil {
		u.subscribed = true
		s.missing--
	}
	return err
}

// collect makes the session of a device that is only scanned keep its reports anyway: a read may bring events that the
// device does not repeat.
func (s *listener) collect(ctx context.Context, u *Device) {
	session, can := u.session.(driver.Forgetful)
	if !can || u.listens {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	s.confirmOnDisk(ctx, u)
	u.collects = s.line.calls.use(u, func() error { return session.Subscribe(ctx, u.names, func() { s.line.box.notify(u) }) }) == nil
}

// failed draws the conclusions when a device that reports on its own cannot be received from.
func (s *listener) failed(ctx context.Context, u *Device, err error) {
	now := s.line.clock.Now()
	u.listenAt = now.Steady + u.again.Next()
	s.line.conclude(ctx, u, err, now, now)
	if !s.line.conn.resting(now) { // otherwise a bad scan was published when the line was lost
		s.line.publisher.deliverBad(u, time.Time{}, trouble.QualityOf(err), now)
	}
}

// receive takes the reports of devices. Those that report more meanwhile wait for the next call.
func (s *listener) receive(ctx context.Context) {
	s.news = s.line.box.takeNews(s.news)
	for _, u := range s.news {
		switch {
		case ctx.Err() != nil:
		case u.subscribed:
			s.receiveFrom(ctx, u)
		case u.collects:
			_ = s.line.reports.take(ctx, u) // the next read reveals the problem
		}
	}
}

// receiveFrom emits the reports of one device, and draws the conclusions.
func (s *listener) receiveFrom(ctx context.Context, u *Device) {
	err := s.line.reports.take(ctx, u)
	if err == nil {
		err = u.meanwhile
	}
	u.meanwhile = nil
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.failed(ctx, u, err)
	default:
		s.answered(ctx, u)
		s.diagnose(ctx, u)
	}
}

// answered records that a device is present.
func (s *listener) answered(ctx context.Context, u *Device) {
	now := s.line.clock.Now()
	s.line.answered(ctx, u)
	u.again.Reset()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.become(acquisition.Online, now)
}

// confirmOnDisk arranges that reports are confirmed to a device when they are on disk, if its driver can do so and they are recorded.
func (s *listener) confirmOnDisk(ctx context.Context, u *Device) {
	if session, can := u.session.(driver.Careful); can && u.cfg.Record {
		ctx = context.WithoutCancel(ctx)
		_ = s.line.calls.guard(u, func() error { session.Careful(func() { s.receiveMeanwhile(ctx) }); return nil })
	}
}

// receiveMeanwhile takes reports while a driver waits for an answer, which a device may withhold until its reports are kept.
func (s *listener) receiveMeanwhile(ctx context.Context) {
	s.line.calls.nested(func() {
		for _, u := range s.line.box.takeNews(nil) {
			if !u.subscribed && !u.collects {
				continue
			}
			if err := s.line.reports.take(ctx, u); err != nil && u.subscribed {
				u.meanwhile = err
				s.line.box.notify(u)
			}
		}
	})
}

// diagnose records what is wrong with a device that is not scanned. A finding stays until the driver reports a newer one.
func (s *listener) diagnose(ctx context.Context, u *Device) {
	session, can := u.session.(driver.Lacking)
	if !can || u.cfg.Interval > 0 {
		return
	}
	known, lacks := false, error(nil)
	if err := s.line.calls.guard(u, func() error { known, lacks = session.Lacks(); return nil }); err == nil && known {
		u.diagnosis = lacks
		s.line.trouble.diagnose(ctx, u, false)
	}
}
