package duckdb

import (
	"context"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/heal"
	"voltbus/meter/store/duckdb/registry"
	"voltbus/store/duckdb/engine"
)

// Register implements store.Registry.
func (s *Store) Register(ctx context.Context, list []store.Registration) (store.Registered, error) {
	const op = "metering.Register"
	if err := s.begin(ctx, op); err != nil {
		return store.Registered{}, err
	}
	defer s.write.Unlock()
	taken, err := registry.Taken(ctx, s.writer, list)
	if err != nil {
		return store.Registered{}, failed(op, s.options.Dir, err)
	}
	p := s.dir.Plan(list, func(point string) bool { return !taken[point] })
	number, _ := s.dir.Len()
	err = s.transaction(ctx, func(c *engine.Conn) error { return registry.Save(ctx, c, p, list, number) })
	if err != nil {
		return store.Registered{}, failed(op, s.options.Dir, err)
	}
	s.dir.Apply(p)
	if s.strays.All > 0 && len(p.Entries) > 0 {
		if p.Result.Adopted, err = adopt(ctx, s, op); err != nil {
			return store.Registered{}, err
		}
	}
	return p.Result, nil
}

// adopt moves readings to their channels, which were registered meanwhile. The caller holds write.
func adopt(ctx context.Context, s *Store, op string) (adopted int, err error) {
	type waiting struct {
		key store.ChannelKey
		end int64
		row
	}
	var found []waiting
	err = s.writer.Query(ctx, `SELECT meter, channel, "end", value, recorded, source FROM strays`, func(k *engine.Chunk) error {
		meters, channels := k.Texts(0), engine.Numbers[uint32](k, 1)
		for i := range k.Rows {
			one := waiting{key: store.ChannelKey{Meter: meters.At(i), Channel: int(channels[i])}, end: engine.Numbers[int64](k, 2)[i]}
			one.Value, one.Recorded, one.Source = engine.Numbers[float64](k, 3)[i], engine.Numbers[uint32](k, 4)[i], engine.Numbers[uint32](k, 5)[i]
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
			x.strays.Count(store.OriginOf(s.sources[f.Source].Origin.Who), -1)
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

// keepCopy copies the meters if some came or moved since. It is called where nothing waits for it.
func keepCopy(ctx context.Context, s *Store) error {
	c, give, err := s.reader(ctx, "metering.copy")
	if err != nil {
		return err
	}
	defer give()
	n := 0
	err = c.Query(ctx, "SELECT (SELECT count(*) FROM meters) + (SELECT count(*) FROM installations)", func(k *engine.Chunk) error {
		n = int(engine.Numbers[int64](k, 0)[0])
		return nil
	})
	if err != nil || n == s.copied {
		return err
	}
	if err := heal.Save(ctx, c, s.options.Dir, s.options.Now()); err != nil {
		return err
	}
	s.copied = n
	return nil
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

// Installations implements store.Registry.
func (s *Store) Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error) {
	const op = "metering.Installations"
	c, give, err := s.reader(ctx, op)
	if err != nil {
		return nil, err
	}
	defer give()
	list, err := registry.Installations(ctx, c, s.dir, "point = $1", servicePoint)
	if err != nil {
		return nil, failed(op, servicePoint, err)
	}
	return list, nil
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
	here, err := registry.Installations(ctx, s.writer, s.dir, "point = $1", servicePoint)
	if err != nil {
		return failed(op, servicePoint, err)
	}
	there, err := registry.Installations(ctx, s.writer, s.dir, "meter = $1", fresh)
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
	r := &registry.Replacement{ServicePoint: servicePoint, Gone: gone, Fresh: fresh, At: at}
	err = s.transaction(ctx, func(c *engine.Conn) error { return registry.Exchange(ctx, c, s.dir, r) })
	if err != nil {
		return failed(op, servicePoint, err)
	}
	s.dir.Exchanged(old.Meter, id, at)
	return nil
}

// Moving is a part of an exchange of meters.
type Moving = registry.Moving

// Move notes that a meter leaves a service point, or comes to it, where another store keeps the other one of an exchange, see registry.Move.
func Move(ctx context.Context, s *Store, m *Moving) error {
	const op = "metering.Move"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	if err := s.transaction(ctx, func(c *engine.Conn) error { return registry.Move(ctx, c, s.dir, m) }); err != nil {
		return failed(op, m.ServicePoint, err)
	}
	if m.Leaves {
		s.dir.Exchanged(m.Meter, "", m.At)
	} else {
		s.dir.Exchanged("", m.Meter, m.At)
	}
	return nil
}
