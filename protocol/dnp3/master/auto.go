package master

import (
	"errors"
	"time"

	"voltbus/protocol/dnp3/app"
)

// task is a set of requests that an association makes on its own, in the order of the bits.
//
// After a restart (IIN1.7, clause 4.2.2) that order is: clear the indication first, as only then does another
// restart during the rest show; then the clock, if it is asked for (IIN1.4), so that what is read next is
// stamped rightly; then read everything, the new basis for events; and enable unsolicited reports last, so
// that none overtakes that basis. The standard demands that the indication is cleared and that reports stay
// disabled until they are enabled anew, and leaves the order of the rest to the master.
type task uint16

const (
	taskDisable task = 1 << iota
	taskClear
	taskTime
	taskIntegrity
	taskEnable
	taskEvents
	taskPoll
)

// taskStartup are the tasks of the start-up sequence.
const taskStartup = taskDisable | taskClear | taskIntegrity | taskEnable

// auto is the state of what the association does on its own.
type auto struct {
	due       task
	notBefore time.Time // after a failure
	failures  int
	ready     bool
	cleared   bool // the last fragment said that there was no restart
	done      task // what ended with the fragment being heeded
}

// startup returns what is to be done when the line opens.
func (c *Config) startup() task {
	var t task
	if c.DisableFirst != 0 {
		t |= taskDisable
	}
	return t | c.afterRestart()&^taskClear
}

// afterRestart returns what is to be done when the outstation restarted.
func (c *Config) afterRestart() task {
	var t task
	if !c.Tolerance.KeepRestart && !c.LeaveEvents {
		t |= taskClear
	}
	if c.Startup != 0 {
		t |= taskIntegrity
	}
	if c.Enable != 0 {
		t |= taskEnable
	}
	return t
}

// waits reports whether there is a request to be made now.
func (u *auto) waits(now time.Time) bool { return u.due != 0 && !now.Before(u.notBefore) }

// first returns the first task that is due.
func (u *auto) first() task { return u.due & -u.due }

// next returns the first request that is due.
func (u *auto) next(c *Config) *pending {
	t := u.first()
	var r *Request
	switch t {
	case taskDisable:
		r = DisableUnsolicited(c.DisableFirst)
	case taskClear:
		r = ClearRestart()
	case taskTime:
		r = SyncTime(c.TimeSync)
	case taskIntegrity:
		r = ReadClasses(c.Startup)
	case taskEnable:
		r = EnableUnsolicited(c.Enable)
	default:
		r = ReadClasses(c.OnEvents)
	}
	return &pending{request: r, own: t}
}

// finish notes the end of a request that the association made on its own, and reports whether this completes the start-up
// sequence. A refused one is not made again; an unanswered one is repeated later.
func (u *auto) finish(now time.Time, c *Config, t task, err error) (ready bool) {
	if t == 0 || t == taskPoll {
		return false
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		u.postpone(now, c)
		return false
	}
	u.due &^= t
	u.done = t
	u.failures = 0
	u.notBefore = time.Time{}
	ready = u.due&taskStartup == 0 && !u.ready
	u.ready = u.ready || ready
	return ready
}

// postpone makes the next try later each time.
func (u *auto) postpone(now time.Time, c *Config) {
	delay := c.RetryDelay << min(u.failures, 16)
	if delay <= 0 || delay > c.RetryDelayMax {
		delay = c.RetryDelayMax
	}
	u.failures++
	u.notBefore = now.Add(delay)
}

// heed does what the indications of a fragment ask for. It is called after the request
// ended, so that an indication that outlives its remedy is found out: the remedy is
// then tried again later, not at once.
func (a *Association) heed(now time.Time, iin app.IIN) {
	var want task
	want |= a.auto.heedRestart(&a.config, iin.Has(app.IINDeviceRestart))
	if iin.Has(app.IINNeedTime) && a.config.TimeSync != NoTimeSync {
		want |= taskTime
	}
	if iin.Has(app.IINOverflow) {
		a.config.notify(Notice{Kind: NoticeOverflow})
		if a.config.IntegrityOnOverflow {
			want |= taskIntegrity
		}
	}
	if iin&app.IINEvents != 0 && a.config.OnEvents != 0 && iin&classIIN(a.config.OnEvents) != 0 {
		want |= taskEvents
	}
	var under task
	if a.current != nil {
		under = a.current.own
	}
	a.auto.want(now, &a.config, want, under)
}

// heedRestart returns what a restart asks for. One that happened before the line was
// opened asks for no more than to be cleared, as the start-up sequence does the rest.
func (u *auto) heedRestart(c *Config, restarted bool) task {
	known := !u.cleared
	u.cleared = !restarted
	switch {
	case !restarted:
		return 0
	case known:
		return c.afterRestart() & taskClear
	}
	c.notify(Notice{Kind: NoticeRestart})
	return c.afterRestart()
}

// want adds requests, but for one that is under way. If one of them just ended without an effect, it has to wait.
func (u *auto) want(now time.Time, c *Config, t, under task) {
	fresh := t &^ u.due &^ under
	if fresh&u.done != 0 {
		u.postpone(now, c)
	}
	u.done = 0
	u.due |= fresh
}

// classIIN returns the indications that events of the classes wait.
func classIIN(c app.Classes) app.IIN {
	return app.IIN(c&app.EventClasses) * app.IINClass1
}
