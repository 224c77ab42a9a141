package runs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/lab/experiment"
)

// process is a run in a process of its own.
type process struct {
	dir  string
	cmd  *exec.Cmd
	gone chan struct{} // closed when the process and all that it started have ended

	mu      sync.Mutex
	run     answer.LabRun // ID does not change
	events  []json.RawMessage
	dropped int           // events that are not kept any more
	changed chan struct{} // closed and replaced with each event
	stopped bool
}

// kept is how many events of a run are kept for those who come late.
const kept = 5000

// startProcess starts "lab run" for the order.
func startProcess(o *Options, e *experiment.Experiment, order answer.LabOrder) (*process, error) {
	if order.Seed == 0 {
		order.Seed = 1
	}
	id := NewID(e.Name, time.Now())
	if len(o.Program) == 0 {
		return nil, fault.E("runs.Start", fault.Unavailable, e.Name, errors.New("it is not known how to start this program again"))
	}
	args := append(slices.Clone(o.Program[1:]), arguments(o.Dir, id, &order)...)
	cmd := exec.Command(o.Program[0], args...) //nolint:noctx // ends by Stop, Close, or by itself
	// A group of its own, so that nothing that it started outlives it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var words lastWords
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fault.E("runs.Start", fault.Unavailable, e.Name, err)
	}
	in, err := cmd.StdinPipe() // closed when this process ends, however it ends: the run stops then
	if err != nil {
		return nil, fault.E("runs.Start", fault.Unavailable, e.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.E("runs.Start", fault.Unavailable, e.Name, err)
	}
	opts := experiment.Options{Repeats: order.Repeats, Quick: order.Quick}
	p := &process{
		dir: o.Dir, cmd: cmd, gone: make(chan struct{}), changed: make(chan struct{}),
		run: answer.LabRun{
			ID: id, Experiment: e.Name, Title: e.Title, State: "running", Started: time.Now().UTC(), Quick: order.Quick,
			Repeats: opts.Repeated(), Verdict: []string{},
		},
	}
	go p.watch(out, in, &words) // waited for by Stop and Close through gone
	return p, nil
}

// arguments are those of "lab run".
func arguments(dir, id string, o *answer.LabOrder) []string {
	args := []string{
		"run", o.Experiment, "--out", dir, "--id", id, "--progress", "--seed", strconv.FormatInt(o.Seed, 10),
	}
	if o.Repeats > 0 {
		args = append(args, "--repeats", strconv.Itoa(o.Repeats))
	}
	if o.Quick {
		args = append(args, "--quick")
	}
	if o.WithPeers {
		args = append(args, "--with-peers")
	}
	for name, value := range o.Settings {
		args = append(args, "--set", name+"="+value)
	}
	return args
}

// watch follows the process to its end, and then sees to it that nothing is left of it but, if it
// finished, its folder.
func (p *process) watch(out io.Reader, in io.Closer, words *lastWords) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if json.Valid(lines.Bytes()) {
			p.add(bytes.Clone(lines.Bytes()))
		}
	}
	_, _ = io.Copy(io.Discard, out) // a line that is too long must not block the process
	err := p.cmd.Wait()
	_ = in.Close()                                        // nobody reads it any more
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails if nothing is left, as it should
	folder := filepath.Join(p.dir, p.run.ID)
	left := os.RemoveAll(folder + part)
	_, finished := os.Stat(folder)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UTC()
	p.run.Finished = &now
	switch {
	case err == nil && finished == nil:
		p.run.State = "finished"
	case p.stopped:
		p.run.State = "stopped"
	default:
		p.run.State = "failed"
		p.run.Error = words.say(errors.Join(err, left))
	}
	close(p.gone) // who hears of the end may remove it, or start another, at once
	close(p.changed)
	p.changed = nil
}

// add keeps an event and notifies the followers.
func (p *process) add(event json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == kept {
		p.events = slices.Delete(p.events, 0, kept/10)
		p.dropped += kept / 10
	}
	p.events = append(p.events, event)
	p.run.Progress = event
	close(p.changed)
	p.changed = make(chan struct{})
}

// after returns the events behind the first n, how many there were then, and a channel that is
// closed when there are more; nil when there will be none.
func (p *process) after(n int) ([]json.RawMessage, int, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.dropped + len(p.events)
	return slices.Clone(p.events[max(0, n-p.dropped):]), all, p.changed
}

func (p *process) follow(ctx context.Context, emit func(string, json.RawMessage) error) error {
	for n := 0; ; {
		events, all, changed := p.after(n)
		n = all
		for _, e := range events {
			if err := emit("progress", e); err != nil {
				return err
			}
		}
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (p *process) state() answer.LabRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// stop asks the process to end, and kills it when it has not after the time of grace.
func (p *process) stop(grace time.Duration) {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.gone:
	case <-timer.C:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the whole group; fails if it has ended
	}
}

// lastWords keeps the end of what a process writes to standard error.
type lastWords struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const mostWords = 4000

// Write implements io.Writer.
func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(b)
	if over := w.buf.Len() - mostWords; over > 0 {
		w.buf.Next(over)
	}
	return len(b), nil
}

// say returns the words, or err if there are none.
func (w *lastWords) say(err error) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := strings.TrimSpace(w.buf.String()); text != "" {
		return strings.ToValidUTF8(text, "·")
	}
	return fmt.Sprint(err)
}
