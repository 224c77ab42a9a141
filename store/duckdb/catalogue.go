package duckdb

import (
	"context"
	"slices"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/internal/lexicon"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/newest"
)

// catalogue numbers the points and knows the newest sample of each. Numbers start at 0 and are
// never used again.
type catalogue struct {
	names *lexicon.Index
	last  newest.Table
}

func newCatalogue() *catalogue {
	return &catalogue{names: lexicon.New()}
}

// put gives a point the number that it had. Numbers in between, whose points were lost with a
// damaged database, stay unused.
func (c *catalogue) put(id uint32, p point.Path) {
	c.names.Put(id, string(p))
	c.last.Grow(int(c.names.Next()))
}

// see takes the row as the point's newest sample unless a newer one is known.
func (c *catalogue) see(id uint32, r row) { c.last.See(id, newestOf(r)) }

// latest returns the newest sample of a point; false if there is none.
func (c *catalogue) latest(id uint32) (row, bool) {
	s, known := c.last.Sample(id)
	return row{s.Time, s.Value, s.Quality}, known
}

func newestOf(r row) newest.Sample {
	return newest.Sample{Time: r.time, Value: r.value, Quality: r.quality}
}

// add numbers a point.
func (c *catalogue) add(p point.Path) { c.put(c.names.Next(), p) }

// id returns the number of a point; false if it has none. Guess is tried first: points come again in the
// order in which they came first.
func (c *catalogue) id(p point.Path, guess uint32) (uint32, bool) {
	if c.names.Is(guess, string(p)) {
		return guess, true
	}
	return c.names.Find(string(p))
}

// pathsAtOnce is how many paths stand in one piece of memory, which stays as long as one of them is used.
const pathsAtOnce = 256

// paths lists the points in path order.
func (c *catalogue) paths() []point.Path {
	out := make([]point.Path, 0, c.names.Len())
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
	for id := range c.names.Next() {
		if !c.names.Has(id) {
			continue
		}
		text = c.names.Append(text, id)
		if ends = append(ends, len(text)); len(ends) == pathsAtOnce {
			flush()
		}
	}
	flush()
	slices.Sort(out)
	return out
}

// loadCatalogue reads points and latest samples: those saved when a day was closed, and those of
// the tables.
func loadCatalogue(ctx context.Context, c *engine.Conn, days map[store.Day]*day) (*catalogue, error) {
	cat := newCatalogue()
	points, err := count(ctx, c, "SELECT count(*) FROM points")
	if err != nil {
		return nil, err
	}
	cat.names.Reserve(int(points))
	err = c.Query(ctx, "SELECT id, path FROM points", func(ch *engine.Chunk) error {
		ids, paths := engine.Numbers[uint32](ch, 0), ch.Texts(1)
		for i := range ch.Rows {
			cat.names.Put(ids[i], paths.View(i))
		}
		return nil
	})
	cat.last.Grow(int(cat.names.Next()))
	if err != nil {
		return nil, err
	}
	err = c.Query(ctx, "SELECT "+sampleColumns+" FROM latest", func(ch *engine.Chunk) error {
		cols := columnsOf(ch)
		for i, id := range cols.id {
			cat.see(id, cols.at(i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		if d.table == "" {
			continue
		}
		if d.overwritten, err = cat.loadTable(ctx, c, d.table); err != nil {
			return nil, err
		}
	}
	return cat, nil
}

// loadTable takes over the latest samples of a day's table. It counts those that took the place of another one
// which said something else.
func (c *catalogue) loadTable(ctx context.Context, conn *engine.Conn, table string) (overwritten uint64, err error) {
	taken := make([]bool, c.last.Len())      // by id: the latest sample is of this table
	numbers := make([]float64, c.last.Len()) // by id: where the text of the latest sample stands, from 1
	err = conn.Query(ctx, "SELECT "+tableColumns+" FROM "+table, func(ch *engine.Chunk) error {
		cols := tableColumnsOf(ch, nil)
		for i, id := range cols.id {
			number := 0.0
			if cols.kindAt(i) == point.Text {
				c.last.Word(id)
				number = cols.value[i] + 1
			}
			time, known := c.last.Time(id)
			if known && cols.time[i] < time {
				continue
			}
			s := newestOf(cols.at(i))
			if taken[id] && cols.time[i] == time && c.last.Differs(id, s, number == numbers[id]) {
				overwritten++
			}
			c.last.Take(id, s)
			numbers[id], taken[id] = number, true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return overwritten, c.loadWords(ctx, conn, table, numbers)
}

// loadWords takes over the texts that stand under numbers in the words of a day's table, by id and counted from 1.
func (c *catalogue) loadWords(ctx context.Context, conn *engine.Conn, table string, numbers []float64) error {
	texts := make(map[float64]string)
	for _, number := range numbers {
		if number > 0 {
			texts[number-1] = ""
		}
	}
	if err := findWords(ctx, conn, table, texts); err != nil {
		return err
	}
	for id, number := range numbers {
		if number > 0 {
			c.last.Say(uint32(id), texts[number-1])
		}
	}
	return nil
}

// savePoints writes points whose numbers start at first.
func savePoints(c *engine.Conn, paths []point.Path, first int) error {
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

// saveLatest replaces the saved latest samples, within the connection's transaction.
func saveLatest(ctx context.Context, c *engine.Conn, cat *catalogue) error {
	if err := c.Exec(ctx, "DELETE FROM latest"); err != nil {
		return err
	}
	w, err := openLatest(c)
	if err != nil {
		return err
	}
	defer w.close()
	for id := range cat.names.Next() {
		if r, known := cat.latest(id); known {
			if err := w.add(id, &r); err != nil {
				return err
			}
		}
	}
	return w.flush()
}
