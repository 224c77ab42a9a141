// Package registry stores the meters, their descriptions and their installations in tables of an embedded metering store.
package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/duckdb/engine"
)

// Schema makes the tables. Statements end with a semicolon and the end of the line.
const Schema = `CREATE TABLE models(number UINTEGER, text VARCHAR);
CREATE TABLE meters(number UINTEGER, id VARCHAR, model UINTEGER, first UINTEGER, since INTEGER, until INTEGER);
CREATE TABLE points(point VARCHAR, premises VARCHAR);
CREATE TABLE installations(point VARCHAR, meter UINTEGER, since BIGINT, until BIGINT)`

// Tables lists them.
func Tables() []string { return []string{"models", "meters", "points", "installations"} }

// Taken returns which service points of a list have a meter.
func Taken(ctx context.Context, c *engine.Conn, list []store.Registration) (map[string]bool, error) {
	wanted := map[string]bool{}
	for i := range list {
		if p := list[i].ServicePoint; p != "" {
			wanted[p] = true
		}
	}
	taken := map[string]bool{}
	if len(wanted) == 0 {
		return taken, nil
	}
	err := c.Query(ctx, "SELECT point FROM points", func(k *engine.Chunk) error {
		points := k.Texts(0)
		for i := range k.Rows {
			if p := points.View(i); wanted[p] {
				taken[strings.Clone(p)] = true
			}
		}
		return nil
	})
	return taken, err
}

// Save writes what is new, the meters by an appender.
func Save(ctx context.Context, c *engine.Conn, p *directory.Plan, list []store.Registration, number int) error {
	models := int64(0)
	if err := c.Query(ctx, "SELECT count(*)::BIGINT FROM models", func(k *engine.Chunk) error {
		models = engine.Numbers[int64](k, 0)[0]
		return nil
	}); err != nil {
		return err
	}
	for i, m := range p.Models {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := c.Exec(ctx, "INSERT INTO models VALUES ($1, $2)", models+int64(i), string(text)); err != nil {
			return err
		}
	}
	if err := saveMeters(c, p.Entries, number); err != nil {
		return err
	}
	for _, table := range []string{"points", "installations"} {
		if err := savePlaces(c, table, p, list, number); err != nil {
			return err
		}
	}
	return nil
}

func saveMeters(c *engine.Conn, entries []directory.Entry, number int) error {
	a, err := c.Appender("meters", duck.TypeUInteger, duck.TypeVarchar, duck.TypeUInteger, duck.TypeUInteger, duck.TypeInteger, duck.TypeInteger)
	if err != nil {
		return err
	}
	defer a.Close()
	for n := 0; n < len(entries); {
		part := entries[n:min(n+engine.ChunkRows, len(entries))]
		numbers, models, firsts := engine.Column[uint32](a, 0), engine.Column[uint32](a, 2), engine.Column[uint32](a, 3)
		since, until := engine.Column[int32](a, 4), engine.Column[int32](a, 5)
		for i, e := range part {
			numbers[i], models[i], firsts[i] = uint32(number+n+i), e.Model, e.First
			since[i], until[i] = int32(e.Since), int32(e.Until)
			a.Text(1, i, e.ID)
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
		n += len(part)
	}
	return a.Flush()
}

// savePlaces writes the service points of the meters that have one, or their installations.
func savePlaces(c *engine.Conn, table string, p *directory.Plan, list []store.Registration, number int) error {
	types := []duck.Type{duck.TypeVarchar, duck.TypeVarchar}
	if table == "installations" {
		types = []duck.Type{duck.TypeVarchar, duck.TypeUInteger, duck.TypeBigInt, duck.TypeBigInt}
	}
	a, err := c.Appender(table, types...)
	if err != nil {
		return err
	}
	defer a.Close()
	n := 0
	for i, at := range p.Indices {
		r := &list[at]
		if r.ServicePoint == "" {
			continue
		}
		a.Text(0, n, r.ServicePoint)
		if table == "installations" {
			engine.Column[uint32](a, 1)[n], engine.Column[int64](a, 2)[n], engine.Column[int64](a, 3)[n] = uint32(number+i), r.From.UnixMicro(), 0
		} else {
			a.Text(1, n, r.Premises)
		}
		if n++; n == engine.ChunkRows {
			if err := a.Append(n); err != nil {
				return err
			}
			n = 0
		}
	}
	if n > 0 {
		if err := a.Append(n); err != nil {
			return err
		}
	}
	return a.Flush()
}

// Installations lists installations that fulfil a condition on $1, the oldest first.
func Installations(ctx context.Context, c *engine.Conn, dir *directory.Directory, where string, arg any) ([]meter.Installation, error) {
	var list []meter.Installation
	err := c.Query(ctx, "SELECT point, meter, since, until FROM installations WHERE "+where+" ORDER BY since", func(k *engine.Chunk) error {
		for i := range k.Rows {
			one := meter.Installation{ServicePoint: k.Texts(0).At(i), From: time.UnixMicro(engine.Numbers[int64](k, 2)[i]).UTC()}
			one.Meter = dir.Meter(engine.Numbers[uint32](k, 1)[i]).ID
			if until := engine.Numbers[int64](k, 3)[i]; until != 0 {
				one.To = time.UnixMicro(until).UTC()
			}
			list = append(list, one)
		}
		return nil
	}, arg)
	return list, err
}

// Load fills a directory.
func Load(ctx context.Context, c *engine.Conn, dir *directory.Directory) error {
	err := c.Query(ctx, "SELECT text FROM models ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			m := &directory.Model{}
			if err := json.Unmarshal([]byte(k.Texts(0).At(i)), m); err != nil {
				return fmt.Errorf("read the description of channels: %w", err)
			}
			dir.Load([]*directory.Model{m}, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	meters, order := uint64(0), ""
	err = c.Query(ctx, "SELECT count(*)::UBIGINT, coalesce(bool_and(number = rowid), true) FROM meters", func(k *engine.Chunk) error {
		meters = engine.Numbers[uint64](k, 0)[0]
		if !engine.Numbers[bool](k, 1)[0] { // they are not as they were written: sorting millions takes longer than reading them
			order = " ORDER BY number"
		}
		return nil
	})
	if err != nil {
		return err
	}
	dir.Reserve(int(meters))
	var entries []directory.Entry
	return c.Query(ctx, "SELECT id, model, first, since, until FROM meters"+order, func(k *engine.Chunk) error {
		entries = entries[:0]
		ids, models, firsts := k.Texts(0), engine.Numbers[uint32](k, 1), engine.Numbers[uint32](k, 2)
		since, until := engine.Numbers[int32](k, 3), engine.Numbers[int32](k, 4)
		for i := range k.Rows {
			entries = append(entries, directory.Entry{ID: ids.View(i), Model: models[i], First: firsts[i], Since: store.Day(since[i]), Until: store.Day(until[i])})
		}
		dir.Load(nil, entries)
		return nil
	})
}

// Replacement is a meter that takes the place of another at a service point.
type Replacement struct {
	ServicePoint string
	Gone, Fresh  uint32 // numbers of the meters
	At           time.Time
}

// Exchange notes a replacement.
func Exchange(ctx context.Context, c *engine.Conn, dir *directory.Directory, r *Replacement) error {
	until, since := dir.DaysOfExchange(r.At)
	for _, one := range []struct {
		statement string
		args      []any
	}{
		{"UPDATE installations SET until = $1 WHERE point = $2 AND until = 0", []any{r.At.UnixMicro(), r.ServicePoint}},
		{"INSERT INTO installations VALUES ($1, $2, $3, 0)", []any{strings.Clone(r.ServicePoint), r.Fresh, r.At.UnixMicro()}},
		{"UPDATE meters SET until = $1 WHERE number = $2", []any{int(until), r.Gone}},
		{"UPDATE meters SET since = $1 WHERE number = $2", []any{int(since), r.Fresh}},
	} {
		if err := c.Exec(ctx, one.statement, one.args...); err != nil {
			return err
		}
	}
	return nil
}
