package system

import (
	"context"

	meterstore "voltbus/meter/store"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/store"
)

// newEventSink returns what stores events. It has a place of its own in the log and decodes nothing else, so that events do not wait for
// the readings before them.
func newEventSink(c *Config, st meterstore.EventKeeper) *sink.Sink {
	return sink.New(sink.Config{Skips: func(origin string) bool { return !point.IsMeterEventOrigin(origin) }, Log: c.Log}, c.Blocks,
		&eventBlocks{store: st, own: point.MeterEventOrigin(c.Origin), config: c})
}

// eventBlocks is the store as the sink of events fills it. One goroutine uses it.
type eventBlocks struct {
	store  meterstore.EventKeeper
	own    string // the origin of the events that this node takes in
	config *Config
	passed uint64 // blocks without events since the place was stored
}

// mostPassed is how many blocks of others may lie behind the place that is stored: after a restart they are passed over again.
const mostPassed = 20_000

// Append implements sink.Store.
func (b *eventBlocks) Append(ctx context.Context, list []*point.Block) (store.Result, error) {
	batch := &meterstore.EventBatch{}
	for _, one := range list {
		batch.Take(one, b.own, b.config.Now())
	}
	if b.passed += uint64(len(list)); len(batch.Events) == 0 && b.passed < mostPassed {
		return store.Result{}, nil
	}
	r, err := b.store.AppendEvents(ctx, batch)
	if err == nil {
		b.passed = 0
	}
	return store.Result{Stored: r.Stored, Repeated: r.Repeated}, err
}

// Cursor implements sink.Store.
func (b *eventBlocks) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	return b.store.EventCursor(ctx)
}
