package manifest

import (
	"context"
	"slices"
	"strconv"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// LoadPositions reads how far each origin is stored.
func LoadPositions(ctx context.Context, c *engine.Conn) (map[string]store.Position, error) {
	positions := make(map[string]store.Position)
	err := c.Query(ctx, "SELECT origin, sequence, samples, stored, repeated, missing, refused, time, left_out FROM positions", func(ch *engine.Chunk) error {
		origin, created := ch.Texts(0), engine.Numbers[int64](ch, 7)
		left := engine.Numbers[uint64](ch, 8)
		var numbers [6][]uint64
		for i := range numbers {
			numbers[i] = engine.Numbers[uint64](ch, i+1)
		}
		for i := range ch.Rows {
			positions[origin.At(i)] = store.Position{
				Sequence: numbers[0][i], Samples: numbers[1][i], Stored: numbers[2][i],
				Repeated: numbers[3][i], Missing: numbers[4][i], Refused: numbers[5][i],
				Left: left[i], Time: engine.Time(created[i]),
			}
		}
		return nil
	})
	return positions, err
}

// LoadCursor reads how far a log is stored.
func LoadCursor(ctx context.Context, c *engine.Conn) (store.Cursor, error) {
	var cur store.Cursor
	err := c.Query(ctx, "SELECT log, sequence FROM log_cursor", func(ch *engine.Chunk) error {
		cur = store.Cursor{Log: ch.Texts(0).At(0), Sequence: engine.Numbers[uint64](ch, 1)[0]}
		return nil
	})
	return cur, err
}

// SaveEntry writes positions, cursor and gaps of a batch, within the connection's transaction.
func SaveEntry(ctx context.Context, c *engine.Conn, e *store.Entry) error {
	if err := c.Exec(ctx, "UPDATE log_cursor SET log = $1, sequence = $2", e.Cursor.Log, e.Cursor.Sequence); err != nil {
		return err
	}
	if err := savePositions(ctx, c, e); err != nil {
		return err
	}
	for _, g := range e.Gaps {
		err := c.Exec(ctx, "INSERT INTO gaps SELECT coalesce(max(number), 0) + 1, $1, $2, $3, $4, $5, $6 FROM gaps",
			g.Origin, g.First, g.Last, g.Samples, g.Reason, g.Noticed)
		if err != nil {
			return err
		}
	}
	return nil
}

// originsAtOnce is how many origins a statement names: one statement per origin would cost a parent of a
// thousand nodes most of its time.
const originsAtOnce = 256

// savePositions replaces the positions by those of an entry.
func savePositions(ctx context.Context, c *engine.Conn, e *store.Entry) error {
	for origins := range slices.Chunk(e.Origins(), originsAtOnce) {
		names := make([]any, len(origins))
		marks := make([]string, len(origins))
		for i, origin := range origins {
			names[i], marks[i] = origin, "$"+strconv.Itoa(i+1)
		}
		if err := c.Exec(ctx, "DELETE FROM positions WHERE origin IN ("+strings.Join(marks, ", ")+")", names...); err != nil {
			return err
		}
		if err := addPositions(c, e, origins); err != nil {
			return err
		}
	}
	return nil
}

func addPositions(c *engine.Conn, e *store.Entry, origins []string) error {
	a, err := c.Appender("positions", duck.TypeVarchar, duck.TypeUBigInt, duck.TypeUBigInt, duck.TypeUBigInt,
		duck.TypeUBigInt, duck.TypeUBigInt, duck.TypeUBigInt, duck.TypeTimestamp, duck.TypeUBigInt)
	if err != nil {
		return err
	}
	defer a.Close()
	for i, origin := range origins {
		p := e.Positions[origin]
		a.Text(0, i, origin)
		for column, n := range []uint64{p.Sequence, p.Samples, p.Stored, p.Repeated, p.Missing, p.Refused} {
			engine.Column[uint64](a, column+1)[i] = n
		}
		engine.Column[int64](a, 7)[i] = p.Time.UnixMicro()
		engine.Column[uint64](a, 8)[i] = p.Left
	}
	if err := a.Append(len(origins)); err != nil {
		return err
	}
	return a.Flush()
}
