// Package replication knows how the replicas of a cluster are: each tells the others, and each can say for all whether
// anything that was acknowledged is lost.
package replication

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/fault"
)

// Config are the parts of a replica that are looked at.
type Config struct {
	Self, Version string
	Started       time.Time
	Look          func() cluster.Status // whom this replica reaches
	Channel       Channel
	Copies        func(context.Context) (blocklog.Copies, error) // of the log of this replica
	Recorder      Recorder
	Store         Store
	Clients       func() int // MQTT clients that are connected
	MQTT          string     // where MQTT clients reach this replica, host:port; "" if that is not known
	Leases        Leases     // nil for none
	Witness       bool       // this replica takes no readings
	Dir           string     // the data directory
	Now           func() time.Time
	Logger        *slog.Logger
	Membership    Membership
	Broker        Broker // nil for a replica without MQTT clients
}

// Membership follows and changes which replicas there are. See cluster.Membership.
type Membership interface {
	Run(ctx context.Context) error
	Add(ctx context.Context, name, address string, witness bool) error
	Remove(ctx context.Context, name string) error
}

// Replicas knows the replicas. Its methods are safe for concurrent use; on a nil Replicas, that of a node alone, they say so.
type Replicas struct {
	cfg Config

	mu    sync.Mutex
	seen  map[string]*seen
	proof proof
	drain drain

	trouble atomic.Pointer[error] // why nothing is acknowledged here
}

// seen is what is known of a replica.
type seen struct {
	reached bool
	joining bool // it has not started yet, and nothing is expected of it
	since   time.Time
	heard   time.Time // when it told last; zero for never
	state   State
	course  course
}

const (
	tellEvery = time.Second
	// fresh is how old what a replica told may be to count for now.
	fresh = 4 * tellEvery
	// maxState bounds what a replica tells, in bytes.
	maxState = 1 << 20
	topic    = "state"
)

// New returns the knowledge of a replica that starts.
func New(cfg Config) *Replicas { return &Replicas{cfg: cfg, seen: map[string]*seen{}} }

// Run tells the others how this replica is and hears how they are until ctx ends.
func (r *Replicas) Run(ctx context.Context) error {
	if r == nil {
		<-ctx.Done()
		return nil
	}
	stop, err := r.cfg.Channel.Hear(topic, r.hear)
	if err != nil {
		return err
	}
	defer stop()
	stopDrain, err := r.cfg.Channel.Hear(drainTopic, func(_ string, data []byte) { r.ordered(data) })
	if err != nil {
		return err
	}
	defer stopDrain()
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { _ = r.cfg.Membership.Run(ctx) }) // returns nil
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		r.move()
		r.tell(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// tell looks after this replica, and tells the others.
func (r *Replicas) tell(ctx context.Context) {
	status := r.cfg.Look()
	trouble := status.Trouble()
	r.trouble.Store(&trouble)
	own := r.gather(ctx)
	r.mu.Lock()
	r.reach(&status)
	r.take(own)
	r.mu.Unlock()
	data, err := json.Marshal(own)
	if err == nil {
		err = r.cfg.Channel.Tell(topic, data)
	}
	if err != nil {
		r.cfg.Logger.DebugContext(ctx, "the other replicas are not told", slog.Any("err", err))
	}
}

// hear takes what another replica told.
func (r *Replicas) hear(from string, data []byte) {
	var s State
	if from == r.cfg.Self || len(data) > maxState || json.Unmarshal(data, &s) != nil || s.Name != from {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(s)
}

// reach notes whom this replica reaches, and since when.
func (r *Replicas) reach(status *cluster.Status) {
	now, members := r.cfg.Now(), map[string]bool{}
	for _, p := range status.Replicas {
		members[p.Name] = true
		s := r.of(p.Name)
		if s.joining = p.Joining; s.since.IsZero() || s.reached != p.Connected {
			s.reached, s.since = p.Connected, now
		}
	}
	for name := range r.seen {
		if !members[name] {
			delete(r.seen, name)
		}
	}
}

// take keeps what a replica told, and compares it with what the others told.
func (r *Replicas) take(s State) {
	one := r.of(s.Name)
	one.state, one.heard = s, r.cfg.Now()
	one.course.note(one.heard, s.acknowledged())
	r.proof.compare(r.seen, one.heard)
}

func (r *Replicas) of(name string) *seen {
	if r.seen[name] == nil {
		r.seen[name] = &seen{}
	}
	return r.seen[name]
}

// acknowledged counts the samples of the replica's own origins.
func (s *State) acknowledged() (samples uint64) {
	for _, origin := range s.Own {
		samples += s.Acknowledged[origin].Samples
	}
	return samples
}

var errWitness = errors.New("this replica is a witness, and takes no readings; send them to another one")

var errAlone = errors.New("this node is alone: its configuration has no section cluster")

// Add lists one more replica, a witness or not, or another address of one.
func (r *Replicas) Add(ctx context.Context, name, address string, witness bool) error {
	if r == nil {
		return fault.E("cluster.add", fault.Conflict, "", errAlone)
	}
	return r.cfg.Membership.Add(ctx, name, address, witness)
}

// Remove takes a replica out of the cluster, and returns when nothing depends on it any more. See cluster.Membership.
func (r *Replicas) Remove(ctx context.Context, name string) error {
	if r == nil {
		return fault.E("cluster.remove", fault.Conflict, "", errAlone)
	}
	return r.cfg.Membership.Remove(ctx, name)
}

// Trouble says why nothing can be acknowledged at this replica, as of the last second; nil if it can.
func (r *Replicas) Trouble() error {
	if r == nil {
		return nil
	}
	if r.cfg.Witness {
		return fault.E("replication.Trouble", fault.Unavailable, r.cfg.Self, errWitness)
	}
	if why := r.trouble.Load(); why != nil {
		return *why
	}
	return nil
}
