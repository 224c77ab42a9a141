// Package tally counts what became of the readings in the log of a member of a cluster: which were sent to it, which it keeps, which
// are for others, and which others passed on to it. The counts have a place in the log, so that each reading is counted once, whatever
// happens to the process.
package tally

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"voltbus/internal/atomicfile"
	"voltbus/meter/cluster"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/wire"
)

// Counts are readings. Each that was sent to this node is of Accepted; with copies it is for several members.
type Counts struct {
	Accepted uint64            `json:"accepted"`           // that were sent to this node, or to a node below it
	Kept     uint64            `json:"kept"`               // of them those that this node keeps
	For      map[string]uint64 `json:"for,omitempty"`      // of them those that other members keep, by member
	Received map[string]uint64 `json:"received,omitempty"` // that other members passed on, by member
	Left     uint64            `json:"left"`               // of Accepted: that nobody takes
}

func (c *Counts) clone() Counts {
	out := *c
	out.For, out.Received = maps.Clone(c.For), maps.Clone(c.Received)
	return out
}

// saved is what is remembered over a restart.
type saved struct {
	Log      string `json:"log"`
	Sequence uint64 `json:"sequence"` // of the last block that is counted
	Counts   Counts `json:"counts"`
}

// Check returns what is wrong with the content of the file of a tally.
func Check(content []byte) error { return json.Unmarshal(content, &saved{}) }

// Config is what a Tally needs.
type Config struct {
	File    string // remembers place and counts
	Blocks  sink.Log
	Members *cluster.Members
	Self    int    // of Members
	Own     string // the origin of readings that are sent to this node
	Now     func() time.Time
	Log     *slog.Logger
}

// Tally counts. Counts may be called at any time.
type Tally struct {
	cfg Config

	mu      sync.Mutex
	saved   saved
	pending []pending // blocks of which it is not known that the store has them
}

// pending is how many readings of a block this node keeps.
type pending struct{ sequence, readings uint64 }

// New returns a tally from the place on that its file remembers.
func New(c Config) *Tally {
	t := &Tally{cfg: c}
	data, err := os.ReadFile(c.File)
	if err == nil {
		err = json.Unmarshal(data, &t.saved)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.saved = saved{}
		c.Log.Warn("the counts of readings are forgotten; those in the log are counted anew", slog.String("file", c.File), slog.Any("err", err))
	}
	t.saved.Counts.fill()
	return t
}

func (c *Counts) fill() {
	if c.For == nil {
		c.For = map[string]uint64{}
	}
	if c.Received == nil {
		c.Received = map[string]uint64{}
	}
}

// Counts returns what was counted, and how many of the readings that this node keeps stand behind the block that its store has last.
func (t *Tally) Counts(stored uint64) (c Counts, unstored uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for n < len(t.pending) && t.pending[n].sequence <= stored {
		n++
	}
	t.pending = t.pending[n:]
	for _, p := range t.pending {
		unstored += p.readings
	}
	return t.saved.Counts.clone(), unstored
}

// The pauses after the log could not be read, and between two times that the counts are written.
const (
	retry    = time.Second
	keepEach = time.Second
)

// Run counts until ctx ends, and returns nil.
func (t *Tally) Run(ctx context.Context) error {
	var keeping sync.WaitGroup
	kept, end := context.WithCancel(context.WithoutCancel(ctx))
	keeping.Go(func() { t.keep(kept) })
	defer keeping.Wait()
	defer end()
	for ctx.Err() == nil {
		from, err := t.start(ctx)
		if err == nil {
			err = t.cfg.Blocks.Read(ctx, from, t.count())
		}
		if ctx.Err() != nil {
			break
		}
		t.cfg.Log.WarnContext(ctx, "the log cannot be read to count readings; it is tried again", slog.Any("err", err))
		pause(ctx, retry)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// start returns the sequence to read from. Another log is counted from its beginning, with the counts that there are.
func (t *Tally) start(ctx context.Context) (uint64, error) {
	_, last, err := t.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved.Log != t.cfg.Blocks.ID() || t.saved.Sequence > last {
		t.saved.Log, t.saved.Sequence = t.cfg.Blocks.ID(), 0
	}
	return t.saved.Sequence + 1, nil
}

// keep writes the counts as they change, until ctx ends, and a last time.
func (t *Tally) keep(ctx context.Context) {
	last := uint64(0)
	for {
		pause(ctx, keepEach)
		t.mu.Lock()
		s := t.saved
		s.Counts = t.saved.Counts.clone()
		t.mu.Unlock()
		if s.Sequence != last {
			data, err := json.Marshal(s)
			if err == nil {
				err = atomicfile.Writer{}.Write(t.cfg.File, data, 0o600)
			}
			if err == nil {
				last = s.Sequence
			} else if ctx.Err() == nil {
				t.cfg.Log.DebugContext(ctx, "the counts of readings cannot be written; they are counted anew after a restart", slog.Any("err", err))
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// count counts the readings of blocks.
func (t *Tally) count() func(uint64, []byte) error {
	var decoder wire.Decoder
	b := new(point.Block)
	return func(sequence uint64, data []byte) error {
		if err := decoder.DecodeBlock(data, b); err != nil || !point.IsMeterOrigin(b.Origin) || point.IsMeterEventOrigin(b.Origin) {
			b.Points, b.Point = nil, nil // such a block has no readings
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if n := t.add(b); n > 0 {
			t.pending = append(t.pending, pending{sequence, n})
		}
		t.saved.Sequence = sequence
		return nil
	}
}

// add counts the readings of a block, and returns how many this node keeps. The caller holds mu.
func (t *Tally) add(b *point.Block) (kept uint64) {
	c := &t.saved.Counts
	names := t.cfg.Members.Names()
	holders := make([][]int, len(b.Points)) // nil for what is no point of a channel
	for i, p := range b.Points {
		if k, ok := store.KeyOf(p); ok {
			holders[i] = t.cfg.Members.Holders(nil, k.Meter)
		} else if id, _, ok := store.TypeOf(p); ok {
			holders[i] = t.cfg.Members.Holders(nil, id)
		}
	}
	own, now, by := b.Origin == t.cfg.Own, t.cfg.Now(), ""
	for i, p := range b.Point {
		switch {
		case b.Kind[i] == point.Text && own && b.Points[p] == store.SenderPoint:
			by = passedBy(b.Texts[b.Bits[i]])
		case b.Kind[i] != point.Float:
		case by != "":
			c.Received[by]++
			kept++
		case holders[p] == nil || !own && !store.Plausible(b.Time[i], now):
			c.Accepted++
			c.Left++
		default:
			c.Accepted++
			for _, at := range holders[p] {
				if at == t.cfg.Self {
					c.Kept++
					kept++
				} else {
					c.For[names[at]]++
				}
			}
		}
	}
	return kept
}

// passedBy returns which member passed on the readings of a sender; "" for none.
func passedBy(sender string) string {
	rest, is := strings.CutPrefix(sender, store.MemberMark)
	if !is {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return strings.Clone(name)
}
