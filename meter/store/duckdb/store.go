// Package duckdb is the embedded metering store: DuckDB tables by local days. What arrives is appended to the open
// table of its day; when a day is judged, its readings go into a table that is sorted by channel, in which a raw
// reading and its validation are one row. Readings, what validation says and the place in the log are committed
// together. The layout is documented in docs/formats/metering.md.
package duckdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/eventtable"
	"voltbus/meter/store/duckdb/heal"
	"voltbus/meter/store/duckdb/sqlview"
	"voltbus/meter/store/duckdb/stray"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// Options say where a Store lives and what it may use. Dir and Zone are required.
type Options struct {
	Dir         string           // the store's own directory; made if it is absent
	Zone        *time.Location   // of the days; a store keeps that which it was made with
	Now         func() time.Time // the clock; time.Now if nil
	MemoryLimit int64            // bytes that DuckDB may use before it spills to Dir/tmp; 512 MB if 0
	Threads     int              // that DuckDB may use for one query; 2 if 0
	Cells       int              // readings that Judge reads at once, some 25 bytes each, twice; 4 million if 0
	Slice       int              // readings that Judge writes in one transaction; 250,000 if 0
	fresh       bool             // the database was damaged: this is a new one
}

// Store implements store.Store. It is safe for concurrent use.
type Store struct {
	directory.Known
	*eventtable.Keeper
	options  Options
	calendar *store.Calendar
	dir      *directory.Directory
	db       *engine.DB

	judging sync.Mutex // held while a day is judged; taken before the others

	write   sync.Mutex // held by whoever changes the database; taken before the ones below
	writer  *engine.Conn
	newest  uint32 // moment of recording, in Unix seconds
	cursor  cursor
	number  uint64   // of the newest exception
	garbage []string // tables that nobody refers to any more
	shown   *sqlview.Shown
	copied  int      // meters and installations of the newest copy
	aside   []string // damaged databases that were set aside

	busy   sync.RWMutex // held by readers while they read; a table goes when nobody holds it
	tables sync.RWMutex // held while a change or a slice becomes visible, and by readers until they have their view; taken before mu

	index
	closed bool // guarded by mu of the index, as is what follows
	spare  []*engine.Conn
	strays stray.Strays
}

// index is what is known of the tables, in memory.
type index struct {
	mu        sync.Mutex // never held during a statement
	days      map[store.Day]*day
	sources   []source
	sourceOf  map[source]uint32
	verdicts  []verdict
	verdictOf map[verdict]uint32
	redo      map[store.Day]uint64 // channels that depend on other days which changed
}

type cursor struct {
	log      string
	sequence uint64
}

// What tables hold.
type (
	day     = table.Day
	source  = table.Source
	verdict = table.Verdict
	row     = table.Row
)

var _ store.Store = (*Store)(nil)

var (
	errClosed  = errors.New("the metering store is closed")
	errNoDir   = errors.New("the metering store needs a directory and the zone of its days")
	errVersion = errors.New("the metering store has a layout that this program does not know: use the program that wrote it, or a newer one")
)

// Open opens or creates the store in a directory. One process has it open at a time.
func Open(ctx context.Context, o Options) (*Store, error) {
	const op = "metering.Open"
	if o.Dir == "" || o.Zone == nil {
		return nil, fault.E(op, fault.Invalid, o.Dir, errNoDir)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = 512 << 20
	}
	if o.Threads == 0 {
		o.Threads = 2
	}
	if o.Cells == 0 {
		o.Cells = 4 << 20
	}
	if o.Slice == 0 {
		o.Slice = 250_000
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "tmp"), 0o750); err != nil {
		return nil, fault.E(op, fault.Invalid, o.Dir, fmt.Errorf("the directory must be writable: %w", err))
	}
	s, err := start(ctx, o)
	if heal.Damaged(err) {
		if err := heal.SetAside(o.Dir, o.Now()); err != nil {
			return nil, fault.E(op, fault.Corrupt, o.Dir, err)
		}
		o.fresh = true
		s, err = start(ctx, o)
	}
	if err != nil {
		return nil, failed(op, o.Dir, err)
	}
	return s, nil
}

// start opens the database and reads what is kept in memory.
func start(ctx context.Context, o Options) (*Store, error) {
	db, err := engine.Open(filepath.Join(o.Dir, heal.File), o.settings())
	if err != nil {
		return nil, err
	}
	c := store.NewCalendar(o.Zone)
	dir := directory.New(c)
	s := &Store{
		Known: dir.Known(), options: o, calendar: c, dir: dir, db: db, strays: stray.Strays{Of: map[string]uint64{}}, aside: heal.Kept(o.Dir),
		index: index{days: map[store.Day]*day{}, sourceOf: map[source]uint32{}, verdictOf: map[verdict]uint32{}, redo: map[store.Day]uint64{}},
	}
	if s.writer, err = db.Connect(); err == nil {
		err = load(ctx, s)
	}
	if err == nil {
		err = openEvents(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (o *Options) settings() map[string]string {
	return map[string]string{
		"threads":                      strconv.Itoa(o.Threads),
		"memory_limit":                 strconv.FormatInt(o.MemoryLimit, 10) + "B",
		"temp_directory":               filepath.Join(o.Dir, "tmp"),
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
	}
}

// Close ends all work. It waits for readers, and until a slice that is judged just now is written.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	for _, c := range s.spare {
		c.Close()
	}
	if s.writer != nil {
		s.writer.Close()
	}
	s.db.Close()
	return nil
}

// reader lends a connection that sees the store as it is now, until give is called.
func (s *Store) reader(ctx context.Context, op string) (c *engine.Conn, give func(), err error) {
	v, err := s.view(ctx, op)
	if err != nil {
		return nil, nil, err
	}
	return v.c, v.give, nil
}

// view is the store as a connection sees it, until give is called.
type view struct {
	c    *engine.Conn
	days map[store.Day]*day // that belong to what the connection sees
	give func()
}

func (s *Store) view(ctx context.Context, op string) (*view, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), "", err)
	}
	s.busy.RLock()
	c, err := connection(s, op)
	if err != nil {
		s.busy.RUnlock()
		return nil, err
	}
	give := func() {
		_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // fails only when nothing is open
		s.mu.Lock()
		s.spare = append(s.spare, c)
		s.mu.Unlock()
		s.busy.RUnlock()
	}
	s.tables.RLock()
	defer s.tables.RUnlock()
	for _, statement := range []string{"BEGIN", "SELECT log FROM state"} { // a transaction sees what was there when it read first
		if err := c.Exec(ctx, statement); err != nil {
			give()
			return nil, failed(op, s.options.Dir, err)
		}
	}
	return &view{c: c, days: s.snapshot(), give: give}, nil
}

// connection returns a spare connection, or a new one.
func connection(s *Store, op string) (*engine.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	}
	if n := len(s.spare); n > 0 {
		c := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return c, nil
	}
	c, err := s.db.Connect()
	if err != nil {
		return nil, failed(op, s.options.Dir, err)
	}
	return c, nil
}

// dayOf returns a day as it is; nil if there is none.
func (s *index) dayOf(d store.Day) *day {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.days[d]
}

// known returns what numbers of sources and verdicts stand for.
func (s *index) known() ([]source, []verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sources, s.verdicts
}

// numberOf returns the number of a source that is known.
func (s *index) numberOf(v source) (uint32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.sourceOf[v]
	return n, ok
}

// begin takes the right to write. The caller unlocks write when it returns nil.
func (s *Store) begin(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	s.write.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.write.Unlock()
		return fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	}
	return nil
}

// moment returns the moment of recording, in Unix seconds. The caller holds write.
func moment(s *Store) uint32 {
	return max(s.newest, uint32(store.Moment(s.options.Now()).Unix()))
}

// transaction carries out f on the writer's connection. The caller holds write.
func (s *Store) transaction(ctx context.Context, f func(c *engine.Conn) error) error {
	return s.writer.Transact(ctx, func() error { return f(s.writer) })
}

// failed gives an error of the engine a kind.
func failed(op, subject string, err error) error {
	var known *fault.Error
	switch e := engine.AsError(err); {
	case errors.As(err, &known):
		return err
	case e != nil && (strings.Contains(e.Text, "No space left") || strings.Contains(e.Text, "could not write all bytes")):
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the disk is full: %w", err))
	case e != nil && strings.Contains(e.Text, "Conflicting lock"):
		return fault.E(op, fault.Conflict, subject, fmt.Errorf("another process has the metering store open: %w", err))
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.KindOf(err), subject, err)
	}
	return fault.E(op, fault.Internal, subject, err)
}

// Stats implements store.Store.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	const op = "metering.Stats"
	_, give, err := s.reader(ctx, op)
	if err != nil {
		return store.Stats{}, err
	}
	defer give()
	var out store.Stats
	out.Meters, out.Channels = s.dir.Len()
	s.mu.Lock()
	out.Days, out.Strays = len(s.days), s.strays.All
	for _, d := range s.days {
		out.Rows += d.Rows()
	}
	s.mu.Unlock()
	out.Bytes = heal.Size(s.options.Dir)
	return out, nil
}

// snapshot returns the days as they are.
func (s *index) snapshot() map[store.Day]*day {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[store.Day]*day, len(s.days))
	maps.Copy(out, s.days)
	return out
}
