package master

import (
	"errors"
	"time"

	"voltbus/protocol/dnp3/app"
)

// task is a set of requests that an association makes by itself, in the order of the bits.
//
// After a restart (IIN1.7, clause 4.2.2) that order is: clear the indication first, as only then
// does another restart during the rest show; then the clock, if it is asked for (IIN1.4), so
// that what is read next is stamped rightly; then read everything, the new basis for events; and
// enable unsolicited reports last, so that none overtakes that basis. The standard demands that
// the indication is cleared and that reports stay disabled until they are enabled anew, and leaves
// the order of the rest to the master.
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

// auto is the state of what the association does by itself.
type auto struct {
	due       task
	notBefore time.Time // after a failure
	failures  int
	ready     bool
	cleared   bool // the last fragment said that there was no restart
	done      task // what ended with the fragment being heeded
}

// startup returns what is to be done when the line opens.
func (a *Association) startup() task {
	var t task
	if a.config.DisableFirst != 0 {
		t |= taskDisable
	}
	return t | a.afterRestart()&^taskClear
}

// afterRestart returns what is to be done when the outstation restarted.
func (a *Association) afterRestart() task {
	var t task
	if !a.config.Tolerance.KeepRestart && !a.config.LeaveEvents {
		t |= taskClear
	}
	if a.config.Startup != 0 {
		t |= taskIntegrity
	}
	if a.config.Enable != 0 {
		t |= taskEnable
	}
	return t
}

func (a *Association) autoReady(now time.Time) bool {
	return a.auto.due != 0 && !now.Before(a.auto.notBefore)
}

// nextAuto returns the first request that is due.
func (a *Association) nextAuto() *pending {
	t := a.auto.due & -a.auto.due
	c := &a.config
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

// finishAuto notes the end of a request that the association made by itself. One that
// the outstation refused is not made again; one that got no answer is, later.
func (a *Association) finishAuto(now time.Time, t task, err error) {
	if t == 0 || t == taskPoll {
		return
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		a.postpone(now)
		return
	}
	a.auto.due &^= t
	a.auto.done = t
	a.auto.failures = 0
	a.auto.notBefore = time.Time{}
	if a.auto.due&taskStartup == 0 && !a.auto.ready {
		a.auto.ready = true
		a.notify(Notice{Kind: NoticeReady})
	}
}

// postpone makes the next try later each time.
func (a *Association) postpone(now time.Time) {
	delay := a.config.RetryDelay << min(a.auto.failures, 16)
	if delay <= 0 || delay > a.config.RetryDelayMax {
		delay = a.config.RetryDelayMax
	}
	a.auto.failures++
	a.auto.notBefore = now.Add(delay)
}

// heed does what the indications of a fragment ask for. It is called after the request
// ended, so that an indication that outlives its remedy is found out: the remedy is
// then tried again later, not at once.
func (a *Association) heed(now time.Time, iin app.IIN) {
	var want task
	want |= a.heedRestart(iin.Has(app.IINDeviceRestart))
	if iin.Has(app.IINNeedTime) && a.config.TimeSync != NoTimeSync {
		want |= taskTime
	}
	if iin.Has(app.IINOverflow) {
		a.notify(Notice{Kind: NoticeOverflow})
		if a.config.IntegrityOnOverflow {
			want |= taskIntegrity
		}
	}
	if iin&app.IINEvents != 0 && a.config.OnEvents != 0 && iin&classIIN(a.config.OnEvents) != 0 {
		want |= taskEvents
	}
	a.want(now, want)
}

// heedRestart returns what a restart asks for. One that happened before the line was
// opened asks for no more than to be cleared, as the start-up sequence does the rest.
func (a *Association) heedRestart(restarted bool) task {
	known := !a.auto.cleared
	a.auto.cleared = !restarted
	switch {
	case !restarted:
		return 0
	case known:
		return a.afterRestart() & taskClear
	}
	a.notify(Notice{Kind: NoticeRestart})
	return a.afterRestart()
}

// want adds requests. If one of them just ended without an effect, it has to wait.
func (a *Association) want(now time.Time, t task) {
	fresh := t &^ a.auto.due
	if a.current != nil {
		fresh &^= a.current.own
	}
	if fresh&a.auto.done != 0 {
		a.postpone(now)
	}
	a.auto.done = 0
	a.auto.due |= fresh
}

// classIIN returns the indications that events of the classes wait.
func classIIN(c app.Classes) app.IIN {
	return app.IIN(c&app.EventClasses) * app.IINClass1
}
