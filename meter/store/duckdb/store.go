// Package duckdb is the embedded metering store: DuckDB tables by local days. What arrives is appended to the open
// table of its day; when a day is judged, its readings go into a table that is sorted by channel, in which a raw
// reading and its validation are one row. Readings, what validation says and the place in the log are committed
// together. The layout is documented in docs/formats/metering.md.
package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"voltbus/store/duckdb/engine"
)

// Options say where a Store lives and what it may use. Dir and Zone are required.
type Options struct {
	Dir         string           // the store's own directory; made if it is absent
	Zone        *time.Location   // of the days; a store keeps that which it was made with
	Now         func() time.Time // the clock; time.Now if nil
	MemoryLimit int64            // bytes that DuckDB may use before it spills to Dir/tmp; 512 MB if 0
	Threads     int              // that DuckDB may use for one query; 2 if 0
	Cells       int              // readings that Judge holds in memory at once, 16 octets each; 8 million if 0
}

// Store implements store.Store. It is safe for concurrent use.
type Store struct {
	options  Options
	calendar *store.Calendar
	dir      *directory.Directory
	db       *engine.DB

	write  sync.Mutex // held by whoever changes the database; taken before the others
	writer *engine.Conn
	newest uint32 // moment of recording, in Unix seconds
	cursor cursor
	number uint64 // of the newest exception

	tables sync.RWMutex // held by readers while tables must not go; taken before mu

	mu       sync.Mutex // guards what follows; never held during a statement
	closed   bool
	spare    []*engine.Conn
	days     map[store.Day]*day
	sources  []source
	sourceOf map[source]uint32
	verdicts []verdict
	strays   strays
}

type cursor struct {
	log      string
	sequence uint64
}

// day is the tables of one local day. It is replaced, never changed.
type day struct {
	key     store.Day
	open    uint64 // rows of the open table; there is none if 0
	waiting uint64 // of them raw readings of intervals
	sealed  uint64 // rows of the sorted table
	extra   uint64 // rows of the table of further versions
	judged  bool   // the sorted table is there
	delayed bool   // it tells the moment of recording from the interval's end
	bound   uint32 // channels below it were judged
}

// The names of a day's tables.
func (d *day) openTable() string   { return "o_" + d.name() }
func (d *day) sealedTable() string { return "s_" + d.name() }
func (d *day) extraTable() string  { return "x_" + d.name() }

func (d *day) name() string {
	return strings.ReplaceAll(strconv.Itoa(int(d.key)), "-", "m")
}

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
		o.Cells = 8 << 20
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "tmp"), 0o750); err != nil {
		return nil, fault.E(op, fault.Invalid, o.Dir, fmt.Errorf("the directory must be writable: %w", err))
	}
	db, err := engine.Open(filepath.Join(o.Dir, "metering.duckdb"), o.settings())
	if err != nil {
		return nil, failed(op, o.Dir, err)
	}
	c := store.NewCalendar(o.Zone)
	s := &Store{options: o, calendar: c, dir: directory.New(c), db: db, days: map[store.Day]*day{}, sourceOf: map[source]uint32{}, strays: strays{of: map[string]uint64{}}}
	if s.writer, err = db.Connect(); err == nil {
		err = load(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(failed(op, o.Dir, err), s.Close())
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

// Close ends all work. It waits for readers.
func (s *Store) Close() error {
	s.write.Lock()
	defer s.write.Unlock()
	s.tables.Lock()
	defer s.tables.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for _, c := range s.spare {
		c.Close()
	}
	if s.writer != nil {
		s.writer.Close()
	}
	s.db.Close()
	return nil
}

// reader lends a connection and keeps the tables until give is called.
func (s *Store) reader(ctx context.Context, op string) (c *engine.Conn, give func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fault.E(op, fault.KindOf(err), "", err)
	}
	s.tables.RLock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.tables.RUnlock()
		return nil, nil, fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	}
	if n := len(s.spare); n > 0 {
		c = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else if c, err = s.db.Connect(); err != nil {
		s.tables.RUnlock()
		return nil, nil, failed(op, s.options.Dir, err)
	}
	return c, func() {
		s.mu.Lock()
		s.spare = append(s.spare, c)
		s.mu.Unlock()
		s.tables.RUnlock()
	}, nil
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
func (s *Store) moment() uint32 {
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
	out.Days, out.Strays = len(s.days), s.strays.all
	for _, d := range s.days {
		out.Rows += d.open + d.sealed + d.extra
	}
	s.mu.Unlock()
	err = filepath.WalkDir(s.options.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // a file that goes meanwhile has no size
		}
		if info, err := e.Info(); err == nil {
			out.Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return out, failed(op, s.options.Dir, err)
	}
	return out, nil
}

// snapshot returns the days as they are.
func (s *Store) snapshot() map[store.Day]*day {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[store.Day]*day, len(s.days))
	maps.Copy(out, s.days)
	return out
}
