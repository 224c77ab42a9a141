package eventtable

import (
	"context"
	"sync"
	"time"

	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Host is the store whose part a Keeper is.
type Host struct {
	// Write carries out f in a transaction with the moment of recording, in Unix seconds, and calls committed when it is committed. One
	// at a time does.
	Write func(ctx context.Context, op string, f func(c *engine.Conn, recorded uint32) error, committed func()) error
	// Read lends a connection until give is called.
	Read func(ctx context.Context, op string) (c *engine.Conn, give func(), err error)
	// Failed gives an error of the engine a kind.
	Failed func(op, subject string, err error) error
}

// Keeper implements store.EventKeeper.
type Keeper struct {
	host Host

	mu    sync.Mutex
	place Place
}

// NewKeeper returns the keeper of tables that Open opened.
func NewKeeper(h Host, p Place) *Keeper { return &Keeper{host: h, place: p} }

// AppendEvents implements store.EventKeeper.
func (k *Keeper) AppendEvents(ctx context.Context, b *store.EventBatch) (store.EventResult, error) {
	var out store.EventResult
	var next Place
	err := k.host.Write(ctx, "metering.AppendEvents", func(c *engine.Conn, recorded uint32) (err error) {
		before := k.at()
		out.Recorded = time.Unix(int64(recorded), 0).UTC()
		next, err = Append(ctx, c, b, recorded, before)
		out.Stored = int(next.Number - before.Number)
		out.Repeated = len(b.Events) - out.Stored
		return err
	}, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.place = next
	})
	if err != nil {
		return store.EventResult{}, err
	}
	return out, nil
}

func (k *Keeper) at() Place {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.place
}

// EventCursor implements store.EventKeeper.
func (k *Keeper) EventCursor(ctx context.Context) (log string, sequence uint64, err error) {
	const op = "metering.EventCursor"
	_, give, err := k.host.Read(ctx, op)
	if err != nil {
		return "", 0, err
	}
	give()
	p := k.at()
	return p.Log, p.Sequence, nil
}

// Events implements store.EventKeeper.
func (k *Keeper) Events(ctx context.Context, q store.EventQuery) ([]store.Event, error) {
	const op = "metering.Events"
	c, give, err := k.host.Read(ctx, op)
	if err != nil {
		return nil, err
	}
	defer give()
	list, err := List(ctx, c, op, &q)
	if err != nil {
		return nil, k.host.Failed(op, q.Meter, err)
	}
	return list, nil
}
