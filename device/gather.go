package device

import (
	"context"
	"slices"

	"voltbus/driver"
)

// pause keeps the line from hearing, if its driver can, until the returned function is called. u names
// it while the driver is busy.
func (l *line) pause(u *unit) (resume func()) {
	link, can := l.link.(driver.Pauser)
	if !can {
		return func() {}
	}
	call := func(f func()) {
		_ = l.guard(u, func() error { f(); return nil })
	}
	call(link.Pause)
	return func() { call(link.Resume) }
}

// settle opens, on a line that is paused, the sessions of all devices that report by themselves: they may
// share what is heard, and what was acknowledged comes once. If the configuration changes meanwhile, it
// does so for those of the next one.
func (l *line) settle(ctx context.Context) {
	for {
		if _, can := l.link.(driver.Pauser); !can {
			return
		}
		l.gather(ctx)
		if ctx.Err() != nil || !slices.ContainsFunc(l.units, (*unit).isRetired) {
			return
		}
		l.box.await(ctx) // Apply is about to say who follows
		if wanted, fresh := l.box.takeWanted(); fresh {
			l.exchange(ctx, wanted)
		}
	}
}

// gather opens what is not open, also devices that are only scanned: they may share what is heard. Whoever cannot be opened now is tried again, and complained about, as if
// alone.
func (l *line) gather(ctx context.Context) {
	for _, u := range l.units {
		if u.session == nil && u.isFree() {
			limited, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
			_ = l.admit(limited, u)
			cancel()
		}
	}
}

// admit opens a device's session. On a line that is paused it subscribes at once, if the device reports
// by itself.
func (l *line) admit(ctx context.Context, u *unit) error {
	if err := l.open(ctx, u); err != nil {
		return err
	}
	if _, can := l.link.(driver.Pauser); !can || !u.listens {
		return nil
	}
	return l.heed(ctx, u)
}

// drain takes what all devices of a line have said, before the line is closed. It leaves the line paused.
func (l *line) drain(ctx context.Context) {
	if l.link == nil {
		return
	}
	l.pause(l.units[0])
	for _, u := range l.units {
		l.takeLast(ctx, u)
	}
}

// takeLast takes what a device has said, before its session is closed: the device may have been told that
// it arrived, and does not say it again. Why it says no more is known, or no longer matters.
func (l *line) takeLast(ctx context.Context, u *unit) {
	if u.subscribed || u.overheard {
		_ = l.takeReports(context.WithoutCancel(ctx), u)
		l.keepLast(u)
	}
}
