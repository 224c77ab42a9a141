package memory

import (
	"cmp"
	"context"
	"slices"

	"voltbus/meter/store"
)

// events are what meters reported.
type events struct {
	list     []store.Event // by number
	keys     map[store.EventKey]bool
	log      string
	sequence uint64
}

// AppendEvents implements store.EventKeeper.
func (s *Store) AppendEvents(ctx context.Context, b *store.EventBatch) (store.EventResult, error) {
	if err := s.begin(ctx, "memory.AppendEvents"); err != nil {
		return store.EventResult{}, err
	}
	defer s.mu.Unlock()
	out := store.EventResult{Recorded: s.moment()}
	for _, e := range b.Distinct() {
		if key := e.Key(); !s.events.keys[key] {
			s.events.keys[key] = true
			e.Number, e.Recorded = uint64(len(s.events.list)+1), out.Recorded
			s.events.list = append(s.events.list, e)
			out.Stored++
		}
	}
	out.Repeated = len(b.Events) - out.Stored
	if b.Log != "" {
		s.events.log, s.events.sequence = b.Log, b.Sequence
	}
	return out, nil
}

// EventCursor implements store.EventKeeper.
func (s *Store) EventCursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.begin(ctx, "memory.EventCursor"); err != nil {
		return "", 0, err
	}
	defer s.mu.Unlock()
	return s.events.log, s.events.sequence, nil
}

// Events implements store.EventKeeper.
func (s *Store) Events(ctx context.Context, q store.EventQuery) ([]store.Event, error) {
	const op = "memory.Events"
	if err := s.begin(ctx, op); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if q.After > uint64(len(s.events.list)) {
		return nil, store.NoEvent(op, q.After)
	}
	order := func(a, b store.Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Number, a.Number)) }
	var out []store.Event
	for i := range s.events.list {
		e := s.events.list[i]
		if q.Wants(&e) && (q.After == 0 || order(s.events.list[q.After-1], e) < 0) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, order)
	return out[:min(len(out), q.Most())], nil
}
