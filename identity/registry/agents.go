package registry

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

var (
	errPublic    = errors.New("is not a public key; it has 56 characters and begins with U")
	errNameTaken = errors.New("there is an agent of this name already; remove it first with voltbus agent remove, or choose another name")
	errKeyTaken  = errors.New("another agent has this key; make a new one")
	errNoAgent   = errors.New("there is no agent of this name; voltbus agent list shows them")
)

// Happening is what happened to an agent.
type Happening string

// What can happen to an agent.
const (
	AgentAdded   Happening = "added"
	AgentGranted Happening = "granted" // the grants changed
	AgentRevoked Happening = "revoked"
	AgentRemoved Happening = "removed"
)

// AgentChange describes an agent that changed.
type AgentChange struct {
	What   Happening
	Before Agent // zero when it was added
	After  Agent // zero when it was removed
}

// Agents is the registry of agents. It keeps them in memory, backed by durable storage. It is safe for
// concurrent use.
type Agents struct {
	storage AgentStorage
	now     func() time.Time

	changing sync.Mutex // one change at a time, up to its announcement

	mu        sync.RWMutex
	version   uint64
	byName    map[string]*Agent
	byKey     map[string]*Agent
	callers   map[string]map[string]bool // callee → agents with a grant to call it
	admins    map[string]bool
	listeners []func(AgentChange)
}

// OpenAgents reads the agents from the storage. now is the clock, such as time.Now.
func OpenAgents(ctx context.Context, storage AgentStorage, now func() time.Time) (*Agents, error) {
	list, err := storage.Agents(ctx)
	if err != nil {
		return nil, err
	}
	r := &Agents{
		storage: storage, now: now, version: 1,
		byName: make(map[string]*Agent, len(list)), byKey: make(map[string]*Agent, len(list)),
		callers: map[string]map[string]bool{}, admins: map[string]bool{},
	}
	for i := range list {
		r.enter(&list[i])
	}
	return r, nil
}

// Notify calls f with every change, after it takes effect and before the method that made it returns. f must
// not change the registry. Call it before the registry is used.
func (r *Agents) Notify(f func(AgentChange)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(r.listeners, f)
}

// Add registers an agent with a public key that was generated elsewhere. A wrong name, key or grant is
// fault.Invalid, a name or key in use fault.Conflict.
func (r *Agents) Add(ctx context.Context, name, public string, grants identity.Grants) (Agent, error) {
	const op = "registry.Add"
	if err := identity.CheckAgentName(name); err != nil {
		return Agent{}, err
	}
	if !identity.IsPublicKey(public) {
		return Agent{}, fault.E(op, fault.Invalid, "public", errPublic)
	}
	if err := identity.CheckGrants(&grants); err != nil {
		return Agent{}, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	if _, err := r.Agent(name); err == nil {
		return Agent{}, fault.E(op, fault.Conflict, name, errNameTaken)
	}
	if _, taken := r.ByKey(public); taken {
		return Agent{}, fault.E(op, fault.Conflict, "public", errKeyTaken)
	}
	a := Agent{Name: name, Public: public, Grants: grants, Created: r.now()}
	return a, r.put(ctx, AgentChange{What: AgentAdded, After: a})
}

// SetGrants replaces the grants of an agent, effective at once; fault.NotFound if it does not exist.
func (r *Agents) SetGrants(ctx context.Context, name string, grants identity.Grants) (Agent, error) {
	return r.Regrant(ctx, name, func(g *identity.Grants) error { *g = grants; return nil })
}

// Regrant calls change to edit the grants of an agent, effective at once. No other change comes in between.
// change must not retain its argument, nor edit its slices and maps in place.
func (r *Agents) Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (Agent, error) {
	return r.alter(ctx, name, AgentGranted, func(a *Agent) error {
		if err := change(&a.Grants); err != nil {
			return err
		}
		return identity.CheckGrants(&a.Grants)
	})
}

// Revoke shuts an agent out: its connections end, and its key is refused. The name stays in use until the
// agent is removed. It is no error if it was revoked before.
func (r *Agents) Revoke(ctx context.Context, name string) (Agent, error) {
	return r.alter(ctx, name, AgentRevoked, func(a *Agent) error {
		if a.Active() {
			a.Revoked = r.now()
		}
		return nil
	})
}

func (r *Agents) alter(ctx context.Context, name string, what Happening, change func(*Agent) error) (Agent, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	before, err := r.Agent(name)
	if err != nil {
		return Agent{}, err
	}
	after := before
	if err := change(&after); err != nil {
		return Agent{}, err
	}
	return after, r.put(ctx, AgentChange{What: what, Before: before, After: after})
}

// put stores a change durably, then publishes it.
func (r *Agents) put(ctx context.Context, c AgentChange) error {
	if err := r.storage.PutAgent(ctx, c.After); err != nil {
		return err
	}
	r.mu.Lock()
	if old := r.byName[c.After.Name]; old != nil {
		r.leave(old)
	}
	r.enter(&c.After)
	r.version++
	listeners := r.listeners
	r.mu.Unlock()
	for _, f := range listeners {
		f(c)
	}
	return nil
}

// Remove removes an agent; fault.NotFound if it does not exist. Its key is then unknown.
func (r *Agents) Remove(ctx context.Context, name string) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	before, err := r.Agent(name)
	if err != nil {
		return err
	}
	if err := r.storage.DropAgent(ctx, name); err != nil {
		return err
	}
	r.mu.Lock()
	r.leave(r.byName[name])
	r.version++
	listeners := r.listeners
	r.mu.Unlock()
	for _, f := range listeners {
		f(AgentChange{What: AgentRemoved, Before: before})
	}
	return nil
}

// Agent returns the agent of the name; fault.NotFound if it does not exist.
func (r *Agents) Agent(name string) (Agent, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if a := r.byName[name]; a != nil {
		return *a, nil
	}
	return Agent{}, fault.E("registry.Agent", fault.NotFound, name, errNoAgent)
}

// ByKey returns the agent with the public key, including a revoked one.
func (r *Agents) ByKey(public string) (Agent, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if a := r.byKey[public]; a != nil {
		return *a, true
	}
	return Agent{}, false
}

// List returns all agents by name, including revoked ones.
func (r *Agents) List() []Agent {
	r.mu.RLock()
	list := make([]Agent, 0, len(r.byName))
	for _, a := range r.byName {
		list = append(list, *a)
	}
	r.mu.RUnlock()
	slices.SortFunc(list, func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Version counts the changes since the registry was opened, from 1.
func (r *Agents) Version() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.version
}

// Caller is a permitted caller of an agent, with its constraints.
type Caller struct {
	Name       string
	Call       []identity.CallGrant // for this agent
	Hold       []identity.CapabilityGrant
	Administer bool
}

// Callers lists by name the permitted callers of an agent, and their capabilities.
func (r *Agents) Callers(name string) []Caller {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := maps.Clone(r.admins)
	maps.Copy(names, r.callers[name])
	list := make([]Caller, 0, len(names))
	for _, n := range slices.Sorted(maps.Keys(names)) {
		a := r.byName[n]
		c := Caller{Name: n, Hold: a.Grants.Hold, Administer: a.Grants.Administer}
		for _, g := range a.Grants.Call {
			if g.Agent == name {
				c.Call = append(c.Call, g)
			}
		}
		list = append(list, c)
	}
	return list
}

// enter adds an agent to the indexes.
func (r *Agents) enter(a *Agent) {
	r.byName[a.Name], r.byKey[a.Public] = a, a
	if !a.Active() {
		return
	}
	if a.Grants.Administer {
		r.admins[a.Name] = true
	}
	for i := range a.Grants.Call {
		callee := a.Grants.Call[i].Agent
		if r.callers[callee] == nil {
			r.callers[callee] = map[string]bool{}
		}
		r.callers[callee][a.Name] = true
	}
}

// leave is the inverse of enter.
func (r *Agents) leave(a *Agent) {
	delete(r.byName, a.Name)
	delete(r.byKey, a.Public)
	delete(r.admins, a.Name)
	for i := range a.Grants.Call {
		callee := a.Grants.Call[i].Agent
		delete(r.callers[callee], a.Name)
		if len(r.callers[callee]) == 0 {
			delete(r.callers, callee)
		}
	}
}
