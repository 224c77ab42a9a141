// Package table describes the tables of an embedded metering store: the days with their table names, and the numbers of sources and
// verdicts.
package table

import (
	"context"
	"strconv"
	"strings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Columns of the tables of a day. Recorded is Unix seconds; in a sorted table of a day that is delayed, seconds since the
// end of the interval.
const (
	VersionColumns = "(channel UINTEGER, place INTEGER, value DOUBLE, recorded UINTEGER, source UINTEGER)"
	SealedColumns  = "(channel UINTEGER, place INTEGER, value DOUBLE, recorded BIGINT, source UINTEGER, verdict UINTEGER)"
	TotalColumns   = "(channel UINTEGER, total DOUBLE, highest DOUBLE)"
)

// DayColumns are those of the table of days.
const DayColumns = "(day INTEGER, open UBIGINT, waiting UBIGINT, sealed UBIGINT, extra UBIGINT, judged BOOLEAN, delayed BOOLEAN, bound UINTEGER, " +
	"generation UINTEGER, taken UBIGINT, takenWaiting UBIGINT, done UINTEGER, totals UBIGINT)"

// Source says what a version is, and where from: many share one.
type Source struct {
	Stage  meter.Stage
	Status uint32
	Origin meter.Origin
}

// Verdict is a judgement of a raw reading: what it is since when.
type Verdict struct{ Recorded, Source uint32 }

// Day is the tables of one local day. It is replaced, never changed.
type Day struct {
	Key     store.Day
	Open    uint64 // rows of the open table; there is none if 0
	Waiting uint64 // of them those of intervals
	Sealed  uint64 // rows of the sorted table
	Extra   uint64 // rows of the table of further versions
	Judged  bool   // all channels were judged once
	Delayed bool   // the sorted table tells the moment of recording from the interval's end
	Bound   uint32 // channels below it were judged

	Generation   uint32 // of the open table
	Taken        uint64 // rows of the batch that is judged, which was the open table before; there is none if 0
	TakenWaiting uint64 // of them those of intervals
	Done         uint32 // channels below it were judged: their rows of the batch do not count any more
	Totals       uint64 // rows of the table of sums
}

// OpenTable is the name of the table of versions as they come.
func (d *Day) OpenTable() string { return d.versioned(d.Generation) }

// BatchTable is the name of the one that is judged.
func (d *Day) BatchTable() string { return d.versioned(d.Generation - 1) }

// SealedTable is the name of the sorted table.
func (d *Day) SealedTable() string { return "s_" + d.name() }

// ExtraTable is the name of the table of further versions.
func (d *Day) ExtraTable() string { return "x_" + d.name() }

// TotalTable is the name of the table of sums.
func (d *Day) TotalTable() string { return "t_" + d.name() }

func (d *Day) name() string {
	return strings.ReplaceAll(strconv.Itoa(int(d.Key)), "-", "m")
}

func (d *Day) versioned(generation uint32) string {
	if generation == 0 {
		return "o_" + d.name()
	}
	return "o_" + d.name() + "_" + strconv.FormatUint(uint64(generation), 10)
}

// Versions is a table of versions, with what tells the rows that count, and how many rows it has.
type Versions struct {
	Table, And string
	Rows       uint64
}

// VersionTables lists the tables of versions, the oldest first.
func (d *Day) VersionTables() []Versions {
	var list []Versions
	if d.Extra > 0 {
		list = append(list, Versions{d.ExtraTable(), "", d.Extra})
	}
	if d.Taken > 0 {
		list = append(list, Versions{d.BatchTable(), " AND channel >= " + strconv.FormatUint(uint64(d.Done), 10), d.Taken})
	}
	if d.Open > 0 {
		list = append(list, Versions{d.OpenTable(), "", d.Open})
	}
	return list
}

// Rows is how many versions the day has, as far as that can be told while it is judged.
func (d *Day) Rows() uint64 { return d.Open + d.Taken + d.Sealed + d.Extra }

// Save writes what is known of the day.
func (d *Day) Save(ctx context.Context, c *engine.Conn) error {
	if err := c.Exec(ctx, "DELETE FROM days WHERE day = $1", int64(d.Key)); err != nil {
		return err
	}
	return c.Exec(ctx, "INSERT INTO days VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		int64(d.Key), d.Open, d.Waiting, d.Sealed, d.Extra, d.Judged, d.Delayed, d.Bound, d.Generation, d.Taken, d.TakenWaiting, d.Done, d.Totals)
}

// LoadDays calls each with the days.
func LoadDays(ctx context.Context, c *engine.Conn, each func(*Day)) error {
	return c.Query(ctx, "SELECT day, open, waiting, sealed, extra, judged, delayed, bound, generation, taken, takenWaiting, done, totals FROM days", func(k *engine.Chunk) error {
		for i := range k.Rows {
			each(&Day{
				Key: store.Day(engine.Numbers[int32](k, 0)[i]), Open: engine.Numbers[uint64](k, 1)[i], Waiting: engine.Numbers[uint64](k, 2)[i],
				Sealed: engine.Numbers[uint64](k, 3)[i], Extra: engine.Numbers[uint64](k, 4)[i], Judged: engine.Numbers[bool](k, 5)[i],
				Delayed: engine.Numbers[bool](k, 6)[i], Bound: engine.Numbers[uint32](k, 7)[i],
				Generation: engine.Numbers[uint32](k, 8)[i], Taken: engine.Numbers[uint64](k, 9)[i], TakenWaiting: engine.Numbers[uint64](k, 10)[i],
				Done: engine.Numbers[uint32](k, 11)[i], Totals: engine.Numbers[uint64](k, 12)[i],
			})
		}
		return nil
	})
}

// LoadSources returns what the numbers of sources stand for.
func LoadSources(ctx context.Context, c *engine.Conn) (list []Source, err error) {
	err = c.Query(ctx, "SELECT stage, status, reason, who, rule FROM sources ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			list = append(list, Source{
				meter.Stage(engine.Numbers[uint32](k, 0)[i]), engine.Numbers[uint32](k, 1)[i],
				meter.Origin{Reason: k.Texts(2).At(i), Who: k.Texts(3).At(i), Rule: k.Texts(4).At(i)},
			})
		}
		return nil
	})
	return list, err
}

// LoadVerdicts returns what the numbers of verdicts stand for.
func LoadVerdicts(ctx context.Context, c *engine.Conn) (list []Verdict, err error) {
	err = c.Query(ctx, "SELECT recorded, source FROM verdicts ORDER BY number", func(k *engine.Chunk) error {
		for i := range k.Rows {
			list = append(list, Verdict{engine.Numbers[uint32](k, 0)[i], engine.Numbers[uint32](k, 1)[i]})
		}
		return nil
	})
	return list, err
}

// MostListed is how many channels Among lists one by one.
const MostListed = 2000

// Among returns a condition that channels of a sorted list fulfil; of a long one, others between them may fulfil it, too.
func Among(list []uint32) string {
	if len(list) == 0 {
		return "false"
	}
	first, last := list[0], list[len(list)-1]
	within := "channel >= " + strconv.FormatUint(uint64(first), 10) + " AND channel <= " + strconv.FormatUint(uint64(last), 10)
	if len(list) > MostListed || len(list) == int(last-first)+1 {
		return within
	}
	b := strings.Builder{}
	for i, channel := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(channel), 10))
	}
	return within + " AND channel IN (" + b.String() + ")"
}

// Listed returns a condition that only the channels of a sorted list fulfil.
func Listed(list []uint32) string {
	if len(list) <= MostListed || len(list) == int(list[len(list)-1]-list[0])+1 {
		return Among(list)
	}
	var parts []string
	for len(list) > 0 {
		part := list[:min(len(list), MostListed)]
		list = list[len(part):]
		parts = append(parts, "("+Among(part)+")")
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// ExecAll carries out statements one after another.
func ExecAll(ctx context.Context, c *engine.Conn, statements string) error {
	for one := range strings.SplitSeq(statements, ";\n") {
		if err := c.Exec(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// Unused lists tables of versions that no day refers to: batches that were judged.
func Unused(ctx context.Context, c *engine.Conn, days map[store.Day]*Day) (list []string, err error) {
	used := map[string]bool{}
	for _, d := range days {
		used[d.OpenTable()] = true
		if d.Taken > 0 {
			used[d.BatchTable()] = true
		}
	}
	err = c.Query(ctx, `SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'o\_%' ESCAPE '\'`, func(k *engine.Chunk) error {
		names := k.Texts(0)
		for i := range k.Rows {
			if name := names.At(i); !used[name] {
				list = append(list, name)
			}
		}
		return nil
	})
	return list, err
}
