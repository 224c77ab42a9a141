// Package launch starts the processes of agents, records their output, and ends all processes that they leave behind.
package launch

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

// Process is a running process and its output.
type Process struct {
	cmd     *exec.Cmd
	UID     int            // the user whose processes end with it; 0 for none
	Orphan  process.Orphan // to find it after a crash of the node
	Began   time.Time
	readers []*os.File // of its output, and of the reason why it could not become the program
	copies  sync.WaitGroup
	Done    chan Exit // receives the exit, once

	mu     sync.Mutex
	reaped bool // its pid may belong to another process
}

// Exit is how a process ended, in the kernel's words.
type Exit struct {
	Code   int
	Signal syscall.Signal
	Status string
}

// Launcher starts all processes from one thread that lives as long as they do: the kernel ends them when the
// thread that started them ends.
type Launcher struct {
	orders chan order
}

// New returns a launcher; Run must be running before Begin.
func New() *Launcher { return &Launcher{orders: make(chan order)} }

type order struct {
	cmd   *exec.Cmd
	reply chan error
}

// Run starts processes until ctx ends. When it returns the remaining processes are killed.
func (l *Launcher) Run(ctx context.Context) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-l.orders:
			o.reply <- o.cmd.Start()
		}
	}
}

func (l *Launcher) start(ctx context.Context, cmd *exec.Cmd) error {
	o := order{cmd: cmd, reply: make(chan error, 1)}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case l.orders <- o:
		return <-o.reply
	}
}

// Command returns the command that becomes the program of a spec.
func Command(through []string, spec *jail.Spec, env []string) (*exec.Cmd, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fault.E("agent.start", fault.Internal, "", err)
	}
	cmd := exec.Command(through[0], append(through[1:len(through):len(through)], string(text))...) //nolint:noctx // it is asked to end, and then killed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = env
	return cmd, nil
}

// The file descriptors of a command's extra files in its process.
const (
	Complaint = 3
	Gate      = 4
)

// Begin starts the process and records its output. It returns when the process has become the program of its spec, whose Complaint and
// Gate are the descriptors above. The process does nothing before admit, which is told its id, has returned nil; after an error
// it is ended. Without admit the spec has no Gate.
func Begin(ctx context.Context, l *Launcher, cmd *exec.Cmd, j *journal.Journal, admit func(pid int) error) (*Process, error) {
	p := &Process{cmd: cmd, Done: make(chan Exit, 1), Began: time.Now()}
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
	shut, gate, err := os.Pipe()
	if err != nil {
		p.close(writers)
		return nil, fault.E("agent.start", fault.Unavailable, "", err)
	}
	defer gate.Close()
	writers = append(writers, shut)
	cmd.ExtraFiles = append(cmd.ExtraFiles, shut)
	if err := l.start(ctx, cmd); err != nil {
		p.close(writers)
		return nil, fault.E("agent.start", fault.Unavailable, cmd.Path, err)
	}
	p.follow(j)
	for _, w := range writers {
		_ = w.Close() // the process has its own copy
	}
	if err := p.admit(gate, admit); err != nil {
		return nil, err
	}
	if err := p.become(); err != nil {
		return nil, err
	}
	return p, nil
}

// follow records the output, and what the process is known by.
func (p *Process) follow(j *journal.Journal) {
	for i, name := range []string{journal.Stdout, journal.Stderr} {
		p.copies.Go(func() { j.Copy(name, p.readers[i]) })
	}
	p.Orphan = process.Orphan{PID: p.cmd.Process.Pid, Boot: process.Boot()}
	if seen, err := process.Read(p.cmd.Process.Pid); err == nil {
		p.Orphan.Started = seen.Started
	}
}

// admit opens the gate of the process, or ends the process.
func (p *Process) admit(gate io.Writer, admit func(pid int) error) error {
	if admit == nil {
		return nil
	}
	err := admit(p.Orphan.PID)
	if err == nil {
		_, err = gate.Write([]byte{1})
	}
	if err != nil {
		p.Kill()
		p.Wait()
		<-p.Done
		return fault.E("agent.start", fault.Unavailable, "", err)
	}
	return nil
}

// patience is how long a process may take to become its program before it counts as started anyway.
const patience = 30 * time.Second

// become waits until the process has become its program. If the process reports that it cannot, it has ended when become returns the reason.
func (p *Process) become() error {
	last := len(p.readers) - 1
	r := p.readers[last]
	defer r.Close()
	p.readers = p.readers[:last]
	_ = r.SetReadDeadline(time.Now().Add(patience)) // pipes support deadlines
	words, _ := io.ReadAll(io.LimitReader(r, 4096)) // no message in time counts as none
	if len(words) == 0 {
		return nil
	}
	p.Wait()
	<-p.Done
	return fault.E("agent.start", fault.Unavailable, "", errors.New(string(words)))
}

func (p *Process) close(files []*os.File) {
	for _, f := range append(files, p.readers...) {
		_ = f.Close() // it was only read
	}
}

// Drain is how long to wait for the last output of an ended process while another process holds its streams open.
const Drain = time.Second

// Wait waits for the end of the process, and ends all processes that it leaves behind.
func (p *Process) Wait() {
	pid := p.cmd.Process.Pid
	// Until it has been waited for, its pid and its process group id belong to it.
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.Kill()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	err := p.cmd.Wait()
	if p.UID != 0 {
		process.EndUser(p.UID)
	}
	for _, r := range p.readers {
		_ = r.SetReadDeadline(time.Now().Add(Drain)) // pipes support deadlines
	}
	p.copies.Wait()
	p.close(nil)
	p.Done <- exitOf(p.cmd.ProcessState, err)
}

func exitOf(state *os.ProcessState, err error) Exit {
	if state == nil {
		return Exit{Code: -1, Status: fmt.Sprint(err)}
	}
	e := Exit{Code: state.ExitCode(), Status: state.String()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

// Kill kills the process and its group.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	}
}

// Terminate requests the process to end.
func (p *Process) Terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) } // it may have ended
