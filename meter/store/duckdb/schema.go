package duckdb

import (
	"context"
	"fmt"
	"path/filepath"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/heal"
	"voltbus/meter/store/duckdb/parquet"
	"voltbus/meter/store/duckdb/registry"
	"voltbus/meter/store/duckdb/sqlview"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// version is the layout of the database.
const version = 2

// load makes the tables, or reads what is kept in memory.
func load(ctx context.Context, s *Store) error {
	c := s.writer
	if err := parquet.Clear(s.options.Dir); err != nil {
		return err
	}
	folder, err := sqlview.Folder(filepath.Join(s.options.Dir, parquet.Folder))
	if err != nil {
		return err
	}
	s.shown = sqlview.New(folder)
	if err := table.ExecAll(ctx, c, "SET allowed_directories=["+heal.Quoted(filepath.Join(s.options.Dir, heal.Folder))+","+heal.Quoted(filepath.Join(s.options.Dir, parquet.Folder))+","+heal.Quoted(folder)+"];\nSET enable_external_access=false;\nSET lock_configuration=true"); err != nil {
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
		return create(ctx, s, zone)
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
		if err := s.transaction(ctx, func(c *engine.Conn) error { return table.ExecAll(ctx, c, table.FromFirst) }); err != nil {
			return err
		}
	}
	for _, f := range []func(context.Context, *Store, *engine.Conn) error{loadState, loadTables, loadStrays, loadRedo, findGarbage} {
		if err := f(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

// create makes the tables. One that takes the place of a damaged database has its meters.
func create(ctx context.Context, s *Store, zone string) error {
	err := s.transaction(ctx, func(c *engine.Conn) error {
		if err := table.ExecAll(ctx, c, table.Schema+registry.Schema); err != nil {
			return err
		}
		return c.Exec(ctx, "INSERT INTO layout VALUES ($1, $2)", version, zone)
	})
	if err != nil || !s.options.fresh {
		return err
	}
	if _, err := heal.Restore(ctx, s.writer, s.options.Dir); err != nil {
		return err
	}
	return registry.Load(ctx, s.writer, s.dir)
}

// Damage says what was damaged, each a sentence without a full stop.
func (s *Store) Damage() (list []string) {
	for _, name := range s.aside {
		list = append(list, "the metering store was damaged and is set aside as metering/"+name+
			": meters are those of its last copy, readings those that the log still had; register what was registered since, send older readings again, and remove the file then")
	}
	return list
}

func loadState(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT log, sequence, newest, exception FROM state", func(k *engine.Chunk) error {
		s.cursor = cursor{k.Texts(0).At(0), engine.Numbers[uint64](k, 1)[0]}
		s.newest, s.number = engine.Numbers[uint32](k, 2)[0], engine.Numbers[uint64](k, 3)[0]
		return nil
	})
}

func loadTables(ctx context.Context, s *Store, c *engine.Conn) (err error) {
	if err := registry.Load(ctx, c, s.dir); err != nil {
		return err
	}
	if s.sources, err = table.LoadSources(ctx, c); err != nil {
		return err
	}
	for i, v := range s.sources {
		s.sourceOf[v] = uint32(i)
	}
	if s.verdicts, err = table.LoadVerdicts(ctx, c); err != nil {
		return err
	}
	for i, v := range s.verdicts {
		s.verdictOf[v] = uint32(i)
	}
	return table.LoadDays(ctx, c, func(d *day) { s.days[d.Key] = d })
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
	return x.c.Exec(x.ctx, "UPDATE state SET log = $1, sequence = $2, newest = $3, exception = $4, strays = $5", x.cursor.log, x.cursor.sequence, x.recorded, x.number, x.strays.All())
}
