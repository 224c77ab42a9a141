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
	Cells       int              // readings that Judge reads at once, some 25 octets each, twice; 4 million if 0
	Slice       int              // readings that Judge writes in one transaction; 250,000 if 0
}

// Store implements store.Store. It is safe for concurrent use.
type Store struct {
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

	busy   sync.RWMutex // held by readers while they read; a table goes when nobody holds it
	tables sync.RWMutex // held while a slice becomes visible, and by readers until they have their view; taken before mu

	mu        sync.Mutex // guards what follows; never held during a statement
	closed    bool
	spare     []*engine.Conn
	days      map[store.Day]*day
	sources   []source
	sourceOf  map[source]uint32
	verdicts  []verdict
	verdictOf map[verdict]uint32
	redo      map[store.Day]uint64 // channels that depend on other days which changed
	strays    strays
}

type cursor struct {
	log      string
	sequence uint64
}

// day is the tables of one local day. It is replaced, never changed.
type day struct {
	key     store.Day
	open    uint64 // rows of the open table; there is none if 0
	waiting uint64 // of them those of intervals
	sealed  uint64 // rows of the sorted table
	extra   uint64 // rows of the table of further versions
	judged  bool   // the sorted table is there
	delayed bool   // it tells the moment of recording from the interval's end
	bound   uint32 // channels below it were judged

	generation   uint32 // of the open table
	taken        uint64 // rows of the batch that is judged, which was the open table before; there is none if 0
	takenWaiting uint64 // of them raw readings of intervals
	done         uint32 // channels below it were judged: their rows of the batch do not count any more
	totals       uint64 // rows of the table of sums
}

// The names of a day's tables.
func (d *day) openTable() string   { return d.versioned(d.generation) }
func (d *day) batchTable() string  { return d.versioned(d.generation - 1) }
func (d *day) totalTable() string  { return "t_" + d.name() }
func (d *day) sealedTable() string { return "s_" + d.name() }
func (d *day) extraTable() string  { return "x_" + d.name() }

func (d *day) name() string {
	return strings.ReplaceAll(strconv.Itoa(int(d.key)), "-", "m")
}

func (d *day) versioned(generation uint32) string {
	if generation == 0 {
		return "o_" + d.name()
	}
	return "o_" + d.name() + "_" + strconv.FormatUint(uint64(generation), 10)
}

// versionTable is a table of versions, with what tells the rows that count.
type versionTable struct{ table, and string }

// versionTables lists the tables of versions, the oldest first.
func (d *day) versionTables() []versionTable {
	var list []versionTable
	if d.extra > 0 {
		list = append(list, versionTable{d.extraTable(), ""})
	}
	if d.taken > 0 {
		list = append(list, versionTable{d.batchTable(), " AND channel >= " + strconv.FormatUint(uint64(d.done), 10)})
	}
	if d.open > 0 {
		list = append(list, versionTable{d.openTable(), ""})
	}
	return list
}

// rows is how many versions the day has, as far as that can be told while it is judged.
func (d *day) rows() uint64 { return d.open + d.taken + d.sealed + d.extra }

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
	db, err := engine.Open(filepath.Join(o.Dir, "metering.duckdb"), o.settings())
	if err != nil {
		return nil, failed(op, o.Dir, err)
	}
	c := store.NewCalendar(o.Zone)
	s := &Store{options: o, calendar: c, dir: directory.New(c), db: db, days: map[store.Day]*day{}, sourceOf: map[source]uint32{}, verdictOf: map[verdict]uint32{}, redo: map[store.Day]uint64{}, strays: strays{of: map[string]uint64{}}}
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
	c, _, give, err = s.view(ctx, op)
	return c, give, err
}

// view is reader, with the days that belong to what the connection sees.
func (s *Store) view(ctx context.Context, op string) (c *engine.Conn, days map[store.Day]*day, give func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, fault.E(op, fault.KindOf(err), "", err)
	}
	s.busy.RLock()
	c, err = s.connection(op)
	if err != nil {
		s.busy.RUnlock()
		return nil, nil, nil, err
	}
	give = func() {
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
			return nil, nil, nil, failed(op, s.options.Dir, err)
		}
	}
	return c, s.snapshot(), give, nil
}

// connection returns a spare connection, or a new one.
func (s *Store) connection(op string) (*engine.Conn, error) {
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
func (s *Store) dayOf(d store.Day) *day {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.days[d]
}

// known returns what numbers of sources and verdicts stand for.
func (s *Store) known() ([]source, []verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sources, s.verdicts
}

// numberOf returns the number of a source that is known.
func (s *Store) numberOf(v source) (uint32, bool) {
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
		out.Rows += d.rows()
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
