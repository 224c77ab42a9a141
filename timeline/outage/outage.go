// Package outage notices that devices stop answering and answer again, for the audit log.
package outage

import (
	"context"
	"time"

	"voltbus/device"
	"voltbus/device/acquisition"
)

// Turn is that devices stopped answering, or answer again.
type Turn struct {
	Lost    bool
	First   string // a device
	Devices int    // how many
	Why     string // why the first does not answer
	Lasted  time.Duration
}

// Devices lists the devices of a node.
type Devices func() []device.State

// Options are what a watcher needs.
type Options struct {
	Devices Devices
	Told    func(Turn)
	Now     func() time.Time
}

// Watcher compares what devices do with what they did before.
type Watcher struct {
	o    Options
	seen map[string]*state
}

type state struct {
	lost  bool      // it has been told
	since time.Time // when it was first seen not answering; zero while it answers
	round uint64
}

// New returns a watcher. It starts nothing.
func New(o Options) *Watcher { return &Watcher{o: o, seen: map[string]*state{}} }

const (
	every = 2 * time.Second
	// patience is how long a device must not answer before it is told.
	patience = 10 * time.Second
	// single is how many devices are told one by one at a time.
	single = 5
)

// Run watches until ctx ends, and returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	clock := time.NewTicker(every)
	defer clock.Stop()
	for round := uint64(1); ; round++ {
		w.look(round)
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
	}
}

// look compares once. A device that has not answered since the node began is not told: nobody knows when it stopped.
func (w *Watcher) look(round uint64) {
	now := w.o.Now()
	var gone, back []Turn
	devices := w.o.Devices()
	for i := range devices {
		d := &devices[i]
		answers, lost := d.Status == acquisition.Online, d.Status == acquisition.Offline || d.Status == acquisition.Hung
		s := w.seen[string(d.Path)]
		if s == nil {
			if !answers {
				continue
			}
			s = &state{}
			w.seen[string(d.Path)] = s
		}
		s.round = round
		switch {
		case lost && s.since.IsZero():
			s.since = now
		case lost && !s.lost && now.Sub(s.since) >= patience:
			s.lost = true
			gone = append(gone, Turn{Lost: true, First: string(d.Path), Devices: 1, Why: d.LastError})
		case answers:
			if s.lost {
				back = append(back, Turn{First: string(d.Path), Devices: 1, Lasted: now.Sub(s.since)})
			}
			s.lost, s.since = false, time.Time{}
		}
	}
	for path, s := range w.seen {
		if s.round != round {
			delete(w.seen, path)
		}
	}
	w.tell(gone)
	w.tell(back)
}

// tell tells of a few devices one by one, and of many at once.
func (w *Watcher) tell(list []Turn) {
	if len(list) > single {
		list[0].Devices = len(list)
		list = list[:1]
	}
	for _, t := range list {
		w.o.Told(t)
	}
}
