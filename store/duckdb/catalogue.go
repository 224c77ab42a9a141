package duckdb

import (
	"context"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// catalogue numbers the points and knows the latest sample of each. Numbers start at 0 and are
// never used again.
type catalogue struct {
	ids    map[point.Path]uint32
	paths  []point.Path // by id
	latest []latest     // by id
	texts  []bool       // by id: whether a table has a text of the point; true too often does no harm
}

// latest is the newest sample of a point by time.
type latest struct {
	row
	known bool
}

func newCatalogue() *catalogue { return &catalogue{ids: make(map[point.Path]uint32)} }

// add numbers a point.
func (c *catalogue) add(p point.Path) uint32 {
	id := uint32(len(c.paths))
	c.ids[p] = id
	c.paths = append(c.paths, p)
	c.latest = append(c.latest, latest{})
	c.texts = append(c.texts, false)
	return id
}

// put gives a point the number that it had. Numbers in between, whose points were lost with a
// damaged database, stay unused.
func (c *catalogue) put(id uint32, p point.Path) {
	for len(c.paths) <= int(id) {
		c.paths = append(c.paths, "")
		c.latest = append(c.latest, latest{})
		c.texts = append(c.texts, false)
	}
	c.paths[id] = p
	c.ids[p] = id
}

// see takes the row as the point's latest sample unless a newer one is known.
func (c *catalogue) see(id uint32, r row) {
	if l := &c.latest[id]; !l.known || r.time >= l.time {
		*l = latest{row: r, known: true}
	}
}

// drop forgets the latest samples that lie in the day.
func (c *catalogue) drop(key store.Day) {
	for i := range c.latest {
		if l := &c.latest[i]; l.known && store.DayOf(l.time) == key {
			*l = latest{}
		}
	}
}

// loadCatalogue reads points and latest samples: those saved when a day was closed, and those of
// the tables.
func loadCatalogue(ctx context.Context, c *engine.Conn, days map[store.Day]*day) (*catalogue, error) {
	cat := newCatalogue()
	err := c.Query(ctx, "SELECT id, path FROM points ORDER BY id", func(ch *engine.Chunk) error {
		ids, paths := engine.Numbers[uint32](ch, 0), ch.Texts(1)
		for i := range ch.Rows {
			cat.put(ids[i], point.Path(paths.At(i)))
		}
		return nil
	})
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
		if err := cat.loadTable(ctx, c, d.table); err != nil {
			return nil, err
		}
	}
	return cat, nil
}

// loadTable takes over the latest samples of a day's table.
func (c *catalogue) loadTable(ctx context.Context, conn *engine.Conn, table string) error {
	numbers := make([]float64, len(c.latest)) // by id: where the text of the latest sample stands, from 1
	texts := make(map[float64]string)
	err := conn.Query(ctx, "SELECT "+tableColumns+" FROM "+table, func(ch *engine.Chunk) error {
		cols := tableColumnsOf(ch, nil)
		for i, id := range cols.id {
			number := 0.0
			if cols.kindAt(i) == point.Text {
				c.texts[id] = true
				number = cols.value[i] + 1
			}
			if l := &c.latest[id]; !l.known || cols.time[i] >= l.time {
				*l = latest{row: cols.at(i), known: true}
				numbers[id] = number
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
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
			c.latest[id].value = point.TextOf(texts[number-1])
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
	for id := range cat.latest {
		if l := &cat.latest[id]; l.known {
			if err := w.add(uint32(id), &l.row); err != nil {
				return err
			}
		}
	}
	return w.flush()
}
