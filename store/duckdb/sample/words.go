package sample

import (
	"context"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/store/duckdb/engine"
)

// Texts are in a table next to the table of their day, each under a number that the sample has as its value.
// Repeated texts, such as states, occur once or a few times.

// WordTable is the name of the table with the texts of a day's table.
func WordTable(table string) string { return table + "_text" }

// Bounds of the cache.
const (
	MaxWords = 8192 // cached per day
	maxWord  = 128  // bytes of one; longer texts rarely repeat
)

// Words are the numbers of texts in the table of a day.
type Words map[string]float64

// wordWriter adds texts to the table of words. It opens the table when there is a new one.
type wordWriter struct {
	conn  *engine.Conn
	table string
	known Words
	next  uint64 // number of the next text

	appender *engine.Appender
	numbers  []uint64
	n        int // rows in the chunk
}

// number returns the number of the text in the table.
func (w *wordWriter) number(text string) (float64, error) {
	if number, ok := w.known[text]; ok {
		return number, nil
	}
	if err := w.open(); err != nil {
		return 0, err
	}
	w.numbers[w.n] = w.next
	number := float64(w.next)
	w.next++
	if len(text) <= maxWord && len(w.known) < MaxWords {
		w.known[strings.Clone(text)] = number // the text may be part of a large string
	}
	w.appender.Text(1, w.n, text)
	if w.n++; w.n == engine.ChunkRows {
		return number, w.end()
	}
	return number, nil
}

func (w *wordWriter) open() (err error) {
	if w.appender == nil {
		if w.appender, err = w.conn.Appender(w.table, duck.TypeUBigInt, duck.TypeVarchar); err == nil {
			w.numbers = engine.Column[uint64](w.appender, 0)
		}
	}
	return err
}

func (w *wordWriter) end() error {
	err := w.appender.Append(w.n)
	w.n, w.numbers = 0, engine.Column[uint64](w.appender, 0)
	return err
}

// flush writes the rest.
func (w *wordWriter) flush() error {
	if w.appender == nil {
		return nil
	}
	if w.n > 0 {
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.appender.Flush()
}

func (w *wordWriter) close() {
	if w.appender != nil {
		w.appender.Close()
	}
}

// ReadWords returns the texts that rows of the day's table refer to by their numbers. The conditions select
// the rows.
func ReadWords(ctx context.Context, c *engine.Conn, table string, where []string) (map[float64]string, error) {
	where = append(where, "(tag & 255) = 4") // point.Text
	out := make(map[float64]string)
	err := c.Query(ctx, "SELECT number, text FROM "+WordTable(table)+" WHERE number IN (SELECT value FROM "+table+Where(where)+")",
		func(ch *engine.Chunk) error {
			numbers, texts := engine.Numbers[uint64](ch, 0), ch.Texts(1)
			for i, number := range numbers {
				out[float64(number)] = texts.At(i)
			}
			return nil
		})
	return out, err
}

// FindWords sets the texts of the given numbers.
func FindWords(ctx context.Context, c *engine.Conn, table string, texts map[float64]string) error {
	if len(texts) == 0 {
		return nil
	}
	return c.Query(ctx, "SELECT number, text FROM "+WordTable(table), func(ch *engine.Chunk) error {
		words := ch.Texts(1)
		for i, number := range engine.Numbers[uint64](ch, 0) {
			if _, ok := texts[float64(number)]; ok {
				texts[float64(number)] = words.At(i)
			}
		}
		return nil
	})
}
