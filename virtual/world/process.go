package world

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
)

// process is a process of agents. exchange and close are called by one goroutine, kill by any.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	enc      *json.Encoder
	patience time.Duration
	late     sync.Once
	wasLate  bool
}

// start starts the processes of all sites that have none, several at a time.
func (w *World) start(ctx context.Context) error {
	slots := make(chan struct{}, 4)
	errs := make([]error, len(w.crews))
	var wait sync.WaitGroup
	for i, c := range w.crews {
		if c.process != nil {
			continue
		}
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = c.begin(ctx, &w.opts)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return fault.E("world.Run", fault.Unavailable, "", err)
	}
	return nil
}

// longStart is how long a process may take to start at least, in real time: it loads the modules of its agents.
const longStart = time.Minute

// begin starts the process of a site and waits until its agents have started.
func (c *crew) begin(ctx context.Context, o *Options) error {
	p := &process{cmd: exec.CommandContext(ctx, c.command[0], c.command[1:]...), patience: max(o.Patience, longStart)} //nolint:gosec // the user's interpreter
	p.cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PYTHONHASHSEED=0")
	if o.SDK != "" {
		places := append(filepath.SplitList(os.Getenv("PYTHONPATH")), o.SDK)
		p.cmd.Env = append(p.cmd.Env, "PYTHONPATH="+strings.Join(places, string(filepath.ListSeparator)))
	}
	p.cmd.Stderr = o.Log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("%s: start %s: %w; set world.python to an interpreter that has the SDK", c.site, c.command[0], err)
	}
	p.in, p.out, p.enc = in, bufio.NewReaderSize(out, 1<<16), json.NewEncoder(in)
	c.process = p
	a, err := p.ask(json.RawMessage(c.hello))
	p.patience = o.Patience
	if err != nil {
		return fmt.Errorf("%s: start its agents: %w", c.site, err)
	}
	if a.Wants != nil {
		c.world.listen(c.site, a.Wants)
	}
	for _, call := range a.Told {
		c.world.tell(c.site, call)
	}
	return nil
}

// exchange tells a moment and returns what happened.
func (p *process) exchange(m moment) (*answer, error) { return p.ask(m) }

// ask writes a line and reads one.
func (p *process) ask(what any) (*answer, error) {
	timer := time.AfterFunc(p.patience, func() { p.late.Do(func() { p.wasLate = true }); p.kill() })
	defer timer.Stop()
	err := p.enc.Encode(what)
	var line []byte
	if err == nil {
		line, err = p.out.ReadBytes('\n')
	}
	if err != nil {
		p.late.Do(func() {}) // orders what is read of wasLate behind what was written
		if p.wasLate {
			return nil, fmt.Errorf("its agents did not come to rest within %s of real time; an agent that waits for something outside the world cannot be followed", p.patience)
		}
		return nil, errors.New("its process has ended; what it printed says why")
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("its process answers %.100q: %w", line, err)
	}
	if a.Error != "" {
		return nil, errors.New(strings.TrimSpace(a.Error))
	}
	return &a, nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may have ended

// close has the agents stop, and waits for the process.
func (p *process) close() error {
	timer := time.AfterFunc(p.patience, p.kill)
	defer timer.Stop()
	_ = p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil // why it ended was told when it was asked
	}
	return err
}

// listen notes what the agents of a site listen to.
func (w *World) listen(site string, subjects []string) {
	var all [][]string
	for _, s := range subjects {
		all = append(all, strings.Split(s, "."))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wants[site] = all
}

// tell notes a call that does not follow the clock.
func (w *World) tell(site, call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, Told{site, call})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
