package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/virtual/worker"
)

// starter is what runs in a process of its own.
type starter interface {
	begin(ctx context.Context, o *Options) error
	begun() bool
	kill()
	close() error
}

// start starts the processes that do not run yet, several at a time.
func (w *World) start(ctx context.Context) error {
	slots := make(chan struct{}, 4)
	errs := make([]error, len(w.starters))
	var wait sync.WaitGroup
	for i, s := range w.starters {
		if s.begun() {
			continue
		}
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = s.begin(ctx, &w.opts)
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

func (c *crew) begun() bool { return c.process != nil }

// begin starts the process of a site and waits until its agents have started.
func (c *crew) begin(ctx context.Context, o *Options) error {
	p, err := worker.Start(ctx, worker.Options{Python: c.python, Args: []string{"-m", "voltbus", "world"}, SDK: o.SDK, Log: o.Log})
	if err != nil {
		return fmt.Errorf("%s: %w", c.site, err)
	}
	c.process, p.Patience = p, max(o.Patience, longStart)
	a, err := c.ask(json.RawMessage(c.hello))
	p.Patience = o.Patience
	if err != nil {
		return fmt.Errorf("%s: start its agents: %w", c.site, err)
	}
	if a.Wants != nil {
		c.world.listen(c.site, a.Wants)
	}
	return nil
}

// ask tells the process something and returns what happened.
func (c *crew) ask(what any) (*answer, error) {
	var a answer
	err := c.process.Ask(what, &a)
	for _, call := range a.Told {
		c.world.tell(c.site, call)
	}
	const outside = "an agent that waits for something outside the world cannot be followed"
	switch {
	case errors.Is(err, worker.ErrLate):
		return nil, fmt.Errorf("its agents did not come to rest within %s of real time; %s", c.process.Patience, outside)
	case a.Late != "":
		return nil, fmt.Errorf("its agents did not come to rest within %s of real time, they wait at %s; %s", c.process.Patience, a.Late, outside)
	case err != nil:
		return nil, err
	case a.Error != "":
		return nil, errors.New(strings.TrimSpace(a.Error))
	}
	return &a, nil
}

func (c *crew) kill() {
	if c.process != nil {
		c.process.Kill()
	}
}

func (c *crew) close() error {
	if c.process == nil {
		return nil
	}
	return c.process.Close()
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
