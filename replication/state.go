package replication

import (
	"context"
	"time"

	"voltbus/bus/blocklog"
	"voltbus/internal/host"
	"voltbus/recorder"
	"voltbus/store"
)

// State is what a replica tells the others of itself each second.
type State struct {
	Name           string
	Version        string
	Started        time.Time
	Drain          string // "", Draining or Drained
	Note           string // what it waits for, or what is not well
	Clients        int
	MQTT           string `json:",omitempty"` // where MQTT clients reach it, host:port; "" if that is not known
	Disk, DiskSize int64
	Store          string // files, none or the name of a database
	Log            blocklog.Copies
	Acknowledged   map[string]Place // by origin: of its own, and of those whose blocks it records
	Own            []string         // its own origins
	Stored         map[string]Place // by origin
}

// Place is a position in what an origin recorded.
type Place struct {
	Sequence uint64 // of a block
	Samples  uint64 // up to it
	Missing  uint64 `json:",omitempty"` // of them, those that were lost
}

// States of Drain.
const (
	Draining = "draining"
	Drained  = "drained"
)

// Recorder knows what this replica acknowledged. See recorder.Recorder.
type Recorder interface {
	Lanes() []recorder.Stats
	Others() map[string]recorder.Position
}

// Channel carries messages among replicas. See cluster.Channel.
type Channel interface {
	Tell(topic string, data []byte) error
	Hear(topic string, hear func(from string, data []byte)) (stop func(), err error)
}

// Store knows how far this replica has stored what all recorded. Positions is nil for a witness.
type Store struct {
	Name      string // files, none or the name of a database
	Positions func(ctx context.Context) (map[string]store.Position, error)
}

// gatherTime bounds how long a replica takes to look after itself.
const gatherTime = 800 * time.Millisecond

// gather returns the state of this replica.
func (r *Replicas) gather(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, gatherTime)
	defer cancel()
	s := State{
		Name: r.cfg.Self, Version: r.cfg.Version, Started: r.cfg.Started, Clients: r.cfg.Clients(), MQTT: r.cfg.MQTT, Store: r.cfg.Store.Name,
		Acknowledged: map[string]Place{}, Stored: map[string]Place{},
	}
	s.Drain, s.Note = r.draining()
	s.Disk, s.DiskSize = host.FreeSpace(r.cfg.Dir)
	var err error
	if s.Log, err = r.cfg.Copies(ctx); err != nil {
		s.Log.Leader = ""
	}
	for origin, p := range r.cfg.Recorder.Others() {
		s.Acknowledged[origin] = Place{Sequence: p.Sequence, Samples: p.Samples}
	}
	for _, lane := range r.cfg.Recorder.Lanes() {
		s.Own = append(s.Own, lane.Origin)
		s.Acknowledged[lane.Origin] = Place{Sequence: lane.Sequence, Samples: lane.Acknowledged}
	}
	if r.cfg.Store.Positions == nil {
		return s
	}
	positions, err := r.cfg.Store.Positions(ctx)
	if err != nil {
		s.Note = "its store does not answer: " + err.Error()
	}
	for origin, p := range positions {
		s.Stored[origin] = Place{Sequence: p.Sequence, Samples: p.Samples, Missing: p.Missing + p.Left}
	}
	return s
}
