package catalog

import (
	"context"
	"time"
)

// RepeatLife is how long the answer to a write with an idempotency key is kept if nothing else is
// said.
const RepeatLife = 24 * time.Hour

// maxRepeats is how many answers are kept: beyond it the oldest are forgotten.
const maxRepeats = 100_000

// Repeat is a write with an idempotency key.
type Repeat struct {
	User   string
	Key    string
	Hash   [32]byte  // of what was asked
	At     time.Time // when it was asked first
	Status int       // of the answer; 0 if there is none yet
	Answer []byte
	Sent   bool // the answer was sent: to keep it may wait a moment for another write, whose transaction it shares
}

// Repeats remembers writes for a time. It is safe for concurrent use.
type Repeats struct {
	notes *notes
	life  time.Duration
}

// Repeats returns the memory of writes that keeps each so long; 0 for RepeatLife. They share what
// they remember: the shortest life holds.
func (n *notes) Repeats(life time.Duration) Repeats {
	if life == 0 {
		life = RepeatLife
	}
	return Repeats{n, life}
}

// BeginRepeat notes a write before it is done, and returns what is known of an earlier one with the
// same user and key: it then says when that was, what was asked and, if it ended, what the answer
// was. Without one it returns r. Both it and EndRepeat return when the disk has what they note; calls at the
// same time share a transaction.
func (m Repeats) BeginRepeat(ctx context.Context, r Repeat) (Repeat, error) {
	n := &note{repeat: r, last: r.At.Add(-m.life)}
	if err := m.notes.put(ctx, n); err != nil {
		return r, wrap("catalog.BeginRepeat", r.Key, err)
	}
	return n.repeat, nil
}

// EndRepeat keeps the answer to a write that BeginRepeat noted.
func (m Repeats) EndRepeat(ctx context.Context, r Repeat) error {
	return wrap("catalog.EndRepeat", r.Key, m.notes.put(ctx, &note{repeat: r, ends: true}))
}
