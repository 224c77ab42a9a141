package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/duckdb/engine"
)

// version is the layout of the database.
const version = 2

// The tables. There are no keys: they would cost most of the engine's speed, and the store is the only writer.
const schema = `
CREATE TABLE layout(version INTEGER, zone VARCHAR);
CREATE TABLE state(log VARCHAR, sequence UBIGINT, newest UINTEGER, exception UBIGINT, strays UBIGINT);
INSERT INTO state VALUES ('', 0, 0, 0, 0);
CREATE TABLE models(number UINTEGER, text VARCHAR);
CREATE TABLE meters(number UINTEGER, id VARCHAR, model UINTEGER, first UINTEGER, since INTEGER, until INTEGER);
CREATE TABLE points(point VARCHAR, premises VARCHAR);
CREATE TABLE installations(point VARCHAR, meter UINTEGER, since BIGINT, until BIGINT);
CREATE TABLE sources(number UINTEGER, stage UINTEGER, status UINTEGER, reason VARCHAR, who VARCHAR, rule VARCHAR);
CREATE TABLE verdicts(number UINTEGER, recorded UINTEGER, source UINTEGER);
CREATE TABLE days(day INTEGER, open UBIGINT, waiting UBIGINT, sealed UBIGINT, extra UBIGINT, judged BOOLEAN, delayed BOOLEAN, bound UINTEGER, generation UINTEGER, taken UBIGINT, takenWaiting UBIGINT, done UINTEGER, totals UBIGINT);
CREATE TABLE uses(day INTEGER, channel UINTEGER, used INTEGER);
CREATE TABLE redo(day INTEGER, channel UINTEGER);
CREATE TABLE strays(meter VARCHAR, channel UINTEGER, "end" BIGINT, value DOUBLE, recorded UINTEGER, source UINTEGER);
CREATE TABLE exceptions(number UBIGINT, channel UINTEGER, day INTEGER, status UINTEGER, count UINTEGER, noticed UINTEGER);
CREATE TABLE settled(number UBIGINT, channel UINTEGER, day INTEGER, status UINTEGER, who VARCHAR, why VARCHAR, recorded UINTEGER, count UINTEGER)`

// fromFirst makes the layout out of version 1.
const fromFirst = `
ALTER TABLE days ADD COLUMN generation UINTEGER DEFAULT 0;
ALTER TABLE days ADD COLUMN taken UBIGINT DEFAULT 0;
ALTER TABLE days ADD COLUMN takenWaiting UBIGINT DEFAULT 0;
ALTER TABLE days ADD COLUMN done UINTEGER DEFAULT 0;
ALTER TABLE days ADD COLUMN totals UBIGINT DEFAULT 0;
ALTER TABLE settled ADD COLUMN count UINTEGER DEFAULT 0;
CREATE TABLE uses(day INTEGER, channel UINTEGER, used INTEGER);
CREATE TABLE redo(day INTEGER, channel UINTEGER);
UPDATE layout SET version = 2`

const versionColumns = "(channel UINTEGER, place INTEGER, value DOUBLE, recorded UINTEGER, source UINTEGER)"

// source says what a version is, and where from: many share one.
type source struct {
	stage  meter.Stage
	status uint32
	origin meter.Origin
}

// verdict is a judgement of a raw reading: what it is since when.
type verdict struct{ recorded, source uint32 }

// load makes the tables, or reads what is kept in memory.
func load(ctx context.Context, s *Store) error {
	c := s.writer
	if err := execAll(ctx, c, "SET enable_external_access=false;\nSET lock_configuration=true"); err != nil {
		return err
	}
	tables := int64(0)
	if err := c.Query(ctx, "SELECT count(*)::BIGINT FROM duckdb_tables() WHERE table_name = 'layout'", func(k *engine.Chunk) error {
		tables = engine.Numbers[int64](k, 0)[0]
		return nil
	}); err != nil {
		return err
	}
	zone := s.options.Zone.String()
	if tables == 0 {
		return s.transaction(ctx, func(c *engine.Conn) error {
			if err := execAll(ctx, c, schema); err != nil {
				return err
			}
			return c.Exec(ctx, "INSERT INTO layout VALUES ($1, $2)", version, zone)
		})
	}
	first := false
	if err := c.Query(ctx, "SELECT version, zone FROM layout", func(k *engine.Chunk) error {
		found := engine.Numbers[int32](k, 0)[0]
		first = found == 1
		switch is := k.Texts(1).At(0); {
		case found != version && !first:
			return errVersion
		case is != zone:
			return fmt.Errorf("its days are those of %s: set the zone to it, or begin another store", is)
		}
		return nil
	}); err != nil {
		return err
	}
	if first {
		if err := s.transaction(ctx, func(c *engine.Conn) error { return execAll(ctx, c, fromFirst) }); err != nil {
			return err
		}
	}
	for _, f := range []func(context.Context, *Store, *engine.Conn) error{loadState, loadMeters, loadSources, loadDays, loadStrays, loadRedo, findGarbage} {
		if err := f(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

func loadState(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT log, sequence, newest, exception FROM state", func(k *engine.Chunk) error {
		s.cursor = cursor{k.Texts(0).At(0), engine.Numbers[uint64](k, 1)[0]}
		s.newest, s.number = engine.Numbers[uint32](k, 2)[0], engine.Numbers[uint64](k, 3)[0]
		return nil
	})
}

func loadMeters(ctx context.Context, s *Store, c *engine.Conn) error {
	err := c.Query(ctx, "SELECT text FROM models ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			m := &directory.Model{}
			if err := json.Unmarshal([]byte(k.Texts(0).At(i)), m); err != nil {
				return fmt.Errorf("read the description of channels: %w", err)
			}
			s.dir.Load([]*directory.Model{m}, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var entries []directory.Entry
	return c.Query(ctx, "SELECT id, model, first, since, until FROM meters ORDER BY number", func(k *engine.Chunk) error {
		entries = entries[:0]
		ids, models, firsts := k.Texts(0), engine.Numbers[uint32](k, 1), engine.Numbers[uint32](k, 2)
		since, until := engine.Numbers[int32](k, 3), engine.Numbers[int32](k, 4)
		for i := range k.Rows {
			entries = append(entries, directory.Entry{ID: ids.At(i), Model: models[i], First: firsts[i], Since: store.Day(since[i]), Until: store.Day(until[i])})
		}
		s.dir.Load(nil, entries)
		return nil
	})
}

func loadSources(ctx context.Context, s *Store, c *engine.Conn) error {
	err := c.Query(ctx, "SELECT stage, status, reason, who, rule FROM sources ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			v := source{meter.Stage(engine.Numbers[uint32](k, 0)[i]), engine.Numbers[uint32](k, 1)[i], meter.Origin{Reason: k.Texts(2).At(i), Who: k.Texts(3).At(i), Rule: k.Texts(4).At(i)}}
			s.sourceOf[v] = uint32(len(s.sources))
			s.sources = append(s.sources, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.Query(ctx, "SELECT recorded, source FROM verdicts ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			v := verdict{engine.Numbers[uint32](k, 0)[i], engine.Numbers[uint32](k, 1)[i]}
			s.verdictOf[v] = uint32(len(s.verdicts))
			s.verdicts = append(s.verdicts, v)
		}
		return nil
	})
}

func loadDays(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT day, open, waiting, sealed, extra, judged, delayed, bound, generation, taken, takenWaiting, done, totals FROM days", func(k *engine.Chunk) error {
		for i := range k.Rows {
			d := &day{
				key: store.Day(engine.Numbers[int32](k, 0)[i]), open: engine.Numbers[uint64](k, 1)[i], waiting: engine.Numbers[uint64](k, 2)[i],
				sealed: engine.Numbers[uint64](k, 3)[i], extra: engine.Numbers[uint64](k, 4)[i], judged: engine.Numbers[bool](k, 5)[i],
				delayed: engine.Numbers[bool](k, 6)[i], bound: engine.Numbers[uint32](k, 7)[i],
				generation: engine.Numbers[uint32](k, 8)[i], taken: engine.Numbers[uint64](k, 9)[i], takenWaiting: engine.Numbers[uint64](k, 10)[i],
				done: engine.Numbers[uint32](k, 11)[i], totals: engine.Numbers[uint64](k, 12)[i],
			}
			s.days[d.key] = d
		}
		return nil
	})
}

// saveDay writes what is known of a day.
func saveDay(ctx context.Context, c *engine.Conn, d *day) error {
	if err := c.Exec(ctx, "DELETE FROM days WHERE day = $1", int64(d.key)); err != nil {
		return err
	}
	return c.Exec(ctx, "INSERT INTO days VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		int64(d.key), d.open, d.waiting, d.sealed, d.extra, d.judged, d.delayed, d.bound, d.generation, d.taken, d.takenWaiting, d.done, d.totals)
}

func loadRedo(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT day, count(DISTINCT channel)::BIGINT FROM redo GROUP BY day", func(k *engine.Chunk) error {
		for i, d := range engine.Numbers[int32](k, 0) {
			s.redo[store.Day(d)] = uint64(engine.Numbers[int64](k, 1)[i])
		}
		return nil
	})
}

// saveState writes cursor, moment, and counters.
func (x *change) saveState() error {
	return x.c.Exec(x.ctx, "UPDATE state SET log = $1, sequence = $2, newest = $3, exception = $4, strays = $5", x.cursor.log, x.cursor.sequence, x.recorded, x.number, x.strays.all())
}

// execAll carries out statements one after another.
func execAll(ctx context.Context, c *engine.Conn, statements string) error {
	for one := range strings.SplitSeq(statements, ";\n") {
		if err := c.Exec(ctx, one); err != nil {
			return err
		}
	}
	return nil
}
