package postgres

import (
	"context"
	"math"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/table"
)

// Append implements store.Keeper.
func (s *Store) Append(ctx context.Context, b *store.Batch) (store.Result, error) {
	const op = "metering.Append"
	if err := b.Check(); err != nil {
		return store.Result{}, fault.E(op, fault.Invalid, "", err)
	}
	if err := s.begin(ctx, op); err != nil {
		return store.Result{}, err
	}
	defer s.write.Unlock()
	var out store.Result
	refs := s.dir.Refs(make([]directory.Ref, 0, len(b.Keys)), b.Keys)
	err := s.edit(ctx, op, func(x *change) error {
		out = store.Result{Recorded: time.Unix(x.recorded, 0).UTC()}
		x.take(b, refs, &out)
		if b.Log != "" {
			x.state.log, x.state.sequence = strings.Clone(b.Log), b.Sequence
		}
		return nil
	})
	if err != nil {
		return store.Result{}, err
	}
	return out, nil
}

// take adds the readings of a batch.
func (x *change) take(b *store.Batch, refs []directory.Ref, out *store.Result) {
	x.versions = make([]keyed, 0, b.Len())
	senders := make([]uint32, len(b.Senders))
	for i, name := range b.Senders {
		senders[i] = x.sender(name)
	}
	for i, k := range b.Key {
		v := table.Version{Value: b.Value[i], Recorded: x.recorded, Source: senders[b.Sender[i]]}
		switch {
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			out.Left++
		case refs[k].Channel == nil:
			out.Strays++
			x.putStray(b.Keys[k], b.End[i], v, store.OriginOf(b.Senders[b.Sender[i]]))
		default:
			out.Stored++
			x.put(refs[k], b.End[i], v)
		}
	}
}

// Cursor implements store.Keeper.
func (s *Store) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.begin(ctx, "metering.Cursor"); err != nil {
		return "", 0, err
	}
	defer s.write.Unlock()
	return s.state.log, s.state.sequence, nil
}

// Revise implements store.Keeper.
func (s *Store) Revise(ctx context.Context, key store.ChannelKey, versions []meter.Version) error {
	const op = "metering.Revise"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
	if err := store.CheckRevision(op, ref.Channel, key, versions); err != nil {
		return err
	}
	return s.edit(ctx, op, func(x *change) error {
		for _, v := range versions {
			of := x.source(source{Stage: v.Stage, Status: v.Status, Origin: v.Origin})
			x.put(ref, v.End.UnixMicro(), table.Version{Value: v.Value, Recorded: x.recorded, Source: of})
		}
		return nil
	})
}
