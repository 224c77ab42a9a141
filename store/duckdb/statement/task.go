// Package statement runs people's SQL statements in a separate process with limits for memory, time and files, which is killed when its
// time is over or its caller has disconnected: DuckDB has functions that exceed its own memory limit, that cannot be interrupted, or
// that write files. Run is the store's side, Serve the process's.
package statement

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"voltbus/fault"
)

// Env is set in the environment of the process, which must call Serve.
const Env = "VOLTBUS_SQL_STATEMENT"

// Task is the work of the process.
type Task struct {
	Statement string        `json:"statement"`
	Views     []string      `json:"views"`  // statements that create the visible views
	Tables    []string      `json:"tables"` // tables that it may use
	Others    []Dated       `json:"others"` // views of Source, which it may use too
	Source    Source        `json:"-"`      // makes the views of Others once it is known which are read; nil without Others
	Read      []string      `json:"read"`   // folders of the files that the views read, each with / at its end
	Temp      string        `json:"temp"`   // folder for data that does not fit into memory, in one of Read; "" for none
	Spill     int64         `json:"spill"`  // bytes that it may use there
	Memory    int64         `json:"memory"` // bytes of DuckDB
	Threads   int           `json:"threads"`
	Time      time.Duration `json:"time"` // time limit, also of processor time per thread
}

// Bounds of the answer. The answering process holds one row at a time.
const (
	maxRow     = 8 << 20
	maxColumns = 4096
	overhead   = 256 << 20 // private memory of the process in addition to Task.Memory
)

// Frames of the answer: a letter, then its content. A row has a value for each column, each preceded by its tag.
const (
	frameColumns = 'c' // number, texts
	frameRow     = 'r' // bytes, values
	frameError   = 'e' // kind, text
	frameNeed    = 'v' // bytes, a Need in JSON: the process waits for its views, a list in JSON
	frameEnd     = '.'

	tagNull  = 'n'
	tagFalse = 'f'
	tagTrue  = 't'
	tagInt   = 'i'
	tagFloat = 'd'
	tagText  = 's'
	tagTime  = 'T'
)

var errFrame = errors.New("the process of the statement ended without an answer")

// appendValue adds a value: nil, bool, int64, float64, string or time.Time.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(b, tagTrue)
		}
		return append(b, tagFalse)
	case int64:
		return binary.AppendVarint(append(b, tagInt), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v))
	case string:
		return append(binary.AppendUvarint(append(b, tagText), uint64(len(v))), v...)
	case time.Time:
		return binary.AppendVarint(append(b, tagTime), v.UnixMicro())
	}
	return append(b, tagNull)
}

// values reads a row of n values.
func values(b []byte, n int) ([]any, error) {
	out := make([]any, n)
	for i := range out {
		if len(b) == 0 {
			return nil, errFrame
		}
		tag := b[0]
		b = b[1:]
		used := 0
		switch tag {
		case tagTrue, tagFalse:
			out[i] = tag == tagTrue
		case tagInt, tagTime:
			var v int64
			v, used = binary.Varint(b)
			if out[i] = v; tag == tagTime {
				out[i] = time.UnixMicro(v).UTC()
			}
		case tagFloat:
			if len(b) < 8 {
				return nil, errFrame
			}
			out[i], used = math.Float64frombits(binary.BigEndian.Uint64(b)), 8
		case tagText:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return nil, errFrame
			}
			used = n + int(size)
			out[i] = string(b[n:used])
		case tagNull:
		default:
			return nil, errFrame
		}
		if used < 0 {
			return nil, errFrame
		}
		b = b[used:]
	}
	return out, nil
}

// writer writes the answer.
type writer struct {
	out *bufio.Writer
	row []byte
}

func (w *writer) columns(names []string) error {
	if len(names) > maxColumns {
		return fault.E("statement.Serve", fault.Invalid, "", fmt.Errorf("answers with %d columns; select at most %d", len(names), maxColumns))
	}
	b := binary.AppendUvarint([]byte{frameColumns}, uint64(len(names)))
	for _, name := range names {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	_, err := w.out.Write(b)
	return errors.Join(err, w.out.Flush())
}

func (w *writer) values(row []any) error {
	w.row = w.row[:0]
	for _, v := range row {
		if text, ok := v.(string); ok && len(w.row)+len(text) > maxRow {
			return fault.E("statement.Serve", fault.Invalid, "", fmt.Errorf("answers with a row of more than %d MiB; select less of it", maxRow>>20))
		}
		w.row = appendValue(w.row, v)
	}
	head := binary.AppendUvarint([]byte{frameRow}, uint64(len(w.row)))
	if _, err := w.out.Write(head); err != nil {
		return err
	}
	_, err := w.out.Write(w.row)
	return err
}

// end writes how the statement ended.
func (w *writer) end(err error) error {
	b := []byte{frameEnd}
	if err != nil {
		text := err.Error()
		if e, ok := errors.AsType[*fault.Error](err); ok {
			text = e.Err.Error()
		}
		text = text[:min(len(text), 4096)]
		b = append(binary.AppendUvarint([]byte{frameError, byte(fault.KindOf(err))}, uint64(len(text))), text...)
	}
	_, werr := w.out.Write(b)
	return errors.Join(werr, w.out.Flush())
}

// need asks for the views of a Source.
func (w *writer) need(n *Need) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if _, err := w.out.Write(append(binary.AppendUvarint([]byte{frameNeed}, uint64(len(text))), text...)); err != nil {
		return err
	}
	return w.out.Flush()
}

// answerTo is who takes an answer.
type answerTo struct {
	columns func([]string) error
	row     func([]any) error
	need    func(text []byte) error
}

// read reads an answer to its end. It returns errFrame (wrapped) if the answer is truncated.
func read(in *bufio.Reader, to *answerTo) error {
	n := 0
	for {
		frame, err := in.ReadByte()
		if err != nil {
			return errFrame
		}
		switch frame {
		case frameColumns:
			names, err := readNames(in)
			if err != nil {
				return err
			}
			n = len(names)
			if err := to.columns(names); err != nil {
				return err
			}
		case frameRow:
			if err := to.readRow(in, n); err != nil {
				return err
			}
		case frameNeed:
			text, err := readBytes(in, maxRow)
			if err == nil {
				err = to.need(text)
			}
			if err != nil {
				return err
			}
		case frameError:
			return readError(in)
		case frameEnd:
			return nil
		default:
			return errFrame
		}
	}
}

func (to *answerTo) readRow(in *bufio.Reader, columns int) error {
	b, err := readBytes(in, maxRow+maxColumns*16)
	if err != nil {
		return err
	}
	list, err := values(b, columns)
	if err != nil {
		return err
	}
	return to.row(list)
}

func readNames(in *bufio.Reader) ([]string, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil || n > maxColumns {
		return nil, errFrame
	}
	names := make([]string, n)
	for i := range names {
		b, err := readBytes(in, maxRow)
		if err != nil {
			return nil, err
		}
		names[i] = string(b)
	}
	return names, nil
}

func readBytes(in *bufio.Reader, most uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil || n > most {
		return nil, errFrame
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, errFrame
	}
	return b, nil
}

func readError(in *bufio.Reader) error {
	kind, err := in.ReadByte()
	if err != nil {
		return errFrame
	}
	text, err := readBytes(in, maxRow)
	if err != nil {
		return err
	}
	return fault.E("duckdb.SQL", fault.Kind(kind), "", errors.New(string(text)))
}
