package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
)

// Broker has the MQTT clients of this replica. See broker.Drain.
type Broker interface {
	Close(closed bool, another func() string)
	Shed(n int) (left int)
}

// Leases are what only one replica uses at a time. See lease.Leases.
type Leases interface {
	Drain(drained bool)
	Giving() int
}

// drain is how far this replica is with being drained.
type drain struct {
	state string // "", Draining or Drained
	note  string
	pace  int // clients each second
}

// drainTopic carries order.
const drainTopic = "drain"

// order tells a replica to drain, or not to.
type order struct {
	Replica string
	Undo    bool
}

// The pace at which clients are sent away: all within some 20 s, but not fewer than leastPace a second.
const (
	drainSeconds = 20
	leastPace    = 50
)

// The order is told again until the replica says that it follows: what replicas tell each other may be lost, as while one of them starts.
const (
	orderEvery = 250 * time.Millisecond
	orderTime  = 10 * time.Second
)

var errUnheard = errors.New("has not said that it follows; look at voltbus cluster status, and try it again")

// Drain has a replica send its clients to the others, give them its devices, and say when it may be stopped, or take clients again, and returns when
// it does so; Timeout if it does not say so. A restart undoes it.
func (r *Replicas) Drain(ctx context.Context, name string, undo bool) error {
	const op = "cluster.drain"
	if r == nil {
		return fault.E(op, fault.Conflict, "", errAlone)
	}
	if err := r.drainable(op, name, undo); err != nil {
		return err
	}
	data, err := json.Marshal(order{name, undo})
	if err != nil {
		return fault.E(op, fault.Internal, name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	again := time.NewTicker(orderEvery)
	defer again.Stop()
	for {
		if err := r.cfg.Channel.Tell(drainTopic, data); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fault.E(op, fault.Timeout, name, errUnheard)
		}
		if r.follows(name, undo) {
			return nil
		}
	}
}

// follows reports whether a replica says that it is being drained, or is not.
func (r *Replicas) follows(name string, undo bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen[name]
	return s != nil && (s.state.Drain == "") == undo
}

// drainable says why a replica cannot be drained, or take clients again.
func (r *Replicas) drainable(op, name string, undo bool) error {
	status, known := r.cfg.Look(), false
	for _, p := range status.Replicas {
		if p.Name != name {
			continue
		}
		if p.Witness {
			return fault.E(op, fault.Conflict, name, errors.New("is a witness, which has neither clients nor devices: stop it when all others are reached"))
		}
		if known = true; !p.Connected {
			return fault.E(op, fault.Unavailable, name, errors.New("is not reached from here; ask it itself, or remove it with voltbus cluster remove"))
		}
	}
	if !known {
		return fault.E(op, fault.NotFound, name, errors.New("is no replica; voltbus cluster status lists them"))
	}
	if !undo && status.Connected-1 < status.Majority {
		return fault.E(op, fault.Conflict, name, fmt.Errorf("%d of %d replicas are reached, and %d are needed without it; start the others first",
			status.Connected, status.Voting, status.Majority))
	}
	return nil
}

// ordered begins or ends the drain of this replica.
func (r *Replicas) ordered(data []byte) {
	var o order
	if json.Unmarshal(data, &o) != nil || o.Replica != r.cfg.Self {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if (r.drain.state == "") == o.Undo { // it was told before
		return
	}
	r.drain = drain{}
	if r.cfg.Leases != nil {
		r.cfg.Leases.Drain(!o.Undo)
	}
	if !o.Undo {
		r.drain = drain{state: Draining, note: "clients are sent to the other replicas", pace: max(leastPace, r.cfg.Clients()/drainSeconds)}
	}
	if r.cfg.Broker != nil {
		r.cfg.Broker.Close(!o.Undo, turns(r.elsewhere()))
	}
}

// elsewhere returns where MQTT clients reach the other replicas, as far as that is known. The lock is held.
func (r *Replicas) elsewhere() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		if s := r.seen[name]; name != r.cfg.Self && s.reached && s.state.Drain == "" && s.state.MQTT != "" {
			list = append(list, s.state.MQTT)
		}
	}
	return list
}

// turns returns what names the addresses of a list in turn; "" if it is empty.
func turns(list []string) func() string {
	next := 0
	return func() string {
		if len(list) == 0 {
			return ""
		}
		next++
		return list[next%len(list)]
	}
}

// move sends some clients away while this replica is drained.
func (r *Replicas) move() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drain.state == "" {
		return
	}
	left, giving := 0, 0
	if r.cfg.Leases != nil {
		giving = r.cfg.Leases.Giving()
	}
	if r.cfg.Broker != nil {
		r.cfg.Broker.Close(true, turns(r.elsewhere()))
		left = r.cfg.Broker.Shed(r.drain.pace)
	}
	r.drain.state, r.drain.note = Draining, ""
	waits, behind := r.unstored()
	switch {
	case left > 0:
		r.drain.note = plural.Of(left, "client") + " still here"
	case giving > 0:
		r.drain.note = plural.Of(giving, "lease") + " still here"
	case waits > 0 || behind != "":
		r.drain.note = fmt.Sprintf("%s to store at %s", plural.Of(waits, "sample"), behind)
	default:
		r.drain.state, r.drain.note = Drained, "it may be stopped"
	}
}

// unstored says which other replica has not stored all that this one acknowledged.
func (r *Replicas) unstored() (samples uint64, at string) {
	own, now := r.of(r.cfg.Self), r.cfg.Now()
	for name, s := range r.seen {
		if name == r.cfg.Self || s.joining || !s.reached {
			continue
		}
		if c := r.copyOf(own, name, now); c.Samples > 0 || now.Sub(s.heard) > fresh {
			samples, at = samples+c.Samples, name
		}
	}
	return samples, at
}

func (r *Replicas) draining() (state, note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drain.state, r.drain.note
}
