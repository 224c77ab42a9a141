package overlay

import (
	"context"

	"voltbus/point"
	"voltbus/store"
)

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	if err := r.Check("overlay.Read"); err != nil {
		return err
	}
	for points := r.Points; len(points) > 0; {
		plain := 0
		for plain < len(points) && len(between(s.added[points[plain]], r.From, r.To)) == 0 {
			plain++
		}
		part := r
		part.Points = points[:max(plain, 1)]
		read := s.Store.Read
		switch {
		case plain == 0 && r.Limit > 0:
			read = s.readLimited
		case plain == 0:
			read = s.readMerged
		}
		if err := read(ctx, part, emit); err != nil {
			return err
		}
		points = points[max(plain, 1):]
	}
	return nil
}

// readMerged reads one point, run by run.
func (s *Store) readMerged(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	m := merger{added: between(s.added[r.Points[0]], r.From, r.To), good: r.GoodOnly}
	err := s.Store.Read(ctx, r, func(run []point.Sample) error {
		m.take(run)
		return m.give(emit)
	})
	if err != nil {
		return err
	}
	m.rest()
	return m.give(emit)
}

// readLimited reads the oldest or the newest samples of one point.
func (s *Store) readLimited(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	m := merger{added: between(s.added[r.Points[0]], r.From, r.To), good: r.GoodOnly}
	whole := r
	if r.GoodOnly {
		whole.Limit = 0 // an added one may be bad, and replace a good one
	}
	err := s.Store.Read(ctx, whole, func(run []point.Sample) error {
		m.take(run)
		return nil
	})
	if err != nil {
		return err
	}
	m.rest()
	if n := len(m.out); n > r.Limit && r.Newest {
		m.out = m.out[n-r.Limit:]
	} else if n > r.Limit {
		m.out = m.out[:r.Limit]
	}
	return m.give(emit)
}

// merger puts added samples between those of the store.
type merger struct {
	added []point.Sample // still to come
	good  bool           // omit bad ones
	out   []point.Sample
}

// take takes samples of the store, in time order, and what was added before them.
func (m *merger) take(run []point.Sample) {
	for i := range run {
		for len(m.added) > 0 && m.added[0].Time.Before(run[i].Time) {
			m.put()
		}
		if len(m.added) > 0 && m.added[0].Time.Equal(run[i].Time) {
			continue // the added one replaces it
		}
		m.out = append(m.out, run[i])
	}
}

// put takes the next added sample.
func (m *merger) put() {
	if !m.good || !m.added[0].Quality.IsBad() {
		m.out = append(m.out, m.added[0])
	}
	m.added = m.added[1:]
}

func (m *merger) rest() {
	for len(m.added) > 0 {
		m.put()
	}
}

func (m *merger) give(emit func([]point.Sample) error) error {
	if len(m.out) == 0 {
		return nil
	}
	out := m.out
	m.out = m.out[:0]
	return emit(out)
}
