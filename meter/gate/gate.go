// Package gate admits meter readings: it refuses those that cannot be valid, with a reason for each, and writes the rest to the node's
// log. When it returns, what was accepted is on disk.
package gate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/point"
)

// Registry knows the meters.
type Registry interface {
	Knows(dst []bool, keys []store.ChannelKey) []bool
	ChannelOf(id string, t meter.ReadingType) (int, bool)
}

// Forward appends an encoded block to the log, as recorder.Forward does.
type Forward func(ctx context.Context, b *point.Block, data []byte) (wait func(context.Context) error, err error)

// Position is the last block of an origin.
type Position struct{ Sequence, Samples uint64 }

// Config is what a Gate needs.
type Config struct {
	Origin   string   // of the blocks: point.MeterOrigin of the node's
	Start    Position // the last block of it
	Registry Registry
	// Admit judges readings instead of a registry: it returns why a reading is refused, "" if it is not. nil where meters are registered.
	Admit func(r *meter.Reading) string
	// Elsewhere reports whether another node keeps the meter of a reading, which the registry then does not know, and why the reading is
	// refused all the same. nil where all meters are kept here.
	Elsewhere func(r *meter.Reading) (is bool, why string)
	Forward   Forward
	Bounds    point.Bounds     // of the ends of intervals; what lies outside is refused
	Now       func() time.Time // the clock
}

// Gate is safe for concurrent use.
type Gate struct {
	cfg Config

	mu      sync.Mutex
	waiting []*bulk // that nobody sent yet

	flight chan struct{} // one for each group of blocks that is not on disk yet
	send   sync.Mutex    // held by who sends; taken before mu
	out    numbered
	block  point.Block // whose memory is used again
	paths  paths       // of the block
}

// mostInFlight is how many groups of blocks wait for the disk at a time: while one is written the next is gathered. With more of
// them each would hold the readings of few calls, and each costs a write of its own.
const mostInFlight = 2

// New returns a gate.
func New(c Config) *Gate {
	return &Gate{cfg: c, out: numbered{origin: c.Origin, forward: c.Forward, now: c.Now, last: c.Start}, flight: make(chan struct{}, mostInFlight)}
}

// Position returns the last block that was handed to the log.
func (g *Gate) Position() Position {
	g.send.Lock()
	defer g.send.Unlock()
	return g.out.last
}

// MaxBulk is the most readings of one call.
const MaxBulk = 1_000_000

// blockSamples is how many readings a block holds at most.
const blockSamples = 10_000

// Taken says what became of readings.
type Taken struct {
	Accepted int
	Refused  []store.Refusal
}

// bulk is the readings of one call that were accepted.
type bulk struct {
	sender   string
	under    string
	senders  []string // of readings that another node passes on; nil if all are of sender
	keys     []store.ChannelKey
	types    []meter.ReadingType // of readings without a channel; nil if all have one
	readings []accepted
	path     []byte        // of the reading that was judged last
	sent     chan struct{} // closed when what is below is known
	err      error
	waits    []func(context.Context) error
}

type accepted struct {
	end   int64
	value float64
}

// Take judges readings of a sender and makes those durable that are right. Under bounds which: points below the path
// meters/<meter>/<channel>; "" is all. It fails with fault.Invalid for too many readings, and as the recorder
// does; then none is known to be recorded, and sending them again does no harm.
func (g *Gate) Take(ctx context.Context, sender, under string, readings []meter.Reading) (Taken, error) {
	if len(readings) > MaxBulk {
		return Taken{}, fault.E("meter.Take", fault.Invalid, "", fmt.Errorf("%d readings: send at most %d at once", len(readings), MaxBulk))
	}
	b := &bulk{sender: sender, under: under}
	keys := make([]store.ChannelKey, len(readings))
	for i := range readings {
		keys[i] = g.key(&readings[i])
	}
	return g.take(ctx, b, readings, keys, g.judge(readings, keys))
}

// Pass makes readings durable that another node took and passes on: each has its Sender, before which the name of that node is put. They
// were judged there; why says of each what this node refuses it for, "" for nothing. It fails as Take does.
func (g *Gate) Pass(ctx context.Context, node string, readings []meter.Reading, why func(r *meter.Reading, k store.ChannelKey) string) (Taken, error) {
	b := &bulk{sender: node, senders: []string{}}
	keys := make([]store.ChannelKey, len(readings))
	for i := range readings {
		keys[i] = g.key(&readings[i])
	}
	return g.take(ctx, b, readings, keys, func(i int) string { return why(&readings[i], keys[i]) })
}

func (g *Gate) take(ctx context.Context, b *bulk, readings []meter.Reading, keys []store.ChannelKey, why func(i int) string) (Taken, error) {
	var out Taken
	now := g.cfg.Now()
	b.keys, b.readings = keys[:0], make([]accepted, 0, len(readings)) // a key moves to the front at most
	for i := range readings {
		if why := cmp.Or(why(i), g.refuse(b, &readings[i], keys[i], now)); why != "" {
			out.Refused = append(out.Refused, store.Refusal{Index: i, Reason: why})
			continue
		}
		b.add(keys[i], &readings[i])
	}
	out.Accepted = len(b.readings)
	if out.Accepted == 0 {
		return out, nil
	}
	if err := g.commit(ctx, b); err != nil {
		return Taken{}, err
	}
	return out, nil
}

func (g *Gate) key(r *meter.Reading) store.ChannelKey {
	k := store.ChannelKey{Meter: r.Meter, Channel: r.Channel}
	if k.Channel == 0 && g.cfg.Registry != nil {
		k.Channel, _ = g.cfg.Registry.ChannelOf(r.Meter, r.Type)
	}
	return k
}

// judge returns why readings are refused for their meters; "" for those that are not.
func (g *Gate) judge(readings []meter.Reading, keys []store.ChannelKey) func(i int) string {
	if g.cfg.Admit != nil {
		return func(i int) string {
			if readings[i].Meter == "" {
				return errMeter
			}
			return g.cfg.Admit(&readings[i])
		}
	}
	known := g.cfg.Registry.Knows(make([]bool, 0, len(keys)), keys)
	return func(i int) string {
		if readings[i].Meter == "" {
			return errMeter
		}
		if g.cfg.Elsewhere != nil {
			if is, why := g.cfg.Elsewhere(&readings[i]); is {
				return why
			}
		}
		if !known[i] {
			return "no meter is registered with this id and channel: register it first"
		}
		return ""
	}
}

const errMeter = "meter: missing"

// refuse returns why a reading is refused; "" if it is not.
func (g *Gate) refuse(b *bulk, r *meter.Reading, k store.ChannelKey, now time.Time) string {
	switch {
	case math.IsNaN(r.Value) || math.IsInf(r.Value, 0):
		return "value: not a finite number"
	case r.End.IsZero():
		return "end: missing: give the end of the interval"
	case r.End.Nanosecond()%1_000_000 != 0:
		return "end: finer than milliseconds"
	case b.senders != nil: // its time was judged where it was taken
		return ""
	case g.cfg.Bounds.Ahead > 0 && r.End.After(now.Add(g.cfg.Bounds.Ahead)):
		return fmt.Sprintf("end: %s lies in the future: check the clock of the meter", r.End.UTC().Format(time.RFC3339))
	case !g.cfg.Bounds.Hold(r.End, now): // too old, as it is not ahead
		return fmt.Sprintf("end: %s is older than this node takes: check the clock of the meter", r.End.UTC().Format(time.RFC3339))
	case b.under != "" && !b.may(k, r.Type):
		return "this token may not record readings of this meter"
	}
	return ""
}

// add adds a reading that was accepted.
func (b *bulk) add(k store.ChannelKey, r *meter.Reading) {
	if k.Channel == 0 || b.types != nil {
		b.types = append(b.types, make([]meter.ReadingType, len(b.keys)-len(b.types))...)
		b.types = append(b.types, r.Type)
	}
	if b.senders != nil {
		b.senders = append(b.senders, r.Sender)
	}
	b.keys = append(b.keys, k)
	b.readings = append(b.readings, accepted{r.End.UnixMicro(), r.Value})
}

// same reports whether a reading has the point of the one before.
func (b *bulk) same(i int) bool {
	return b.keys[i] == b.keys[i-1] && (b.types == nil || b.types[i] == b.types[i-1])
}

// may reports whether the point of a reading is that which bounds the bulk, or below it.
func (b *bulk) may(k store.ChannelKey, t meter.ReadingType) bool {
	if k.Channel == 0 {
		return within([]byte(store.PathOfType(k.Meter, t)), b.under)
	}
	b.path = store.AppendPath(b.path[:0], k)
	return within(b.path, b.under)
}

// within reports whether a path is the folder or below it.
func within(path []byte, folder string) bool {
	n := len(folder)
	return len(path) >= n && string(path[:n]) == folder && (len(path) == n || path[n] == '/')
}

// commit has the bulk sent, and returns when it is on disk. Who comes while others are written is sent with all who wait.
func (g *Gate) commit(ctx context.Context, b *bulk) error {
	b.sent = make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, b)
	g.mu.Unlock()
	select {
	case <-b.sent:
	case g.flight <- struct{}{}:
		g.lead(context.WithoutCancel(ctx))
	}
	for _, wait := range b.waits {
		if err := wait(ctx); err != nil {
			return err
		}
	}
	return b.err
}

// lead sends all who wait, if others did not, and leaves the way to others when they are on disk.
func (g *Gate) lead(ctx context.Context) {
	defer func() { <-g.flight }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g.send.Lock()
	g.mu.Lock()
	list := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	g.forward(ctx, list)
	g.send.Unlock()
	for _, b := range list {
		close(b.sent)
	}
	for _, b := range list {
		for _, wait := range b.waits {
			_ = wait(ctx) // each bulk reports what became of it
		}
	}
}

// patience is how long blocks may wait for their place in the queue of the log, and for the disk before others are sent.
const patience = 30 * time.Second

// forward hands bulks to the log in blocks. The caller holds send.
func (g *Gate) forward(ctx context.Context, list []*bulk) {
	block := &g.block
	var of []*bulk
	flush := func() {
		g.paths.cut(block)
		if len(of) > 0 {
			g.flush(ctx, block, of)
			of = nil
		}
		clear(block.Points)
		clear(block.Texts)
		*block = point.Block{
			Points: block.Points[:0], Point: block.Point[:0], Time: block.Time[:0], Kind: block.Kind[:0], Quality: block.Quality[:0],
			Bits: block.Bits[:0], Texts: block.Texts[:0],
		}
	}
	for _, b := range list {
		for from := 0; from < len(b.readings); {
			if block.Len() >= blockSamples {
				flush()
			}
			n := min(len(b.readings)-from, blockSamples-block.Len())
			b.write(block, &g.paths, from, from+n)
			of = append(of, b)
			from += n
		}
	}
	flush()
}

// write adds readings to a block, behind who sent them.
func (b *bulk) write(block *point.Block, paths *paths, from, to int) {
	for i := from; i < to; i++ {
		named := i == from || b.senders != nil && b.senders[i] != b.senders[i-1]
		if named {
			sender := point.Sample{Point: store.SenderPoint, Time: time.UnixMicro(b.readings[i].end), Value: point.TextOf(b.senderOf(i))}
			paths.add(append(paths.text, store.SenderPoint...))
			block.Append(paths.last(), &sender)
		}
		if named || !b.same(i) {
			paths.add(b.appendPath(paths.text, i))
		}
		block.Point = append(block.Point, paths.last())
		block.Time = append(block.Time, b.readings[i].end)
		block.Kind = append(block.Kind, point.Float)
		block.Quality = append(block.Quality, point.Good)
		block.Bits = append(block.Bits, math.Float64bits(b.readings[i].value))
	}
}

// senderOf returns who sent a reading, as the log names it.
func (b *bulk) senderOf(i int) string {
	if b.senders == nil {
		return b.sender
	}
	return store.PassedBy(b.sender, b.senders[i])
}

// flush hands a block to the log.
func (g *Gate) flush(ctx context.Context, block *point.Block, of []*bulk) {
	wait, err := g.out.hand(ctx, block)
	for _, b := range of {
		if err != nil {
			b.err = err
		} else {
			b.waits = append(b.waits, wait)
		}
	}
}
