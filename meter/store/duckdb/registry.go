package duckdb

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/duckdb/engine"
)

// Register implements store.Registry.
func (s *Store) Register(ctx context.Context, list []store.Registration) (store.Registered, error) {
	const op = "metering.Register"
	if err := s.begin(ctx, op); err != nil {
		return store.Registered{}, err
	}
	defer s.write.Unlock()
	taken, err := taken(ctx, s.writer, list)
	if err != nil {
		return store.Registered{}, failed(op, s.options.Dir, err)
	}
	p := s.dir.Plan(list, func(point string) bool { return !taken[point] })
	number, _ := s.dir.Len()
	err = s.transaction(ctx, func(c *engine.Conn) error { return savePlan(ctx, c, p, list, number) })
	if err != nil {
		return store.Registered{}, failed(op, s.options.Dir, err)
	}
	s.dir.Apply(p)
	if s.strays.all > 0 && len(p.Entries) > 0 {
		if p.Result.Adopted, err = adopt(ctx, s, op); err != nil {
			return store.Registered{}, err
		}
	}
	return p.Result, nil
}

// taken returns which service points of a list have a meter.
func taken(ctx context.Context, c *engine.Conn, list []store.Registration) (map[string]bool, error) {
	wanted := map[string]bool{}
	for i := range list {
		if p := list[i].ServicePoint; p != "" {
			wanted[p] = true
		}
	}
	taken := map[string]bool{}
	if len(wanted) == 0 {
		return taken, nil
	}
	err := c.Query(ctx, "SELECT point FROM points", func(k *engine.Chunk) error {
		points := k.Texts(0)
		for i := range k.Rows {
			if p := points.At(i); wanted[p] {
				taken[p] = true
			}
		}
		return nil
	})
	return taken, err
}

// savePlan writes what is new, the meters by an appender.
func savePlan(ctx context.Context, c *engine.Conn, p *directory.Plan, list []store.Registration, number int) error {
	models := int64(0)
	if err := c.Query(ctx, "SELECT count(*)::BIGINT FROM models", func(k *engine.Chunk) error {
		models = engine.Numbers[int64](k, 0)[0]
		return nil
	}); err != nil {
		return err
	}
	for i, m := range p.Models {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := c.Exec(ctx, "INSERT INTO models VALUES ($1, $2)", models+int64(i), string(text)); err != nil {
			return err
		}
	}
	if err := saveMeters(c, p.Entries, number); err != nil {
		return err
	}
	for _, table := range []string{"points", "installations"} {
		if err := savePlaces(c, table, p, list, number); err != nil {
			return err
		}
	}
	return nil
}

func saveMeters(c *engine.Conn, entries []directory.Entry, number int) error {
	a, err := c.Appender("meters", duck.TypeUInteger, duck.TypeVarchar, duck.TypeUInteger, duck.TypeUInteger, duck.TypeInteger, duck.TypeInteger)
	if err != nil {
		return err
	}
	defer a.Close()
	for n := 0; n < len(entries); {
		part := entries[n:min(n+engine.ChunkRows, len(entries))]
		numbers, models, firsts := engine.Column[uint32](a, 0), engine.Column[uint32](a, 2), engine.Column[uint32](a, 3)
		since, until := engine.Column[int32](a, 4), engine.Column[int32](a, 5)
		for i, e := range part {
			numbers[i], models[i], firsts[i] = uint32(number+n+i), e.Model, e.First
			since[i], until[i] = int32(e.Since), int32(e.Until)
			a.Text(1, i, e.ID)
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
		n += len(part)
	}
	return a.Flush()
}

// savePlaces writes the service points of the meters that have one, or their installations.
func savePlaces(c *engine.Conn, table string, p *directory.Plan, list []store.Registration, number int) error {
	types := []duck.Type{duck.TypeVarchar, duck.TypeVarchar}
	if table == "installations" {
		types = []duck.Type{duck.TypeVarchar, duck.TypeUInteger, duck.TypeBigInt, duck.TypeBigInt}
	}
	a, err := c.Appender(table, types...)
	if err != nil {
		return err
	}
	defer a.Close()
	n := 0
	for i, at := range p.Indices {
		r := &list[at]
		if r.ServicePoint == "" {
			continue
		}
		a.Text(0, n, r.ServicePoint)
		if table == "installations" {
			engine.Column[uint32](a, 1)[n], engine.Column[int64](a, 2)[n], engine.Column[int64](a, 3)[n] = uint32(number+i), r.From.UnixMicro(), 0
		} else {
			a.Text(1, n, r.Premises)
		}
		if n++; n == engine.ChunkRows {
			if err := a.Append(n); err != nil {
				return err
			}
			n = 0
		}
	}
	if n > 0 {
		if err := a.Append(n); err != nil {
			return err
		}
	}
	return a.Flush()
}

// adopt moves readings to their channels, which were registered meanwhile. The caller holds write.
func adopt(ctx context.Context, s *Store, op string) (adopted int, err error) {
	type stray struct {
		key store.ChannelKey
		end int64
		row
	}
	var found []stray
	err = s.writer.Query(ctx, `SELECT meter, channel, "end", value, recorded, source FROM strays`, func(k *engine.Chunk) error {
		meters, channels := k.Texts(0), engine.Numbers[uint32](k, 1)
		for i := range k.Rows {
			one := stray{key: store.ChannelKey{Meter: meters.At(i), Channel: int(channels[i])}, end: engine.Numbers[int64](k, 2)[i]}
			one.value, one.recorded, one.source = engine.Numbers[float64](k, 3)[i], engine.Numbers[uint32](k, 4)[i], engine.Numbers[uint32](k, 5)[i]
			found = append(found, one)
		}
		return nil
	})
	if err != nil {
		return 0, failed(op, s.options.Dir, err)
	}
	err = s.edit(ctx, op, func(x *change) error {
		gone := map[store.ChannelKey]bool{}
		for i := range found {
			f := &found[i]
			ref := s.dir.Refs(nil, []store.ChannelKey{f.key})[0]
			if ref.Channel == nil {
				continue
			}
			if err := x.put(ref, f.end, f.row); err != nil {
				return err
			}
			gone[f.key] = true
			x.strays.count(store.OriginOf(s.sources[f.source].origin.Who), -1)
			adopted++
		}
		for k := range gone {
			if err := x.c.Exec(ctx, "DELETE FROM strays WHERE meter = $1 AND channel = $2", k.Meter, k.Channel); err != nil {
				return err
			}
		}
		return nil
	})
	return adopted, err
}

// Meter implements store.Registry.
func (s *Store) Meter(_ context.Context, id string) (meter.Meter, error) {
	n, ok := s.dir.Number(id)
	if !ok {
		return meter.Meter{}, store.Unregistered("metering.Meter", id)
	}
	return s.dir.Meter(n), nil
}

// Meters implements store.Registry.
func (s *Store) Meters(_ context.Context, after string, limit int) ([]meter.Meter, error) {
	return s.dir.Meters(after, limit)
}

// Knows implements store.Registry.
func (s *Store) Knows(dst []bool, keys []store.ChannelKey) []bool { return s.dir.Knows(dst, keys) }

// ChannelOf implements store.Registry.
func (s *Store) ChannelOf(id string, t meter.ReadingType) (int, bool) { return s.dir.ChannelOf(id, t) }

// Installations implements store.Registry.
func (s *Store) Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error) {
	const op = "metering.Installations"
	c, give, err := s.reader(ctx, op)
	if err != nil {
		return nil, err
	}
	defer give()
	list, err := installations(ctx, c, s.dir, "point = $1", servicePoint)
	if err != nil {
		return nil, failed(op, servicePoint, err)
	}
	return list, nil
}

func installations(ctx context.Context, c *engine.Conn, dir *directory.Directory, where string, arg any) ([]meter.Installation, error) {
	var list []meter.Installation
	err := c.Query(ctx, "SELECT point, meter, since, until FROM installations WHERE "+where+" ORDER BY since", func(k *engine.Chunk) error {
		for i := range k.Rows {
			one := meter.Installation{ServicePoint: k.Texts(0).At(i), From: time.UnixMicro(engine.Numbers[int64](k, 2)[i]).UTC()}
			one.Meter = dir.Meter(engine.Numbers[uint32](k, 1)[i]).ID
			if until := engine.Numbers[int64](k, 3)[i]; until != 0 {
				one.To = time.UnixMicro(until).UTC()
			}
			list = append(list, one)
		}
		return nil
	}, arg)
	return list, err
}

// Exchange implements store.Registry.
func (s *Store) Exchange(ctx context.Context, servicePoint, id string, at time.Time) error {
	const op = "metering.Exchange"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	fresh, ok := s.dir.Number(id)
	if !ok {
		return store.Unregistered(op, id)
	}
	var model meter.Installations
	here, err := installations(ctx, s.writer, s.dir, "point = $1", servicePoint)
	if err != nil {
		return failed(op, servicePoint, err)
	}
	there, err := installations(ctx, s.writer, s.dir, "meter = $1", fresh)
	if err != nil {
		return failed(op, servicePoint, err)
	}
	for _, i := range append(here, there...) {
		if i.ServicePoint == servicePoint && i.Meter == id && len(there) > 0 && len(model.List(servicePoint)) == len(here) {
			continue // it is in both lists
		}
		if err := model.Install(i); err != nil {
			return fault.E(op, fault.Internal, servicePoint, err)
		}
	}
	old, _ := model.At(servicePoint, at)
	if err := model.Exchange(servicePoint, id, at); err != nil {
		return fault.E(op, fault.Conflict, servicePoint, err)
	}
	gone, _ := s.dir.Number(old.Meter)
	until, since := s.dir.DaysOfExchange(at)
	err = s.transaction(ctx, func(c *engine.Conn) error {
		for _, one := range []struct {
			statement string
			args      []any
		}{
			{"UPDATE installations SET until = $1 WHERE point = $2 AND until = 0", []any{at.UnixMicro(), servicePoint}},
			{"INSERT INTO installations VALUES ($1, $2, $3, 0)", []any{strings.Clone(servicePoint), fresh, at.UnixMicro()}},
			{"UPDATE meters SET until = $1 WHERE number = $2", []any{int(until), gone}},
			{"UPDATE meters SET since = $1 WHERE number = $2", []any{int(since), fresh}},
		} {
			if err := c.Exec(ctx, one.statement, one.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failed(op, servicePoint, err)
	}
	s.dir.Exchanged(old.Meter, id, at)
	return nil
}
