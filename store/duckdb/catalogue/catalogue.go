// Package catalogue numbers the points of a store, and caches the newest sample of each.
package catalogue

import (
	"context"
	"slices"
	"strconv"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/internal/interner"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/newest"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// Catalogue numbers the points and knows the newest sample of each. Numbers start at 0 and are never reused.
type Catalogue struct {
	Names *interner.Index
	Last  newest.Table
}

// New returns a catalogue without points.
func New() *Catalogue {
	return &Catalogue{Names: interner.New()}
}

// Put gives a point its former number. Numbers in between, whose points were lost with a damaged database,
// stay unused.
func (c *Catalogue) Put(id uint32, p point.Path) {
	c.Names.Put(id, string(p))
	c.Last.Grow(int(c.Names.Next()))
}

// See records the row as the point's newest sample unless a newer one is known.
func (c *Catalogue) See(id uint32, r sample.Row) { c.Last.See(id, newestOf(r)) }

// Latest returns the newest sample of a point; false if there is none.
func (c *Catalogue) Latest(id uint32) (sample.Row, bool) {
	s, known := c.Last.Sample(id)
	return sample.Row{Time: s.Time, Value: s.Value, Quality: s.Quality}, known
}

func newestOf(r sample.Row) newest.Sample {
	return newest.Sample{Time: r.Time, Value: r.Value, Quality: r.Quality}
}

// Add numbers a point.
func (c *Catalogue) Add(p point.Path) { c.Put(c.Names.Next(), p) }

// ID returns the number of a point; false if it has none. Guess is tried first: points recur in the order of
// their first appearance.
func (c *Catalogue) ID(p point.Path, guess uint32) (uint32, bool) {
	if c.Names.Is(guess, string(p)) {
		return guess, true
	}
	return c.Names.Find(string(p))
}

// pathsAtOnce is how many paths share one allocation, which lives as long as one of them is used.
const pathsAtOnce = 256

// Paths lists the points in path order.
func (c *Catalogue) Paths() []point.Path {
	out := make([]point.Path, 0, c.Names.Len())
	var text []byte
	var ends []int
	flush := func() {
		piece, begin := string(text), 0
		for _, end := range ends {
			out = append(out, point.Path(piece[begin:end]))
			begin = end
		}
		text, ends = text[:0], ends[:0]
	}
	for id := range c.Names.Next() {
		if !c.Names.Has(id) {
			continue
		}
		text = c.Names.Append(text, id)
		if ends = append(ends, len(text)); len(ends) == pathsAtOnce {
			flush()
		}
	}
	flush()
	slices.Sort(out)
	return out
}

// Load reads points and latest samples: those saved in the file, otherwise those saved when a day was closed,
// and then newer ones from the tables.
func Load(ctx context.Context, c *engine.Conn, days map[store.Day]*day.Day, saved *snapshot.Keeper) (*Catalogue, error) {
	cat := New()
	if err := cat.loadNames(ctx, c); err != nil {
		return nil, err
	}
	last, covers, err := saved.Load(ctx, c, day.Places(days), int(cat.Names.Next()))
	if last != nil {
		last.Grow(int(cat.Names.Next()))
		cat.Last = *last
	} else if err == nil {
		err = cat.loadLatest(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		if d.Table == "" {
			continue
		}
		from := covers[d.Table]
		if d.Overwritten, err = cat.loadTable(ctx, c, d, from); err != nil {
			return nil, err
		}
		saved.Note(d.Stored - from.Rows)
	}
	return cat, nil
}

func (c *Catalogue) loadNames(ctx context.Context, conn *engine.Conn) error {
	points, err := engine.Count(ctx, conn, "SELECT count(*) FROM points")
	if err != nil {
		return err
	}
	c.Names.Reserve(int(points))
	err = conn.Query(ctx, "SELECT id, path FROM points", func(ch *engine.Chunk) error {
		ids, paths := engine.Numbers[uint32](ch, 0), ch.Texts(1)
		for i := range ch.Rows {
			c.Names.Put(ids[i], paths.View(i))
		}
		return nil
	})
	c.Last.Grow(int(c.Names.Next()))
	return err
}

// loadLatest loads the latest samples saved when a day was closed.
func (c *Catalogue) loadLatest(ctx context.Context, conn *engine.Conn) error {
	return conn.Query(ctx, "SELECT "+sample.FileColumns+" FROM latest", func(ch *engine.Chunk) error {
		cols := sample.ColumnsOf(ch)
		for i, id := range cols.ID {
			c.See(id, cols.At(i))
		}
		return nil
	})
}

// loadTable loads the latest samples of a day's table, except covered rows. It counts those that replaced a
// different one, in addition to those counted before.
func (c *Catalogue) loadTable(ctx context.Context, conn *engine.Conn, d *day.Day, from snapshot.Covered) (overwritten uint64, err error) {
	overwritten = from.Overwritten
	if d.Stored == from.Rows {
		return overwritten, nil
	}
	l := tableLoad{cat: c, numbers: make([]float64, c.Last.Len())}
	where := ""
	if from.Rows > 0 {
		where = " WHERE rowid >= " + strconv.FormatUint(from.Rows, 10)
	} else {
		l.taken = make([]bool, c.Last.Len())
	}
	err = conn.Query(ctx, "SELECT "+sample.TableColumns+" FROM "+d.Table+where, func(ch *engine.Chunk) error {
		cols := sample.TableColumnsOf(ch, nil)
		for i, id := range cols.ID {
			l.see(id, &cols, i)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := l.words(ctx, conn, d.Table); err != nil {
		return 0, err
	}
	return overwritten + l.overwritten, nil
}

// tableLoad loads the latest samples from rows of a day's table.
type tableLoad struct {
	cat         *Catalogue
	taken       []bool    // by id: the latest sample is from this table; nil if that is known for all times of the day
	numbers     []float64 // by id: number of the latest sample's text, from 1; 0 if it is not text, or older
	doubts      []doubt
	overwritten uint64
}

// doubt is a text that replaced an older one, which may be the same.
type doubt struct {
	number float64 // of the new one, from 1
	text   string  // of the old one
}

// see records the sample in a row, whose text is not known yet.
func (l *tableLoad) see(id uint32, cols *sample.Columns, i int) {
	last, number := &l.cat.Last, 0.0
	if cols.KindAt(i) == point.Text {
		last.Word(id)
		number = cols.Value[i] + 1
	}
	time, known := last.Time(id)
	if known && cols.Time[i] < time {
		return
	}
	s := newestOf(cols.At(i))
	if known && cols.Time[i] == time && (l.taken == nil || l.taken[id]) {
		l.compare(id, s, number)
	}
	last.Take(id, s)
	l.numbers[id] = number
	if l.taken != nil {
		l.taken[id] = true
	}
}

// compare counts the sample if it differs from the latest of its point, which has the same time.
func (l *tableLoad) compare(id uint32, s newest.Sample, number float64) {
	last := &l.cat.Last
	if old := l.numbers[id]; number > 0 && old == 0 && !last.Differs(id, s, true) {
		before, _ := last.Sample(id)
		l.doubts = append(l.doubts, doubt{number, before.Value.Text()})
	} else if last.Differs(id, s, number == old) {
		l.overwritten++
	}
}

// words loads the texts of numbers from the words of the day's table.
func (l *tableLoad) words(ctx context.Context, conn *engine.Conn, table string) error {
	texts := make(map[float64]string)
	for _, number := range l.numbers {
		if number > 0 {
			texts[number-1] = ""
		}
	}
	for _, d := range l.doubts {
		texts[d.number-1] = ""
	}
	if err := sample.FindWords(ctx, conn, table, texts); err != nil {
		return err
	}
	for id, number := range l.numbers {
		if number > 0 {
			l.cat.Last.Say(uint32(id), texts[number-1])
		}
	}
	for _, d := range l.doubts {
		if texts[d.number-1] != d.text {
			l.overwritten++
		}
	}
	return nil
}

// SavePoints writes points whose numbers start at first.
func SavePoints(c *engine.Conn, paths []point.Path, first int) error {
	if len(paths) == 0 {
		return nil
	}
	a, err := c.Appender("points", duck.TypeUInteger, duck.TypeVarchar)
	if err != nil {
		return err
	}
	defer a.Close()
	for len(paths) > 0 {
		n := min(engine.ChunkRows, len(paths))
		ids := engine.Column[uint32](a, 0)
		for i, p := range paths[:n] {
			ids[i] = uint32(first + i)
			a.Text(1, i, string(p))
		}
		if err := a.Append(n); err != nil {
			return err
		}
		paths, first = paths[n:], first+n
	}
	return a.Flush()
}

// SaveLatest replaces the saved latest samples, within the connection's transaction.
func SaveLatest(ctx context.Context, c *engine.Conn, cat *Catalogue) error {
	if err := c.Exec(ctx, "DELETE FROM latest"); err != nil {
		return err
	}
	w, err := sample.OpenLatest(c)
	if err != nil {
		return err
	}
	defer w.Close()
	for id := range cat.Names.Next() {
		if r, known := cat.Latest(id); known {
			if err := w.Add(id, &r); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
