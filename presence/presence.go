// Package presence holds the health of a node's agents, as each last reported it, and their open alerts. It knows neither the bus
// nor storage: both are passed to it.
package presence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
)

// Status is an agent's reported status, or the node's conclusion from its silence.
type Status string

// The statuses that an agent can report.
const (
	Good     Status = "good"
	Bad      Status = "bad"
	Starting Status = "starting"
	Unknown  Status = "unknown" // also for one that never reported
)

// The statuses that the node concludes.
const (
	Silent  Status = "silent"  // it is connected, but three intervals have passed without a report
	Offline Status = "offline" // it is not connected
)

// silentAfter is how many intervals without a report make an agent silent.
const silentAfter = 3

// Bounds of what agents report.
const (
	maxText     = 4 << 10   // bytes of a context or of an alert's text
	maxKey      = 256       // bytes of an alert's key
	maxInterval = 24 * 3600 // seconds
	maxAlerts   = 1000      // open alerts per agent
)

// Health is an agent's last report about itself.
type Health struct {
	Status   Status
	Context  json.RawMessage // reason, in any form; nil for none
	Interval time.Duration   // interval of its reports; 0 if it promises none
	At       time.Time       // when it was received
}

// Keeper keeps open alerts across restarts.
type Keeper interface {
	Alerts(ctx context.Context) ([]Alert, error)
	// KeepAlerts stores open alerts and removes closed ones, all or nothing.
	KeepAlerts(ctx context.Context, open []Alert, closed []Alert) error
}

// AgentHealth tracks the health of agents. It is safe for concurrent use.
type AgentHealth struct {
	keeper Keeper
	now    func() time.Time

	mu     sync.Mutex
	health map[string]Health
	alerts map[alertID]*Alert
	shelf  map[alertID]*Alert   // those that a person cleared while their agent was disconnected
	count  map[string]int       // open alerts per agent
	dirty  map[alertID]struct{} // not stored yet; those not in alerts were closed
	news   chan struct{}        // wakes Run; holds one entry
	refuse uint64
	watch  map[int]func(Alert)
	next   int
}

// Open returns an AgentHealth with the stored alerts.
func Open(ctx context.Context, keeper Keeper, now func() time.Time) (*AgentHealth, error) {
	r := &AgentHealth{
		keeper: keeper, now: now, health: map[string]Health{}, alerts: map[alertID]*Alert{}, shelf: map[alertID]*Alert{}, count: map[string]int{},
		dirty: map[alertID]struct{}{}, news: make(chan struct{}, 1), watch: map[int]func(Alert){},
	}
	list, err := keeper.Alerts(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		r.alerts[list[i].id()] = &list[i]
		r.count[list[i].Agent]++
	}
	return r, nil
}

var (
	errHealth   = errors.New(`a health message is an object such as {"status":"good","context":"…","interval":60}, with the interval in seconds`)
	errStatus   = errors.New("is not a status; say good, bad, starting or unknown")
	errInterval = fmt.Errorf("must be a number of seconds from 0 to %d", maxInterval)
	errContext  = fmt.Errorf("has more than %d bytes; say it shorter", maxText)
)

// Health processes an agent's report about itself. It fails with fault.Invalid.
func (r *AgentHealth) Health(agent string, message []byte) error {
	const op = "presence.Health"
	var m struct {
		Status   Status          `json:"status"`
		Context  json.RawMessage `json:"context"`
		Interval float64         `json:"interval"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return fault.E(op, fault.Invalid, agent, fmt.Errorf("%w: %w", errHealth, err))
	}
	switch m.Status {
	case Good, Bad, Starting, Unknown:
	default:
		return fault.E(op, fault.Invalid, agent, fmt.Errorf("%.40q %w", m.Status, errStatus))
	}
	if !(m.Interval >= 0 && m.Interval <= maxInterval) {
		return fault.E(op, fault.Invalid, agent, fmt.Errorf("the interval %w", errInterval))
	}
	if len(m.Context) > maxText {
		return fault.E(op, fault.Invalid, agent, fmt.Errorf("the context %w", errContext))
	}
	if string(m.Context) == "null" {
		m.Context = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.health[agent] = Health{
		Status: m.Status, Context: m.Context, Interval: time.Duration(m.Interval * float64(time.Second)), At: r.now(),
	}
	return nil
}

// Forget resets the health of an agent that has reconnected. Its alerts that were cleared while it was away reopen,
// until it clears them.
func (r *AgentHealth) Forget(agent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.health, agent)
	for id, a := range r.shelf {
		if id.agent == agent {
			delete(r.shelf, id)
			r.open(a)
			r.changed(*a)
		}
	}
}

// Leave removes a deleted agent, and ends its alerts: nobody else would.
func (r *AgentHealth) Leave(agent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.health, agent)
	for id := range r.shelf {
		if id.agent == agent {
			r.unshelve(id)
		}
	}
	now := r.now().UTC().Truncate(time.Microsecond)
	for id := range r.alerts {
		if id.agent == agent {
			r.end(id, now)
		}
	}
}

// Look returns the health of an agent that has been connected since a time; the zero time if it is not connected.
func (r *AgentHealth) Look(agent string, since time.Time) Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, said := r.health[agent]
	switch {
	case since.IsZero():
		h.Status = Offline
	case !said:
		h.Status = Unknown
	case h.Interval > 0 && r.now().Sub(h.At) > silentAfter*h.Interval:
		h.Status = Silent
	}
	return h
}

// Refused returns how many messages about alerts were refused because they were invalid or too many.
func (r *AgentHealth) Refused() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refuse
}

// Run stores alerts as they change until ctx ends, and then the rest.
func (r *AgentHealth) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return r.keep(context.WithoutCancel(ctx))
		case <-r.news:
		}
		pause := keepEvery
		if err := r.keep(ctx); err != nil { // the disk may have space again later
			pause = keepAgain
			r.wake()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// How long Run waits after a write, so that constantly repeated alerts cost little, and after a failed one.
const (
	keepEvery = time.Second
	keepAgain = 5 * time.Second
)

// keep stores changes.
func (r *AgentHealth) keep(ctx context.Context) error {
	r.mu.Lock()
	var open, closed []Alert
	for id := range r.dirty {
		if a := r.alerts[id]; a != nil {
			open = append(open, *a)
		} else {
			closed = append(closed, Alert{Agent: id.agent, Key: id.key})
		}
	}
	clear(r.dirty)
	r.mu.Unlock()
	if len(open)+len(closed) == 0 {
		return nil
	}
	err := r.keeper.KeepAlerts(ctx, open, closed)
	if err != nil {
		r.mu.Lock()
		for _, a := range slices.Concat(open, closed) {
			r.dirty[a.id()] = struct{}{}
		}
		r.mu.Unlock()
	}
	return err
}

func (r *AgentHealth) wake() {
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// Open lists the keys of the open alerts of an agent.
func (r *AgentHealth) Open(agent string) (keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.alerts {
		if id.agent == agent {
			keys = append(keys, id.key)
		}
	}
	return keys
}

// List returns the open alerts: most severe first, and newest first among equals.
func (r *AgentHealth) List() []Alert {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Alert, 0, len(r.alerts))
	for _, a := range r.alerts {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Alert) int {
		return cmp.Or(b.Severity.rank()-a.Severity.rank(), b.Last.Compare(a.Last), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Key, b.Key))
	})
	return list
}
