// Package postgres keeps meters and readings in PostgreSQL, for those who want a server. What arrives is stored in rows of
// neighbouring channels; when a day is validated, the readings of a channel become one row of arrays, in which a raw reading
// and its validation are one element. Readings, what validation says and the place in the log are committed together. The
// tables are documented in docs/formats/metering.md.
package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/postgres/connection"
)

// Options say where a Store lives and who writes. URL, Writer and Zone are required.
type Options struct {
	connection.Settings
	Writer string           // the node's name
	Zone   *time.Location   // of the days; a store keeps that which it was made with
	Now    func() time.Time // the clock; time.Now if nil
	Cells  int              // readings that Judge reads at once, some 40 bytes each, twice; 2 million if 0
	Slice  int              // readings that Judge writes in one transaction; 250,000 if 0
	Log    *slog.Logger     // silent if nil
}

// Store implements store.Store. It is safe for concurrent use. A lost connection is made anew by the next call that
// writes. Meters are kept in memory, too, so one store at a time is open on the tables of a schema.
type Store struct {
	directory.Known
	*events
	*database
}

// database is a store's connections, and what is known of its tables in memory.
type database struct {
	options  Options
	calendar *store.Calendar
	dir      *directory.Directory
	config   *pgx.ConnConfig
	pool     *pgxpool.Pool // its connections cannot write

	judging sync.Mutex // held while a day is judged; taken before the others
	write   sync.Mutex // held by whoever writes; guards the writer and what is known of the state
	writer  *connection.Writer
	state   state
	models  int // descriptions of channels in the directory

	mu       sync.Mutex // never held during a statement
	closed   bool
	sources  []source
	sourceOf map[source]uint32
	strays   map[string]uint64 // by the origin of the block in which they came; "" for this node
}

// state is the row of the table meter_state.
type state struct {
	log       string
	sequence  uint64
	newest    int64 // moment of recording, in Unix seconds
	exception uint64
	number    int64 // of the newest row of what arrived

	eventLog      string
	eventSequence uint64
	event         uint64 // the newest one
}

// source says what a version is, and where from: many share one.
type source struct {
	Stage  meter.Stage
	Status uint32
	Origin meter.Origin
}

var _ store.Store = (*Store)(nil)

// readers is how many connections read at most.
const readers = 8

var (
	errClosed = errors.New("the metering store is closed")
	errNode   = errors.New("the metering store needs the name of its node, and the zone of its days")
)

// Open opens or makes the store. It returns fault.Unreachable if the server does not answer, fault.Refused if it does
// not admit the user, fault.Conflict if another node has these tables or they are of a newer program, fault.Invalid for
// options or a database that cannot be used.
func Open(ctx context.Context, o Options) (*Store, error) {
	const op = "metering.Open"
	if o.Writer == "" || o.Zone == nil {
		return nil, fault.E(op, fault.Invalid, o.Writer, errNode)
	}
	o.Client = "voltbus " + o.Writer + " metering"
	if err := o.Complete(op); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cells == 0 {
		o.Cells = 2 << 20
	}
	if o.Slice == 0 {
		o.Slice = 250_000
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := store.NewCalendar(o.Zone)
	dir := directory.New(c)
	db := &database{options: o, calendar: c, dir: dir}
	s := &Store{dir.Known(), &events{db}, db}
	var err error
	if s.config, err = s.options.Config(op); err != nil {
		return nil, err
	}
	s.writer = &connection.Writer{Settings: &s.options.Settings, Config: s.config}
	s.writer.Begin = func(ctx context.Context, op string) error { return begin(ctx, s, op) }
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.writer.Connected(ctx, op); err != nil {
		return nil, err
	}
	if s.pool, err = s.options.Pool(ctx, op, s.config, readers); err != nil {
		s.writer.Disconnect(ctx)
		return nil, err
	}
	return s, nil
}

// Close ends all connections. It waits until a slice that is judged just now is written.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.writer.Disconnect(context.Background())
	s.pool.Close()
	return nil
}

// Damage says what was damaged: nothing that a node could mend is kept here.
func (s *Store) Damage() []string { return nil }

// usable returns the error for a call that comes after Close or with an ended context.
func (s *database) usable(ctx context.Context, op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.E(op, fault.Unavailable, connection.Place(s.config), errClosed)
	}
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	return nil
}

// fail gives an error its kind. A nil error stays nil.
func (s *database) fail(op string, err error) error { return s.options.Fail(op, s.config, err) }

// begin takes the right to write, with a working connection. The caller unlocks write when it returns nil.
func (s *database) begin(ctx context.Context, op string) error {
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	s.write.Lock()
	err := s.usable(ctx, op)
	if err == nil {
		err = s.writer.Connected(ctx, op)
	}
	if err != nil {
		s.write.Unlock()
	}
	return err
}

// look carries out f in a transaction that sees the store as it is now and cannot write.
func (s *database) look(ctx context.Context, op string, f func(tx pgx.Tx) error) error {
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return s.fail(op, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // there is nothing to lose
	return s.fail(op, f(tx))
}

// known returns what numbers of sources stand for. What it returns does not change.
func (s *database) known() []source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sources
}

var errSource = errors.New("a version of a reading has a source that is not known; it is tried again")

// sourceAt returns what a number stands for.
func sourceAt(list []source, n uint32) (*source, error) {
	if int(n) >= len(list) {
		return nil, fault.E("metering.read", fault.Unavailable, "", errSource)
	}
	return &list[n], nil
}

// Stats implements store.Store.
func (s *Store) Stats(ctx context.Context) (out store.Stats, err error) {
	const op = "metering.Stats"
	err = s.look(ctx, op, func(tx pgx.Tx) error {
		var rows int64
		if err := tx.QueryRow(ctx, "SELECT count(*), coalesce(sum(rows), 0)::bigint FROM meter_day").Scan(&out.Days, &rows); err != nil {
			return err
		}
		out.Rows = uint64(rows)
		return tx.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
			WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'm') AND c.relname LIKE 'meter%'`, s.options.Schema).Scan(&out.Bytes)
	})
	out.Meters, out.Channels = s.dir.Len()
	_, out.Strays = s.Waiting(func(string) bool { return false })
	return out, err
}

// Waiting implements store.Keeper.
func (s *Store) Waiting(meant func(origin string) bool) (of, all uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for origin, n := range s.strays {
		all += n
		if meant(origin) {
			of += n
		}
	}
	return of, all
}

// Days implements store.Judged.
func (s *Store) Days(ctx context.Context) (out []store.DayState, err error) {
	const op = "metering.Days"
	err = s.look(ctx, op, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT day, rows, waiting + coalesce((SELECT count(*) FROM meter_redo r WHERE r.day = d.day), 0), judged FROM meter_day d ORDER BY day`)
		if err != nil {
			return err
		}
		var day int32
		var versions, waiting int64
		var judged bool
		_, err = pgx.ForEachRow(rows, []any{&day, &versions, &waiting, &judged}, func() error {
			out = append(out, store.DayState{Day: store.Day(day), Rows: uint64(versions), Waiting: uint64(waiting), Judged: judged && waiting == 0})
			return nil
		})
		return err
	})
	return out, err
}
