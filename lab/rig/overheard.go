package rig

import (
	"sync"
	"time"

	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/lab/load"
	"voltbus/wire"
)

// Overheard measures how long after their time live messages arrive at a node. It is safe for concurrent use.
type Overheard struct {
	client *peer.Client

	mu    sync.Mutex
	h     *load.Histogram
	begun time.Time // messages of before do not count
	lost  error
}

// Overhear listens to all live messages of a node's bus, as the holder of a reader's key does. Close it.
func Overhear(l Listener) (*Overheard, error) {
	o := &Overheard{h: load.NewHistogram(), begun: time.Now()}
	client, err := l.dial(func(err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.lost = err
	})
	if err != nil {
		return nil, err
	}
	o.client = client
	if err := client.Listen(wire.ScanPrefix+">", 0, func(_ string, data []byte) { o.note(data, time.Now()) }); err != nil {
		client.Close()
		return nil, err
	}
	return o, nil
}

func (o *Overheard) note(data []byte, now time.Time) {
	t, err := time.Parse(time.RFC3339, string(field(data, `"time":"`)))
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil && !t.Before(o.begun) {
		o.h.Add(now.Sub(t))
	}
}

// Begin discards earlier measurements.
func (o *Overheard) Begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.h, o.begun = load.NewHistogram(), time.Now()
}

// Delays returns how long after their time messages arrived since the beginning. It fails if some
// were lost, since they came faster than they were taken.
func (o *Overheard) Delays() (*load.Histogram, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return nil, fault.E("rig.Overheard", fault.Unavailable, "listener", o.lost)
	}
	h := load.NewHistogram()
	h.Merge(o.h)
	return h, nil
}

// Close ends the listening.
func (o *Overheard) Close() { o.client.Close() }
