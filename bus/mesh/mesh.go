// Package mesh carries what the replicas of a cluster tell and ask each other, and opens journals that all of them write: what is in one
// is on the disks of a majority, and has the same order for everyone.
package mesh

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Config is what a mesh is made from.
type Config struct {
	Self   string
	Others func() []string // the names of the other replicas, sorted
	Conn   *nats.Conn
	Look   func() cluster.Status
	Open   func(context.Context, blocklog.Config) (*blocklog.Log, error)
}

// Mesh is what a replica has in common with the others. It is safe for concurrent use.
type Mesh struct{ cfg Config }

// New returns the mesh of a replica.
func New(cfg Config) *Mesh { return &Mesh{cfg} }

// Self returns the name of this replica.
func (m *Mesh) Self() string { return m.cfg.Self }

// Others returns the names of the other replicas, sorted.
func (m *Mesh) Others() []string { return m.cfg.Others() }

// Reached returns which other replicas are reached now, and why nothing can be acknowledged here: nil if a majority is there.
func (m *Mesh) Reached() (names map[string]bool, trouble error) {
	s := m.cfg.Look()
	names = map[string]bool{}
	for _, p := range s.Replicas {
		if p.Connected && p.Name != s.Self {
			names[p.Name] = true
		}
	}
	return names, s.Trouble()
}

// subject is where a replica listens for something, from another one.
func subject(to, what, from string) string { return "mesh." + to + "." + what + "." + from }

// most bytes that wait for a handler; what comes then is lost.
const maxWaiting = 64 << 20

// Serve calls handle with what others tell and ask this replica, one at a time, in the order in which each sent it. What it
// returns is the answer; nil gives none.
func (m *Mesh) Serve(what string, handle func(from string, data []byte) []byte) error {
	sub, err := m.cfg.Conn.Subscribe(subject(m.cfg.Self, what, "*"), func(msg *nats.Msg) {
		from := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
		if answer := handle(from, msg.Data); answer != nil && msg.Reply != "" {
			_ = msg.Respond(answer) // who asked may be gone
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, maxWaiting)
	}
	if err == nil {
		err = m.cfg.Conn.Flush()
	}
	if err != nil {
		return fault.E("mesh.Serve", fault.Unavailable, what, trouble.Of(err))
	}
	return nil
}

// Tell sends something to another replica, which gets it at most once.
func (m *Mesh) Tell(replica, what string, data []byte) error {
	if err := m.cfg.Conn.Publish(subject(replica, what, m.cfg.Self), data); err != nil {
		return fault.E("mesh.Tell", fault.Unavailable, replica, trouble.Of(err))
	}
	return nil
}

// Ask returns the answer of another replica: Unavailable if it is not reached, Timeout if it gives none in time.
func (m *Mesh) Ask(ctx context.Context, replica, what string, data []byte) ([]byte, error) {
	msg, err := m.cfg.Conn.RequestWithContext(ctx, subject(replica, what, m.cfg.Self), data)
	if err != nil {
		kind := fault.Unavailable
		if ctx.Err() != nil {
			kind = fault.Timeout
		}
		return nil, fault.E("mesh.Ask", kind, replica, trouble.Of(err))
	}
	return msg.Data, nil
}

// Journal opens the journal of a name, and makes it if there is none: of maxBytes at most, beyond which the oldest records are
// dropped. It waits until a majority of the replicas is there.
func (m *Mesh) Journal(ctx context.Context, name string, maxBytes int64) (blocklog.Journal, error) {
	l, err := m.cfg.Open(ctx, blocklog.Config{Journal: name, MaxBytes: maxBytes})
	return blocklog.Journal{Log: l}, err
}
