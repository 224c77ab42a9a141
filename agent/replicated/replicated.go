// Package replicated installs agents at all replicas, and has each run at one of them.
package replicated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/agent"
	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/atomicfile"
)

// Store keeps records and packages at all replicas, as package bus/bucket does.
type Store interface {
	List(ctx context.Context, each func(key string, data []byte, revision uint64)) error
	Get(ctx context.Context, key string) (data []byte, revision uint64, err error)
	Put(ctx context.Context, key string, data []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, key string) error
	Store(ctx context.Context, name string, from io.Reader) error
	Load(ctx context.Context, name string, take func(io.Reader) error) error
	Discard(ctx context.Context, name string) error
}

// Config is what Agents need. A zero Config is that of a node alone.
type Config struct {
	Store Store // nil for a node alone
	// Want says which agents this replica can run; busy reports whether one still has a process.
	Want       func(names []string, busy func(name string) bool)
	Data       string // the data directory
	Identities agent.Identities
	Log        *slog.Logger
}

// Agents are the agents of a supervisor, which all replicas have. They are safe for concurrent use.
type Agents struct {
	*agent.Supervisor
	cfg Config

	changing sync.Mutex         // one change at a time: what is intended is written before it is done
	applied  map[string]uint64  // the revisions of the records that this replica has applied
	failed   map[string]failure // what could not be installed here
	names    []string           // whose rights are asked for, once they are named
	named    bool
}

// failure is an installation that failed.
type failure struct {
	revision uint64
	again    time.Time
}

// record is what all replicas know of an agent.
type record struct {
	Serial    uint64          `json:"serial"` // of its package; grows with each installation
	Entry     string          `json:"entry,omitempty"`
	Seed      string          `json:"seed"` // its key
	Grants    identity.Grants `json:"grants"`
	Memory    int64           `json:"memory,omitempty"`
	Priority  int             `json:"priority"`
	Wanted    bool            `json:"wanted,omitempty"`
	Autostart agent.Autostart `json:"autostart,omitempty"`
}

const (
	lookEvery = time.Second
	pause     = 30 * time.Second // after an installation that failed
	saveTime  = 10 * time.Second

	serialFile = "replicated.json" // in an agent's folder: which package is installed here
)

// MaxBytes bounds the packages of all agents.
const MaxBytes = 4 << 30

// New returns the agents of a supervisor. It starts nothing.
func New(s *agent.Supervisor, cfg Config) *Agents {
	return &Agents{Supervisor: s, cfg: cfg, applied: map[string]uint64{}, failed: map[string]failure{}}
}

func (a *Agents) place(name string) place.Place {
	return place.Place(filepath.Join(a.cfg.Data, place.Agents, name))
}

// serial returns the serial number of the installed package; 0 for an agent that only this replica has.
func (a *Agents) serial(name string) uint64 {
	var n uint64
	text, err := os.ReadFile(a.place(name).In(serialFile))
	if err != nil || json.Unmarshal(text, &n) != nil {
		return 0
	}
	return n
}

func (a *Agents) setSerial(name string, n uint64) error {
	file := a.place(name).In(serialFile)
	if err := (atomicfile.Writer{}).Write(file, fmt.Append(nil, n), 0o600); err != nil {
		return fault.E("replicated.setSerial", fault.Unavailable, file, err)
	}
	return nil
}

// packageOf is the name of a package in the store.
func packageOf(name string, serial uint64) string { return fmt.Sprintf("%s/%d", name, serial) }

var errShared = errors.New("the agents of replicas have no versions to go back to; install the earlier package again")

// Rollback runs the version before the newest again, see agent.Supervisor; fault.Conflict for an agent that all replicas have.
func (a *Agents) Rollback(ctx context.Context, name, by string, may agent.May) (agent.Status, error) {
	if a.cfg.Store != nil && a.serial(name) > 0 {
		return agent.Status{}, fault.E("replicated.Rollback", fault.Conflict, name, errShared)
	}
	return a.Supervisor.Rollback(ctx, name, by, may)
}

// Start starts an agent at the replica that has the right to run it.
func (a *Agents) Start(ctx context.Context, name, by string) (agent.Status, error) {
	return a.intend(ctx, name, func(r *record) { r.Wanted = true }, func() (agent.Status, error) { return a.Supervisor.Start(ctx, name, by) })
}

// Stop ends an agent.
func (a *Agents) Stop(ctx context.Context, name, by string) (agent.Status, error) {
	return a.intend(ctx, name, func(r *record) { r.Wanted = false }, func() (agent.Status, error) { return a.Supervisor.Stop(ctx, name, by) })
}

// Restart ends an agent and starts it again.
func (a *Agents) Restart(ctx context.Context, name, by string) (agent.Status, error) {
	return a.intend(ctx, name, func(r *record) { r.Wanted = true }, func() (agent.Status, error) { return a.Supervisor.Restart(ctx, name, by) })
}

// Enable sets whether an agent is started when its node is.
func (a *Agents) Enable(ctx context.Context, name, by string, s agent.Autostart) (agent.Status, error) {
	return a.intend(ctx, name, func(r *record) { r.Autostart = s }, func() (agent.Status, error) { return a.Supervisor.Enable(ctx, name, by, s) })
}

// Approve gives an agent all grants that it requests.
func (a *Agents) Approve(ctx context.Context, name, by string, version int) (agent.Status, error) {
	st, err := a.Supervisor.Approve(ctx, name, by, version)
	if err == nil {
		err = a.Regranted(ctx, name)
	}
	return st, err
}

// Regranted tells the other replicas what an agent may do at this one now. An agent that only this one has is left alone.
func (a *Agents) Regranted(ctx context.Context, name string) error {
	if a.cfg.Store == nil || a.serial(name) == 0 {
		return nil
	}
	grants, err := a.cfg.Identities.Grants(ctx, name)
	if err == nil {
		_, err = a.intend(ctx, name, func(r *record) { r.Grants = grants }, func() (agent.Status, error) { return agent.Status{}, nil })
	}
	return err
}

// intend changes what all replicas know of an agent, and then does it here.
func (a *Agents) intend(ctx context.Context, name string, change func(*record), do func() (agent.Status, error)) (agent.Status, error) {
	if a.cfg.Store == nil || a.serial(name) == 0 {
		return do()
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	if err := a.update(ctx, name, change); err != nil {
		return agent.Status{}, err
	}
	return do()
}

// update changes a record. The lock is held.
func (a *Agents) update(ctx context.Context, name string, change func(*record)) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	for {
		data, revision, err := a.cfg.Store.Get(ctx, name)
		if err != nil {
			return err
		}
		var r record
		if revision > 0 {
			if err := json.Unmarshal(data, &r); err != nil {
				return fault.E("replicated.update", fault.Corrupt, name, err)
			}
		}
		change(&r)
		if data, err = json.Marshal(&r); err != nil {
			return fault.E("replicated.update", fault.Internal, name, err)
		}
		revision, err = a.cfg.Store.Put(ctx, name, data, revision)
		if fault.Is(err, fault.Conflict) && ctx.Err() == nil {
			continue
		}
		if err == nil {
			a.applied[name] = revision
		}
		return err
	}
}
