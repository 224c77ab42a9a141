package catalog

import (
	"context"
	"time"
)

// RepeatLife is how long the answer to a write with an idempotency key is kept by default.
const RepeatLife = 24 * time.Hour

// maxRepeats is how many answers are kept: beyond that the oldest are removed.
const maxRepeats = 100_000

// Repeat is a write with an idempotency key.
type Repeat struct {
	User   string
	Key    string
	Hash   [32]byte  // of the request
	At     time.Time // time of the first request
	Status int       // status of the answer; 0 if there is none yet
	Answer []byte
	Sent   bool // the answer has been sent: storing it may wait briefly to share the transaction of another write
}

// Repeats remembers writes for some time. It is safe for concurrent use.
type Repeats struct {
	notes *notes
	life  time.Duration
}

// Repeats returns the memory of writes that keeps each so long; 0 for RepeatLife. They share their storage:
// the shortest time applies.
func (n *notes) Repeats(life time.Duration) Repeats {
	if life == 0 {
		life = RepeatLife
	}
	return Repeats{n, life}
}

// BeginRepeat records a write before it is done, and returns what is known about an earlier one with the same
// user and key: its time, its request and, if it ended, its answer. Without one it returns r. Both it and
// EndRepeat return when their record is on disk; concurrent calls share a transaction.
func (m Repeats) BeginRepeat(ctx context.Context, r Repeat) (Repeat, error) {
	n := &note{repeat: r, last: r.At.Add(-m.life)}
	if err := m.notes.put(ctx, n); err != nil {
		return r, wrap("catalog.BeginRepeat", r.Key, err)
	}
	return n.repeat, nil
}

// EndRepeat stores the answer to a write recorded by BeginRepeat.
func (m Repeats) EndRepeat(ctx context.Context, r Repeat) error {
	return wrap("catalog.EndRepeat", r.Key, m.notes.put(ctx, &note{repeat: r, ends: true}))
}
