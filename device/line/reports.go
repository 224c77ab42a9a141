package line

import (
	"context"
	"log/slog"
	"time"

	"voltbus/driver"
	"voltbus/internal/deadline"
	"voltbus/point"
)

// reports takes the samples that devices send on their own, and emits them: one device at a time, in scans that contain each point
// once.
type reports struct {
	line    *Line
	samples []point.Sample // samples being taken from one device
	paths   []point.Path   // of samples
	seen    map[int]bool   // by index in the device's points
}

// take emits what one device has reported. The error tells why no more reports come.
func (r *reports) take(ctx context.Context, u *Device) error {
	session, _ := u.session.(driver.Subscriber)
	limited := deadline.New(ctx, u.cfg.Timeout)
	defer limited.End()
	err := r.line.calls.use(u, func() error {
		return session.Take(limited, func(s point.Sample) { r.add(ctx, u, s) }) //nolint:contextcheck // limited is ctx with a deadline
	})
	r.deliver(ctx, u)
	r.keep(u, func() {})
	countAnomalies(ctx, u)
	return err
}

// add collects one sample that the device sent on its own. A scan contains each point once: a second report
// of a point begins the next scan.
func (r *reports) add(ctx context.Context, u *Device, s point.Sample) {
	i, known := r.indexOf(u)[string(s.Point)]
	if !known {
		r.line.trouble.log.DebugContext(ctx, "report of an unknown point", slog.String("device", string(u.cfg.Path)), slog.String("point", string(s.Point)))
		return
	}
	if r.seen[i] {
		r.deliver(ctx, u)
	}
	if r.seen == nil {
		r.seen = make(map[int]bool)
	}
	r.seen[i] = true
	r.date(u, i, &s)
	r.samples, r.paths = append(r.samples, s), append(r.paths, u.paths[i])
}

// date gives a reported sample the time of its arrival if it has none, and a time that no other sample of the
// point has.
func (r *reports) date(u *Device, place int, s *point.Sample) {
	if s.Time.IsZero() {
		s.Time = r.line.clock.Now().Wall
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dates.Put(place, len(u.paths), s)
}

// deliver emits what was reported so far.
func (r *reports) deliver(ctx context.Context, u *Device) {
	if len(r.samples) == 0 {
		return
	}
	now := r.line.clock.Now()
	r.line.listener.answered(ctx, u)
	r.line.publisher.stamp(u, r.paths, r.samples, now)
	u.mu.Lock()
	u.state.Reports += uint64(len(r.samples))
	u.state.LastRead = now.Wall
	u.mu.Unlock()
	r.line.publisher.deliver(u, time.Time{}, r.samples, now)
	clear(r.seen)
	r.samples, r.paths = r.samples[:0], r.paths[:0]
}

func (r *reports) indexOf(u *Device) map[string]int {
	if u.index == nil {
		u.index = make(map[string]int, len(u.names))
		for i, name := range u.names {
			u.index[name] = i
		}
	}
	return u.index
}

// keep confirms the reports to the device when they are on disk, and then calls done.
func (r *reports) keep(u *Device, done func()) (waits bool) {
	session, can := u.session.(driver.Careful)
	if !can {
		return false
	}
	var kept func()
	if err := r.line.calls.guard(u, func() error { kept = session.Keep(); return nil }); err != nil || kept == nil {
		return false
	}
	u.mu.Lock()
	unkept := u.unkept
	u.unkept = false
	u.mu.Unlock()
	if unkept { // the device repeats it
		return false
	}
	r.line.publisher.out.Settle(func() {
		kept()
		done()
	})
	return true
}

// lastKept is how long a session that is being closed stays until its reports are on disk. After that the
// device repeats them, to the next session.
const lastKept = time.Second

// keepLast waits until the last reports of a device are on disk.
func (r *reports) keepLast(u *Device) {
	done := make(chan struct{})
	if !r.keep(u, func() { close(done) }) {
		return
	}
	timer := time.NewTimer(lastKept)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// takeLast takes a device's reports before its session is closed: the device does not repeat acknowledged ones. Why no
// more come is known, or no longer matters.
func (r *reports) takeLast(ctx context.Context, u *Device) {
	if u.subscribed || u.collects {
		_ = r.take(context.WithoutCancel(ctx), u)
		r.keepLast(u)
	}
}
