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
	Identities Identities
	Documents  Documents
	Log        *slog.Logger
}

// Identities are the agents' keys and rights at this replica.
type Identities interface {
	agent.Identities
	// Revoked reports whether an agent is shut out.
	Revoked(name string) bool
	// Revoke shuts an agent out.
	Revoke(ctx context.Context, name string) error
}

// Document is a document of an agent.
type Document struct {
	Type string `json:"type,omitempty"`
	Text string `json:"text"`
}

// Documents are the agents' documents at this replica.
type Documents interface {
	// All returns the documents of an agent by their names.
	All(ctx context.Context, agent string) (map[string]Document, error)
	Set(ctx context.Context, agent, name string, d Document) error
	Delete(ctx context.Context, agent, name string) error
}

// Agents are the agents of a supervisor, which all replicas have. They are safe for concurrent use.
type Agents struct {
	*agent.Supervisor
	cfg Config

	changing sync.Mutex         // one change at a time: what is intended is written before it is done
	applied  map[string]uint64  // the revisions of the records that this replica has applied
	seen     map[string]state   // what was known of an agent here when it was compared last with its record
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
	Memory    int64           `json:"memory,omitempty"`
	Priority  int             `json:"priority"`
	Wanted    bool            `json:"wanted,omitempty"`
	Autostart agent.Autostart `json:"autostart,omitempty"`
	State     state           `json:"state"`
}

// state is what may change at each replica for itself.
type state struct {
	Grants    identity.Grants     `json:"grants"`
	Revoked   bool                `json:"revoked,omitempty"`
	Documents map[string]Document `json:"documents"`
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
	return &Agents{Supervisor: s, cfg: cfg, applied: map[string]uint64{}, seen: map[string]state{}, failed: map[string]failure{}}
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

// maxRecord bounds what replicas know of an agent, in bytes.
const maxRecord = 4 << 20

var errRecord = fmt.Errorf("its documents have more than %d MiB, and are not passed on to the other replicas; put less into them", maxRecord>>20)

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
		if len(data) > maxRecord {
			return fault.E("replicated.update", fault.Invalid, name, errRecord)
		}
		next, err := a.cfg.Store.Put(ctx, name, data, revision)
		if fault.Is(err, fault.Conflict) && ctx.Err() == nil {
			continue
		}
		if err == nil && (revision == 0 || a.applied[name] == revision) { // otherwise a change of another replica is still to be applied
			a.applied[name] = next
		}
		return err
	}
}
