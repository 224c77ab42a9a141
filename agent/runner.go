package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/agent/journal"
	"voltbus/agent/launch"
	"voltbus/agent/place"
	"voltbus/fault"
)

// runner runs one agent: one goroutine owns its machine, record and process.
type runner struct {
	s       *Supervisor
	place   place.Place
	inbox   chan func()
	ended   chan struct{} // closed when run has returned
	journal *journal.Journal

	machine machine
	rec     Record
	proc    *launch.Process
	last    *End
	cause   string // why the node ends the process now: memory or hung
	beat    time.Time
	rhythm  time.Duration // the promised interval of its health reports; 0 for none
	usage   Usage
	cpu     time.Duration // processor time at the last measurement
	gone    bool          // it was removed
	right   right

	mu      sync.Mutex
	status  Status
	process int           // the id that the watchdog is told, from its start on; 0 without one
	changed chan struct{} // closed when the status changes; nil while nobody waits
}

// newRunner opens the agent of a folder.
func (s *Supervisor) newRunner(p place.Place, rec Record) (*runner, error) {
	if err := s.guard.Folders(p, rec.UID); err != nil {
		return nil, err
	}
	j, err := journal.Open(journal.Config{Dir: p.In(place.Log), MaxBytes: s.cfg.LogBytes, Keep: s.cfg.LogFiles, Lines: s.cfg.LogLines})
	if err != nil {
		return nil, err
	}
	r := &runner{
		s: s, place: p, rec: rec, journal: j, inbox: make(chan func()), ended: make(chan struct{}),
		machine: machine{restart: s.cfg.Restart, grace: s.cfg.Grace, state: Stopped, since: time.Now()},
	}
	if s.cfg.Right != nil {
		r.right.Right = s.cfg.Right(rec.Name)
		r.machine.barred, r.machine.state = true, Elsewhere
	}
	r.publish()
	return r, nil
}

// run runs the agent until ctx ends, and then ends its process.
func (r *runner) run(ctx context.Context) {
	defer close(r.ended)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	stop, stopping := ctx.Done(), false
	for !r.gone && (!stopping || r.machine.alive()) {
		changed, lost := r.follow(ctx, stopping)
		r.publish()
		wait := time.Hour
		if !r.machine.deadline.IsZero() {
			wait = time.Until(r.machine.deadline)
		}
		timer.Reset(wait)
		var done chan launch.Exit
		if r.proc != nil {
			done = r.proc.Done
		}
		select {
		case <-stop:
			stop, stopping = nil, true
			r.do(ctx, r.machine.stop(time.Now())) // the requested state stays in the record
		case f := <-r.inbox:
			f()
		case e := <-done:
			r.over(ctx, e)
		case <-timer.C:
			r.do(ctx, r.machine.tick(time.Now()))
		case <-changed:
		case <-lost:
		}
	}
	r.publish()
	_ = r.journal.Close() // each line has already been written
}

// do carries out a decision of the machine.
func (r *runner) do(ctx context.Context, a act) {
	switch a {
	case nothing:
	case begin:
		if !r.right.holds() { // it may have ended while this process was stopped
			r.machine.refuse(time.Now())
			return
		}
		r.launch(ctx)
	case terminate:
		if r.s.cfg.News != nil && r.cause == "" {
			r.s.cfg.News(r.rec.Name)
		}
		r.proc.Terminate()
	case kill:
		why := fmt.Sprintf("it did not end within %s", r.machine.grace)
		if r.machine.barred {
			why = "another replica gets the right to run it"
		}
		r.journal.Note("warning", "killed: "+why)
		r.proc.Kill()
	}
}

// launch starts the process.
func (r *runner) launch(ctx context.Context) {
	r.cause, r.usage, r.cpu, r.beat, r.rhythm = "", Usage{}, 0, time.Time{}, 0
	err := r.begin(ctx)
	if err == nil {
		return
	}
	r.end(&End{At: time.Now(), Reason: "unable", Text: "could not be started: " + err.Error(), Code: -1})
	r.do(ctx, r.machine.ended(time.Now(), false))
}

func (r *runner) begin(ctx context.Context) error {
	if err := r.s.guard.Check(); err != nil {
		return err
	}
	spec, env, err := r.s.prepared.spec(r.place, &r.rec)
	if err != nil {
		return err
	}
	spec.Complaint = launch.Complaint
	var admit func(pid int) error
	if r.right.Right != nil {
		spec.Gate = launch.Gate
		admit = func(pid int) error { return r.admit(ctx, pid) }
	}
	cmd, err := launch.Command(r.s.cfg.Exec, &spec, env)
	if err != nil {
		return err
	}
	p, err := launch.Begin(ctx, r.s.launcher, cmd, r.journal, admit)
	if err != nil {
		r.setPID(0)
		return err
	}
	if spec.User != nil {
		p.UID = spec.User.UID
	}
	p.Orphan.Mark = mark(r.place)
	r.proc, r.rec.Process = p, p.Orphan
	r.s.group.Go(p.Wait)
	r.journal.Note("info", fmt.Sprintf("started: process %d, version %d", p.Orphan.PID, r.rec.Version))
	return save(r.place, r.rec)
}

// over records that the process has ended.
func (r *runner) over(ctx context.Context, e launch.Exit) {
	now := time.Now()
	end := &End{At: now.UTC(), Code: e.Code, Uptime: now.Sub(r.proc.Began).Round(time.Millisecond)}
	if e.Signal != 0 {
		end.Signal = e.Signal.String()
	}
	wished := (r.machine.state == Stopping && !r.machine.failing) || !r.right.holds() // then the watchdog ended it
	switch {
	case wished:
		end.Reason, end.Text = "stopped", "was stopped"
	case r.cause == "memory":
		end.Reason, end.Text = "memory", fmt.Sprintf("was killed: it used %d MiB of memory, and may use %d MiB; give it more with voltbus agent install --memory, or find what it keeps",
			r.usage.MaxMemory>>20, r.s.prepared.memory(&r.rec)>>20)
	case r.cause == "hung":
		end.Reason, end.Text = "hung", fmt.Sprintf("was ended: no sign of life for three times %s", r.rhythm)
	case e.Signal != 0:
		end.Reason, end.Text = "killed", fmt.Sprintf("was ended by the signal %s", e.Signal)
	default:
		end.Reason, end.Text = "exited", fmt.Sprintf("ended by itself with exit code %d", e.Code)
	}
	r.proc = nil
	r.setPID(0)
	r.end(end)
	clean := e.Code == 0 && r.cause == ""
	switch {
	case wished:
	case clean:
		r.s.audit.done("node", "agent.ended", r.rec.Name, end.Text)
	default:
		r.s.audit.failed("node", "agent.ended", r.rec.Name, end.Text)
	}
	r.do(ctx, r.machine.ended(now, clean))
}

// end records how the process ended, and a crash report if that was unexpected.
func (r *runner) end(e *End) {
	r.last = e
	level := "info"
	if e.Reason != "stopped" {
		level = "error"
	}
	r.journal.Note(level, e.Text)
	if e.Reason == "stopped" {
		return
	}
	if err := r.report(e); err != nil {
		r.journal.Note("warning", "the crash report could not be written: "+err.Error())
	}
}

// Crash is the report of an unexpected end.
type Crash struct {
	End
	Agent   string          `json:"agent"`
	Version int             `json:"version"`
	Memory  int64           `json:"memory_limit"`
	Usage   Usage           `json:"usage"`
	Lines   []journal.Entry `json:"lines"` // its last output
}

const (
	crashForm   = "crash-20060102T150405.000.json"
	crashGlob   = "crash-*.json"
	keepCrashes = 10
)

func (r *runner) report(e *End) error {
	c := Crash{
		End: *e, Agent: r.rec.Name, Version: r.rec.Version, Memory: r.s.prepared.memory(&r.rec), Usage: r.usage, Lines: r.journal.Last(),
	}
	if err := writeJSON(r.place.In(place.Log, e.At.UTC().Format(crashForm)), c); err != nil {
		return err
	}
	old := r.crashes()
	for len(old) > keepCrashes {
		_ = os.Remove(r.place.In(place.Log, old[0])) // tried again after the next crash
		old = old[1:]
	}
	return nil
}

// crashes lists the reports, oldest first.
func (r *runner) crashes() []string {
	files, err := filepath.Glob(r.place.In(place.Log, crashGlob))
	if err != nil {
		return nil
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	slices.Sort(files)
	return files
}

// measured records the resource use of the process, and ends the process if that is too much or its health reports have stopped.
func (r *runner) measured(ctx context.Context, u Usage, cpu, over time.Duration) {
	if r.proc == nil {
		return
	}
	if r.cpu > 0 && over > 0 {
		u.CPU = (cpu - r.cpu).Seconds() / over.Seconds()
	}
	r.cpu = cpu
	u.MaxMemory = max(r.usage.MaxMemory, u.Memory)
	r.usage = u
	limit := r.s.prepared.memory(&r.rec)
	switch {
	case r.cause != "":
	case limit > 0 && u.Memory > limit:
		r.cause = "memory"
		r.proc.Kill()
	case r.s.cfg.Hang && r.rhythm > 0 && time.Since(r.beat) > 3*r.rhythm:
		if a := r.machine.hang(time.Now()); a != nothing {
			r.cause = "hung"
			r.journal.Note("error", fmt.Sprintf("gave no sign of life for three times %s, and is started again", r.rhythm))
			r.do(ctx, a)
		}
	}
}

// heard records a health report; every is the time until the next one is due, 0 for never.
func (r *runner) heard(every time.Duration) {
	if r.proc != nil {
		r.beat, r.rhythm = time.Now(), every
		r.machine.heard(r.beat)
	}
}

// publish updates the status that others see.
func (r *runner) publish() {
	st := Status{
		Record: r.rec, State: r.machine.state, Since: r.machine.since.UTC(), Failures: r.machine.failures,
		Usage: r.usage, Last: r.last, Isolated: r.s.guard.Names(r.rec.UID), Crashes: r.crashes(),
	}
	if r.proc == nil {
		st.Usage, st.Process.PID = Usage{}, 0
	}
	if st.State == Elsewhere {
		st.Owner = r.right.Owner()
	}
	switch {
	case r.machine.state == BackingOff:
		next := r.machine.deadline.UTC()
		st.Next, st.Text = &next, "it "+r.last.Text
		if r.machine.looping() {
			st.Text = fmt.Sprintf("ends again and again, %d times now; last it %s", r.machine.failures, r.last.Text)
		}
	case r.machine.state == Failed && r.last != nil:
		st.Text = "it " + r.last.Text
	case r.journal.Err() != nil && !errors.Is(r.journal.Err(), os.ErrClosed):
		st.Text = "its log cannot be written: " + r.journal.Err().Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = st
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// watch returns the status, and a channel that is closed when it changes.
func (r *runner) watch() (Status, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.status, r.changed
}

// pid returns the id that the watchdog is told; 0 without a process.
func (r *runner) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

func (r *runner) setPID(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process = pid
}

func (r *runner) look() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.status
	st.Raised = r.journal.Raised()
	return st
}

var (
	errEnding  = errors.New("the node is stopping")
	errNotRuns = errors.New("no node runs here that could do it; start one with voltbus run")
)

// ask runs a function in the runner's goroutine, and waits for it.
func (r *runner) ask(ctx context.Context, f func()) error {
	if !r.s.serving() {
		return fault.E("agent.ask", fault.Unavailable, r.rec.Name, errNotRuns)
	}
	done := make(chan struct{})
	select {
	case r.inbox <- func() { defer close(done); f() }:
		<-done
		return nil
	case <-r.ended:
		return fault.E("agent.ask", fault.Unavailable, "", errEnding)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offer runs a function in the runner's goroutine later.
func (r *runner) offer(f func()) {
	select {
	case r.inbox <- f:
	case <-r.ended:
	}
}

// noteWrong records in the agent's log what is wrong with its existing configuration.
func (r *runner) noteWrong(wrong []string) {
	for _, w := range wrong {
		r.journal.Note("warning", "its configuration is wrong for this version: "+w)
	}
}
