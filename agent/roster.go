package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/agent/process"
	"voltbus/fault"
)

// roster holds the agents of a node. It is safe for concurrent use.
type roster struct {
	group sync.WaitGroup // their goroutines
	users bool           // each agent has a user of its own

	mu      sync.Mutex
	agents  map[string]*runner
	broken  map[string]error // folders without a valid agent
	running context.Context  //nolint:containedctx // that of Run, for agents that are installed meanwhile; nil before
}

// find returns the agent of a name.
func (l *roster) find(name string) (*runner, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.agents[name]; ok {
		return r, nil
	}
	if err, ok := l.broken[name]; ok {
		return nil, err
	}
	return nil, fault.E("agent.find", fault.NotFound, name, errors.New("no agent of this name is installed here; see voltbus agent list"))
}

// sorted returns the agents in the order of their start. The caller holds the lock.
func (l *roster) sorted() []*runner {
	var list []*runner
	for _, r := range l.agents {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *runner) int {
		x, y := a.look(), b.look()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Name, y.Name))
	})
	return list
}

func (l *roster) serving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running != nil
}

// adopt starts the goroutine of a newly installed agent.
func (l *roster) adopt(r *runner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.agents[r.rec.Name] = r
	delete(l.broken, r.rec.Name)
	if ctx := l.running; ctx != nil {
		l.group.Go(func() { r.run(ctx) })
	}
}

// measureEvery is the interval of measurements of the agents' processes.
const measureEvery = time.Second

// measure measures the resource use of the agents' processes until ctx ends.
func (l *roster) measure(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	before := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		list := l.sorted()
		l.mu.Unlock()
		list = slices.DeleteFunc(list, func(r *runner) bool { return r.look().Process.PID == 0 })
		if len(list) == 0 {
			continue
		}
		all, err := process.List()
		if err != nil {
			log.WarnContext(ctx, "processes cannot be measured", slog.Any("err", err))
			continue
		}
		now := time.Now()
		for _, r := range list {
			u, cpu := sum(all, r.look().Process.PID)
			r.offer(func() { r.measured(ctx, u, cpu, now.Sub(before)) })
		}
		before = now
	}
}

// sum adds up the resource use of a group's processes.
func sum(all []process.Process, group int) (u Usage, cpu time.Duration) {
	for _, p := range all {
		if p.Group == group && !p.Zombie {
			u.Memory += p.Memory
			u.Processes++
			cpu += p.CPU
		}
	}
	return u, cpu
}
