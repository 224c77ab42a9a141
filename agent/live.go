package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/agent/jail"
	"voltbus/agent/journal"
	"voltbus/agent/process"
	"voltbus/fault"
)

// live is a process that runs, with what it prints.
type live struct {
	cmd     *exec.Cmd
	uid     int
	orphan  process.Orphan
	began   time.Time
	readers []*os.File // of what it prints, and of why it could not become the program
	copies  sync.WaitGroup
	done    chan exit // gets the end, once

	mu     sync.Mutex
	reaped bool // its number may belong to another process
}

// exit is how a process ended, in the kernel's words.
type exit struct {
	code   int
	signal syscall.Signal
	status string
}

// launcher starts all processes from one thread that lives as long as they: the kernel ends them
// when the thread that started them ends.
type launcher struct {
	orders chan order
}

type order struct {
	cmd   *exec.Cmd
	reply chan error
}

// run starts processes until ctx ends. When it returns the processes that are left are killed.
func (l *launcher) run(ctx context.Context) {
	runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-l.orders:
			o.reply <- o.cmd.Start()
		}
	}
}

func (l *launcher) start(ctx context.Context, cmd *exec.Cmd) error {
	o := order{cmd: cmd, reply: make(chan error, 1)}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case l.orders <- o:
		return <-o.reply
	}
}

// command makes the command that becomes the program of a spec.
func command(through []string, spec *jail.Spec, env []string) (*exec.Cmd, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fault.E("agent.start", fault.Internal, "", err)
	}
	cmd := exec.Command(through[0], append(through[1:len(through):len(through)], string(text))...) //nolint:noctx // it is asked to end, and then killed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = env
	return cmd, nil
}

// complaint is the number that the first of the extra files of a command has in its process.
const complaint = 3

// begin starts the process and keeps what it prints. It returns when the process has become the program of its spec, whose
// complaint is the file of that name.
func begin(ctx context.Context, l *launcher, cmd *exec.Cmd, j *journal.Journal) (*live, error) {
	p := &live{cmd: cmd, done: make(chan exit, 1), began: time.Now()}
	var writers []*os.File
	for _, into := range []func(*os.File){
		func(f *os.File) { cmd.Stdout = f }, func(f *os.File) { cmd.Stderr = f },
		func(f *os.File) { cmd.ExtraFiles = []*os.File{f} },
	} {
		r, w, err := os.Pipe()
		if err != nil {
			p.close(writers)
			return nil, fault.E("agent.start", fault.Unavailable, "", err)
		}
		into(w)
		p.readers, writers = append(p.readers, r), append(writers, w)
	}
	err := l.start(ctx, cmd)
	if err != nil {
		p.close(writers)
		return nil, fault.E("agent.start", fault.Unavailable, cmd.Path, err)
	}
	for i, name := range []string{journal.Stdout, journal.Stderr} {
		p.copies.Go(func() { j.Copy(name, p.readers[i]) })
	}
	for _, w := range writers {
		_ = w.Close() // the process has its own
	}
	p.orphan = process.Orphan{PID: cmd.Process.Pid, Boot: process.Boot()}
	if seen, err := process.Read(cmd.Process.Pid); err == nil {
		p.orphan.Started = seen.Started
	}
	if err := p.become(); err != nil {
		return nil, err
	}
	return p, nil
}

// patience is how long a process may take to become its program before it counts as started all the same.
const patience = 30 * time.Second

// become waits until the process has become its program. If it says that it cannot, it is gone when become returns why.
func (p *live) become() error {
	last := len(p.readers) - 1
	r := p.readers[last]
	defer r.Close()
	p.readers = p.readers[:last]
	_ = r.SetReadDeadline(time.Now().Add(patience)) // a pipe knows deadlines
	words, _ := io.ReadAll(io.LimitReader(r, 4096)) // nothing was said in time is as good as nothing
	if len(words) == 0 {
		return nil
	}
	p.wait()
	<-p.done
	return fault.E("agent.start", fault.Unavailable, "", errors.New(string(words)))
}

func (p *live) close(files []*os.File) {
	for _, f := range append(files, p.readers...) {
		_ = f.Close() // nothing was written
	}
}

// drain is how long what a process printed last is waited for, if somebody holds its streams open.
const drain = time.Second

// wait waits for the end of the process, and ends all that it leaves behind.
func (p *live) wait() {
	pid := p.cmd.Process.Pid
	// Until it is waited for, its number belongs to it, and so does that of its group.
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.kill()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	err := p.cmd.Wait()
	if p.uid != 0 {
		process.EndUser(p.uid)
	}
	for _, r := range p.readers {
		_ = r.SetReadDeadline(time.Now().Add(drain)) // a pipe knows deadlines
	}
	p.copies.Wait()
	p.close(nil)
	p.done <- exitOf(p.cmd.ProcessState, err)
}

func exitOf(state *os.ProcessState, err error) exit {
	if state == nil {
		return exit{code: -1, status: fmt.Sprint(err)}
	}
	e := exit{code: state.ExitCode(), status: state.String()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	}
	return e
}

// kill ends the process and its group.
func (p *live) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // gone is as good
	}
}

// terminate asks the process to end.
func (p *live) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) } // gone is as good
