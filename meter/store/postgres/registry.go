package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/binary"
	"voltbus/meter/store/postgres/registry"
	"voltbus/meter/store/postgres/table"
	"voltbus/store/postgres/connection"
)

var errChannels = errors.New("the database holds no more channels: register the meters at another node")

// Register implements store.Registry.
func (s *Store) Register(ctx context.Context, list []store.Registration) (store.Registered, error) {
	const op = "metering.Register"
	if err := s.begin(ctx, op); err != nil {
		return store.Registered{}, err
	}
	defer s.write.Unlock()
	taken, err := s.taken(ctx, list)
	if err != nil {
		return store.Registered{}, s.fail(op, err)
	}
	p := s.dir.Plan(list, func(point string) bool { return !taken[point] })
	if n := len(p.Entries); n > 0 && p.Entries[n-1].First > math.MaxInt32-directory.MaxChannels {
		return store.Registered{}, fault.E(op, fault.Conflict, "", errChannels)
	}
	if len(p.Entries) > 0 {
		err = s.writer.Transaction(ctx, op, func() error {
			first, _ := s.dir.Len()
			for _, t := range registry.Rows(p, list, first, s.models) {
				if err := s.copyInto(ctx, t.Name, t.Columns, &t.Rows); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return store.Registered{}, err
		}
	}
	s.dir.Apply(p)
	s.models += len(p.Models)
	if _, all := s.Waiting(func(string) bool { return false }); all > 0 && len(p.Entries) > 0 {
		if p.Result.Adopted, err = s.adopt(ctx, op); err != nil {
			return store.Registered{}, err
		}
	}
	return p.Result, nil
}

// taken returns which service points of a list have a meter.
func (s *Store) taken(ctx context.Context, list []store.Registration) (map[string]bool, error) {
	var wanted []string
	for i := range list {
		if p := list[i].ServicePoint; p != "" && p == connection.Stored(p) {
			wanted = append(wanted, p)
		}
	}
	out := map[string]bool{}
	if len(wanted) == 0 {
		return out, nil
	}
	err := scan(ctx, s.writer.Conn, "SELECT point FROM meter_point WHERE point = ANY($1::text[])", func(v [][]byte) error {
		out[string(v[0])] = true
		return nil
	}, wanted)
	return out, err
}

// adopt moves readings to their channels, which were registered meanwhile. The caller holds write.
func (s *Store) adopt(ctx context.Context, op string) (adopted int, err error) {
	var ids []string
	err = scan(ctx, s.writer.Conn, "SELECT DISTINCT meter FROM meter_stray", func(v [][]byte) error {
		if _, ok := s.dir.Number(string(v[0])); ok {
			ids = append(ids, string(v[0]))
		}
		return nil
	})
	if err != nil || len(ids) == 0 {
		return 0, s.fail(op, err)
	}
	err = s.edit(ctx, op, func(x *change) error {
		adopted = 0
		sources := s.known()
		err := scan(ctx, s.writer.Conn, "DELETE FROM meter_stray WHERE meter = ANY($1::text[]) RETURNING meter, channel, ends, value, recorded, source", func(c [][]byte) error {
			key := store.ChannelKey{Meter: string(c[0]), Channel: int(number(c[1]))}
			v := table.Version{Value: binary.Float(c[3]), Recorded: number(c[4]), Source: uint32(number(c[5]))}
			of, err := sourceAt(sources, v.Source)
			if err != nil {
				return err
			}
			origin := store.OriginOf(of.Origin.Who)
			x.strays[origin]--
			ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
			if ref.Channel == nil {
				x.putStray(key, number(c[2]), v, origin)
				return nil
			}
			x.put(ref, number(c[2]), v)
			adopted++
			return nil
		}, ids)
		return err
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

// Installations implements store.Registry.
func (s *Store) Installations(ctx context.Context, servicePoint string) (list []meter.Installation, err error) {
	const op = "metering.Installations"
	err = s.look(ctx, op, func(tx pgx.Tx) error {
		list, err = s.installations(ctx, tx, "point = $1", connection.Stored(servicePoint))
		return err
	})
	return list, err
}

// installations lists those that fulfil a condition on $1, the oldest first.
func (s *Store) installations(ctx context.Context, q querier, where string, arg any) (list []meter.Installation, err error) {
	err = scan(ctx, q, "SELECT point, meter, since, until FROM meter_installation WHERE "+where+" ORDER BY since", func(v [][]byte) error {
		one := meter.Installation{ServicePoint: string(v[0]), Meter: s.dir.Meter(uint32(number(v[1]))).ID, From: time.UnixMicro(number(v[2])).UTC()}
		if until := number(v[3]); until != 0 {
			one.To = time.UnixMicro(until).UTC()
		}
		list = append(list, one)
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
	here, err := s.installations(ctx, s.writer.Conn, "point = $1", connection.Stored(servicePoint))
	if err != nil {
		return s.fail(op, err)
	}
	there, err := s.installations(ctx, s.writer.Conn, "meter = $1", int32(fresh))
	if err != nil {
		return s.fail(op, err)
	}
	var model meter.Installations
	for k, i := range append(here, there...) {
		if k >= len(here) && i.ServicePoint == servicePoint {
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
	if err := s.writer.Transaction(ctx, op, func() error { return s.exchange(ctx, servicePoint, gone, fresh, at) }); err != nil {
		return err
	}
	s.dir.Exchanged(old.Meter, id, at)
	return nil
}

// exchange writes that a meter took the place of another, within a transaction.
func (s *Store) exchange(ctx context.Context, servicePoint string, gone, fresh uint32, at time.Time) error {
	until, since := s.dir.DaysOfExchange(at)
	batch := &pgx.Batch{}
	batch.Queue("UPDATE meter_installation SET until = $1 WHERE point = $2 AND until = 0", at.UnixMicro(), servicePoint)
	batch.Queue("INSERT INTO meter_installation VALUES ($1, $2, $3, 0)", servicePoint, int32(fresh), at.UnixMicro())
	batch.Queue("UPDATE meter SET until = $1 WHERE number = $2", int32(until), int32(gone))
	batch.Queue("UPDATE meter SET since = $1 WHERE number = $2", int32(since), int32(fresh))
	return s.writer.Conn.SendBatch(ctx, batch).Close()
}
