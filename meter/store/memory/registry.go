package memory

import (
	"context"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

// Register implements store.Registry.
func (s *Store) Register(ctx context.Context, list []store.Registration) (store.Registered, error) {
	const op = "memory.Register"
	if err := s.begin(ctx, op); err != nil {
		return store.Registered{}, err
	}
	defer s.mu.Unlock()
	free := func(point string) bool { return !s.points[point] }
	p := s.dir.Plan(list, free)
	s.dir.Apply(p)
	for i, e := range p.Entries {
		r := &list[p.Indices[i]]
		if r.ServicePoint != "" {
			if err := s.installed.Install(meter.Installation{Meter: e.ID, ServicePoint: r.ServicePoint, From: r.From}); err != nil {
				return store.Registered{}, fault.E(op, fault.Internal, e.ID, err)
			}
			s.points[r.ServicePoint], s.places[r.ServicePoint] = true, r.Premises
		}
	}
	for key, waiting := range s.strays {
		ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
		if ref.Channel == nil {
			continue
		}
		for _, v := range waiting {
			if err := s.add(ref, v, true); err != nil {
				return store.Registered{}, fault.E(op, fault.Internal, key.Meter, err)
			}
		}
		p.Result.Adopted += len(waiting)
		delete(s.strays, key)
	}
	return p.Result, nil
}

// Meter implements store.Registry.
func (s *Store) Meter(_ context.Context, id string) (meter.Meter, error) {
	n, ok := s.dir.Number(id)
	if !ok {
		return meter.Meter{}, store.Unregistered("memory.Meter", id)
	}
	return s.dir.Meter(n), nil
}

// Meters implements store.Registry.
func (s *Store) Meters(_ context.Context, after string, limit int) ([]meter.Meter, error) {
	return s.dir.Meters(after, limit)
}

// Exchange implements store.Registry.
func (s *Store) Exchange(ctx context.Context, servicePoint, id string, at time.Time) error {
	const op = "memory.Exchange"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.dir.Number(id); !ok {
		return store.Unregistered(op, id)
	}
	old, _ := s.installed.At(servicePoint, at)
	if err := s.installed.Exchange(servicePoint, id, at); err != nil {
		return fault.E(op, fault.Conflict, servicePoint, err)
	}
	s.dir.Exchanged(old.Meter, id, at)
	return nil
}

// Installations implements store.Registry.
func (s *Store) Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error) {
	if err := s.begin(ctx, "memory.Installations"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.installed.List(servicePoint), nil
}
