package replicated

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/agent"
	"voltbus/agent/place"
	"voltbus/fault"
)

// Run runs the supervisor, and installs and removes what other replicas do, until ctx ends. Errors are those of the supervisor.
func (a *Agents) Run(ctx context.Context) error {
	if a.cfg.Store == nil {
		return a.Supervisor.Run(ctx)
	}
	left, err := filepath.Glob(filepath.Join(a.cfg.Data, place.Agents, ".package-*"))
	if err == nil {
		for _, file := range left {
			_ = os.Remove(file) // it only takes space
		}
	}
	var both errgroup.Group
	both.Go(func() error { return a.Supervisor.Run(ctx) })
	both.Go(func() error { a.follow(ctx); return nil })
	return both.Wait()
}

func (a *Agents) follow(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := a.look(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Log.DebugContext(ctx, "the agents of the replicas are not known yet", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// found is a record as it was read.
type found struct {
	record

	revision uint64
}

// look makes the agents here those of all replicas.
func (a *Agents) look(ctx context.Context) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	for name := range a.applied {
		a.tell(ctx, name)
	}
	all := map[string]found{}
	err := a.cfg.Store.List(ctx, func(name string, data []byte, revision uint64) {
		f := found{revision: revision}
		if agent.CheckName(name) == nil && json.Unmarshal(data, &f.record) == nil {
			all[name] = f
		}
	})
	if err != nil {
		return err
	}
	for name, f := range all {
		if a.applied[name] == f.revision || a.failed[name].revision == f.revision && time.Now().Before(a.failed[name].again) {
			continue
		}
		if err := a.apply(ctx, name, &f); err != nil {
			a.failed[name] = failure{f.revision, time.Now().Add(pause)}
			a.cfg.Log.WarnContext(ctx, "an agent of the replicas cannot be installed here", slog.String("agent", name), slog.Any("err", err))
			continue
		}
		a.applied[name] = f.revision
	}
	for _, name := range a.Names() {
		if _, is := all[name]; is || a.serial(name) == 0 {
			continue
		}
		if err := a.Supervisor.Remove(ctx, agent.Removal{Name: name, By: "node"}); err != nil {
			a.cfg.Log.WarnContext(ctx, "an agent that another replica removed cannot be removed here", slog.String("agent", name), slog.Any("err", err))
		}
		delete(a.applied, name)
		delete(a.seen, name)
	}
	a.wantLocked()
	return nil
}

// apply installs an agent if it is not, and does with it what is intended.
func (a *Agents) apply(ctx context.Context, name string, f *found) error {
	if _, err := a.Get(name); fault.Is(err, fault.NotFound) || err == nil && a.serial(name) < f.Serial {
		if err := a.install(ctx, name, &f.record); err != nil {
			return err
		}
	}
	if err := a.adopt(ctx, name, &f.State); err != nil {
		return err
	}
	return a.Intend(ctx, name, f.Wanted, f.Autostart)
}

// want asks for the rights to the agents that are installed here.
func (a *Agents) want() {
	a.changing.Lock()
	defer a.changing.Unlock()
	a.wantLocked()
}

func (a *Agents) wantLocked() {
	names := a.Names()
	if slices.Sort(names); a.named && slices.Equal(names, a.names) {
		return
	}
	a.named, a.names = true, names
	a.cfg.Want(names, a.Busy)
}
