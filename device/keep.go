package device

import (
	"context"
	"time"

	"voltbus/driver"
)

// careful has a device told that its reports arrived when they are on disk, if its driver can and they are recorded.
func (l *line) careful(ctx context.Context, u *unit) {
	if session, can := u.session.(driver.Careful); can && u.cfg.Record {
		ctx = context.WithoutCancel(ctx)
		_ = l.guard(u, func() error { session.Careful(func() { l.hearMeanwhile(ctx) }); return nil })
	}
}

// hearMeanwhile takes reports while a driver waits for an answer, which a device may hold back until its reports are kept.
func (l *line) hearMeanwhile(ctx context.Context) {
	busy, on := l.busy.Load(), l.busyOn.Load()
	for _, u := range l.box.takeNews(nil) {
		if !u.subscribed && !u.overheard {
			continue
		}
		if err := l.takeReports(ctx, u); err != nil && u.subscribed {
			u.meanwhile = err
			l.box.tell(u)
		}
	}
	l.busyOn.Store(on)
	l.busy.Store(busy)
}

// settle has the device told of what was taken when that is on disk, and then calls done.
func (l *line) keep(u *unit, done func()) (waits bool) {
	session, can := u.session.(driver.Careful)
	if !can {
		return false
	}
	var kept func()
	if err := l.guard(u, func() error { kept = session.Keep(); return nil }); err != nil || kept == nil {
		return false
	}
	u.mu.Lock()
	unkept := u.unkept
	u.unkept = false
	u.mu.Unlock()
	if unkept { // the device says it again
		return false
	}
	l.out.Settle(func() {
		kept()
		done()
	})
	return true
}

// lastKept is how long a session that is to be closed stays until what it heard is on disk. Later the device says it
// again, to the next session.
const lastKept = time.Second

// keepLast waits until what a device said last is on disk.
func (l *line) keepLast(u *unit) {
	done := make(chan struct{})
	if !l.keep(u, func() { close(done) }) {
		return
	}
	timer := time.NewTimer(lastKept)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
