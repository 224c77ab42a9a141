package duckdb

import (
	"context"
	"math"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/stray"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// change is one transaction: what it changes in memory becomes the store's in publish, after the commit.
type change struct {
	s        *Store
	c        *engine.Conn
	ctx      context.Context //nolint:containedctx // a change lives as long as one call
	recorded uint32
	cursor   cursor
	strays   *stray.Change
	number   uint64
	days     map[store.Day]*openDay
	sources  []source
	sourceOf map[source]uint32
	cutter   *store.Cutter
	last     *openDay
	writers  int
	holds    bool // the lock of tables
}

// mostWriters is how many days are written at a time: each has buffers of its own.
const mostWriters = 64

// openDay is a day with the writer of its open table.
type openDay struct {
	day
	w *table.Writer
}

// edit carries out f in one transaction. The caller holds write.
func (s *Store) edit(ctx context.Context, op string, f func(x *change) error) error {
	x := &change{
		s: s, c: s.writer, ctx: ctx, recorded: moment(s), cursor: s.cursor, strays: s.strays.Change(), number: s.number,
		days: map[store.Day]*openDay{}, sourceOf: map[source]uint32{}, cutter: s.calendar.NewCutter(),
	}
	defer x.close()
	err := s.transaction(ctx, func(*engine.Conn) error {
		if err := f(x); err != nil {
			return err
		}
		if err := x.save(); err != nil {
			return err
		}
		s.tables.Lock() // until the days are known as well: no reader knows days of which its view has no table
		x.holds = true
		return nil
	})
	if x.holds {
		defer s.tables.Unlock()
	}
	if err != nil {
		return failed(op, s.options.Dir, err)
	}
	x.publish()
	return nil
}

func (x *change) close() {
	for _, d := range x.days {
		if d.w != nil {
			d.w.Close()
		}
	}
	x.strays.Close()
}

// save writes what stands beside the rows.
func (x *change) save() error {
	if err := x.rest(); err != nil {
		return err
	}
	if err := x.strays.Flush(); err != nil {
		return err
	}
	for _, d := range x.days {
		if err := d.day.Save(x.ctx, x.c); err != nil {
			return err
		}
	}
	for i, v := range x.sources {
		if err := x.c.Exec(x.ctx, "INSERT INTO sources VALUES ($1, $2, $3, $4, $5, $6)",
			len(x.s.sources)+i, int(v.Stage), int64(v.Status), v.Origin.Reason, v.Origin.Who, v.Origin.Rule); err != nil {
			return err
		}
	}
	return x.saveState()
}

// rest ends the writers of the days that are open.
func (x *change) rest() error {
	for _, d := range x.days {
		if d.w == nil {
			continue
		}
		if err := d.w.Flush(); err != nil {
			return err
		}
		d.w.Close()
		d.w = nil
	}
	x.last, x.writers = nil, 0
	return nil
}

// publish makes the committed change visible.
func (x *change) publish() {
	s := x.s
	s.cursor, s.newest, s.number = x.cursor, x.recorded, x.number
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays.Publish(x.strays)
	for k, d := range x.days {
		is := d.day
		s.days[k] = &is
	}
	for _, v := range x.sources {
		s.sourceOf[v] = uint32(len(s.sources))
		s.sources = append(s.sources, v)
	}
}

// source returns the number of a source.
func (x *change) source(v source) uint32 {
	if n, ok := x.s.sourceOf[v]; ok {
		return n
	}
	n, ok := x.sourceOf[v]
	if !ok {
		n = uint32(len(x.s.sources) + len(x.sources))
		x.sources = append(x.sources, v)
		x.sourceOf[v] = n
	}
	return n
}

// sender returns the number of who sent readings. There is room for so many of other nodes.
func (x *change) sender(name string) uint32 {
	v := source{Origin: meter.Origin{Who: name}}
	_, known := x.s.sourceOf[v]
	if origin := store.OriginOf(name); !known && origin != "" && len(x.s.sources)+len(x.sources) >= store.MaxSenders {
		v.Origin.Who = store.NodeSender(origin)
	}
	v.Origin.Who = strings.Clone(v.Origin.Who)
	return x.source(v)
}

// open returns the day with a writer for its open table.
func (x *change) open(key store.Day) (*openDay, error) {
	if x.last != nil && x.last.Key == key {
		return x.last, nil
	}
	d := x.days[key]
	if d == nil {
		d = &openDay{day: day{Key: key}}
		if is := x.s.days[key]; is != nil {
			d.day = *is
		}
		if d.day.Open == 0 {
			if err := x.c.Exec(x.ctx, "CREATE TABLE IF NOT EXISTS "+d.OpenTable()+table.VersionColumns); err != nil {
				return nil, err
			}
		}
		x.days[key] = d
	}
	if d.w == nil {
		if x.writers == mostWriters {
			if err := x.rest(); err != nil {
				return nil, err
			}
		}
		w, err := table.NewWriter(x.c, d.OpenTable())
		if err != nil {
			return nil, err
		}
		d.w = w
		x.writers++
	}
	x.last = d
	return d, nil
}

// put adds a version of a channel to the open table of its day.
func (x *change) put(ref directory.Ref, end int64, r row) error {
	key, place := x.cutter.Cut(end, ref.Channel.Interval)
	d, err := x.open(key)
	if err != nil {
		return err
	}
	r.Channel, r.Place = ref.Number, place
	d.day.Open++
	if ref.Channel.Interval > 0 {
		d.Waiting++
	}
	return d.w.Put(r)
}

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
	sweep(ctx, s)
	var out store.Result
	refs := s.dir.Refs(make([]directory.Ref, 0, len(b.Keys)), b.Keys)
	err := s.edit(ctx, op, func(x *change) error {
		out.Recorded = time.Unix(int64(x.recorded), 0).UTC()
		senders := make([]uint32, len(b.Senders))
		for i, name := range b.Senders {
			senders[i] = x.sender(name)
		}
		for i, k := range b.Key {
			r := row{Value: b.Value[i], Recorded: x.recorded, Source: senders[b.Sender[i]]}
			switch {
			case math.IsNaN(r.Value) || math.IsInf(r.Value, 0):
				out.Left++
				continue
			case refs[k].Channel == nil:
				out.Strays++
				if err := x.strays.Put(x.c, &stray.Reading{Key: b.Keys[k], End: b.End[i], Value: r.Value, Recorded: r.Recorded, Source: r.Source}, store.OriginOf(b.Senders[b.Sender[i]])); err != nil {
					return err
				}
				continue
			}
			out.Stored++
			if err := x.put(refs[k], b.End[i], r); err != nil {
				return err
			}
		}
		if b.Log != "" {
			x.cursor = cursor{strings.Clone(b.Log), b.Sequence}
		}
		return nil
	})
	return out, err
}

// Cursor implements store.Keeper.
func (s *Store) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.begin(ctx, "metering.Cursor"); err != nil {
		return "", 0, err
	}
	defer s.write.Unlock()
	return s.cursor.log, s.cursor.sequence, nil
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
			from := x.source(source{Stage: v.Stage, Status: v.Status, Origin: v.Origin})
			if err := x.put(ref, v.End.UnixMicro(), row{Value: v.Value, Recorded: x.recorded, Source: from}); err != nil {
				return err
			}
		}
		return nil
	})
}
