package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/point"
)

// Intervals of watching.
const (
	watchRetry = 5 * time.Second
	watchLook  = time.Minute // all are checked, even without a notification
)

// watchBack is how far before the last number a notification makes it look: writers commit in another order than they
// take numbers.
const watchBack = 100_000

// watchPortion is how many points are reported at once at most.
const watchPortion = 1000

// channel is the notification channel for new points.
func (s *server) channel() string { return "voltbus_" + s.options.Schema }

// Watch calls found with new points of the database until ctx ends; it then returns nil. It begins with all existing points, and
// reports new ones when their samples are committed, whichever node wrote them. After an error from found it tries again, as it
// does for an unavailable server. One goroutine calls found.
func (s *server) Watch(ctx context.Context, found func([]point.Path) error) error {
	told := &idSet{}
	for ctx.Err() == nil {
		if err := s.watch(ctx, told, found); err != nil && ctx.Err() == nil {
			s.options.Log.DebugContext(ctx, "watching for new points is tried again", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchRetry):
		}
	}
	return nil
}

// watch is Watch for one connection.
func (s *server) watch(ctx context.Context, told *idSet, found func([]point.Path) error) error {
	cfg := s.config.Copy()
	if err := s.settings.ReadPassword(ctx, cfg); err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return s.fail("postgres.Watch", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ending) // errors of a broken one do not matter
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+s.channel()); err != nil {
		return s.fail("postgres.Watch", err)
	}
	for from := int32(0); ; {
		if err := tell(ctx, conn, watched{from, told, found}); err != nil {
			return s.fail("postgres.Watch", err)
		}
		some, cancel := context.WithTimeout(ctx, watchLook)
		_, err := conn.WaitForNotification(some)
		late := some.Err() != nil
		cancel()
		switch {
		case err == nil:
			from = told.last - watchBack
		case ctx.Err() != nil || !late || conn.IsClosed():
			return s.fail("postgres.Watch", err)
		default:
			from = 0
		}
	}
}

// watched selects unreported points from a number on.
type watched struct {
	from  int32
	told  *idSet
	found func([]point.Path) error
}

// tell reads the points not yet reported, and reports them.
func tell(ctx context.Context, conn *pgx.Conn, w watched) error {
	rows, err := conn.Query(ctx, "SELECT id, path FROM point WHERE id >= $1", w.from)
	if err != nil {
		return err
	}
	var fresh []numbered
	var one numbered
	_, err = pgx.ForEachRow(rows, []any{&one.id, &one.path}, func() error {
		if !w.told.has(one.id) {
			fresh = append(fresh, one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(fresh, watchPortion) {
		paths := make([]point.Path, len(some))
		for i := range some {
			paths[i] = point.Path(some[i].path)
		}
		if err := w.found(paths); err != nil {
			return err
		}
		for i := range some {
			w.told.add(some[i].id)
		}
	}
	return nil
}

// numbered is a point of the table.
type numbered struct {
	id   int32
	path string
}

// idSet is a bit set of points' numbers.
type idSet struct {
	bits []uint64
	last int32 // the largest
}

func (s *idSet) has(id int32) bool {
	at := int(id) / 64
	return at < len(s.bits) && s.bits[at]&(1<<(id%64)) != 0
}

func (s *idSet) add(id int32) {
	for at := int(id) / 64; at >= len(s.bits); {
		s.bits = append(s.bits, 0)
	}
	s.bits[id/64] |= 1 << (id % 64)
	s.last = max(s.last, id)
}
