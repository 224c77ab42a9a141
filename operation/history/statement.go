package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
)

const statementTime = time.Minute // limit for a statement

// timeFormat is RFC 3339 with microseconds, always in UTC.
const timeFormat = "2006-01-02T15:04:05.000000Z"

var (
	errStatement = errors.New("is empty; write a SELECT")
	errEnough    = errors.New("the limit is reached") // ends a statement early; never shown
)

// mayState checks that there is a statement, and an engine that can run it. The audit log records it from here on.
func (p *Part) mayState(_ context.Context, c *operation.Call, in *Statement) error {
	switch {
	case p.SQL == nil:
		return fault.E("sql.query", fault.Unavailable, "SQL", errAbsent)
	case in.Statement == "":
		return fault.E("sql.query", fault.Invalid, "statement", errStatement)
	}
	c.Did("", tell(in.Statement)) // replaced if it runs
	return tellable(in.Statement)
}

// statement runs a read-only statement and sends its rows as lines of JSON as they arrive.
func (p *Part) statement(ctx context.Context, c *operation.Call, in *Statement, to operation.Stream) error {
	began, told := p.Now(), statementTold{Statement: in.Statement}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	rows := &rowWriter{out: operation.NewOutput(to), to: to, limit: in.Limit}
	err := p.SQL.SQL(ctx, in.Statement, rows.columns, rows.row)
	told.Rows, told.Bytes, told.Seconds = rows.rows, rows.octets, p.Now().Sub(began).Seconds()
	if err != nil && rows.begun && !errors.Is(err, errEnough) {
		told.Failed = fault.KindOf(err).String() // the answer has begun, so the request counts as answered
	}
	c.Did("", told)
	return rows.finish(err)
}

// The audit log holds a statement that ran in full, so that no part of it can be hidden by the text around it.
const (
	maxStatement = 32 << 10 // bytes
	quotedRoom   = 48 << 10 // bytes of it in the audit log, which escapes some characters
)

var errLongStatement = fmt.Errorf("has more than %d KiB, or very many characters that JSON escapes; ask for patterns or ranges instead of lists", maxStatement>>10)

// tellable refuses a statement that is too long for the audit log.
func tellable(text string) error {
	quoted, err := json.Marshal(text)
	if err != nil || len(text) > maxStatement || len(quoted) > quotedRoom {
		return fault.E("sql.query", fault.Invalid, "statement", errLongStatement)
	}
	return nil
}

// Cost is the size of a statement in the audit log, in bytes. It implements operation.Costly.
func (in *Statement) Cost() int { return len(in.Statement) }

// statementTold is what the audit log records of a statement.
type statementTold struct {
	Statement string  `json:"statement"`
	Length    int     `json:"length,omitempty"` // bytes of the whole, when Statement is cut
	SHA256    string  `json:"sha256,omitempty"` // of the whole, in hexadecimal, when Statement is cut
	Rows      int     `json:"rows"`
	Bytes     int     `json:"octets"`
	Seconds   float64 `json:"seconds"`
	Failed    string  `json:"failed,omitempty"`
}

// toldStatement is how many bytes of the beginning and of the end of a statement that did not run the audit log keeps.
const toldStatement = 500

// tell returns the audit record of a statement that did not run: for a long one the beginning, the end, the length and the SHA-256.
func tell(text string) statementTold {
	if len(text) <= 2*toldStatement {
		return statementTold{Statement: text}
	}
	sum := sha256.Sum256([]byte(text))
	return statementTold{
		Statement: strings.ToValidUTF8(text[:toldStatement], "�") + " … " + strings.ToValidUTF8(text[len(text)-toldStatement:], "�"),
		Length:    len(text), SHA256: hex.EncodeToString(sum[:]),
	}
}

// rowWriter writes the answer of a statement.
type rowWriter struct {
	out    *operation.Output
	to     operation.Stream
	begun  bool
	rows   int
	octets int // bytes of rows
	limit  int
}

func (w *rowWriter) columns(names []string) error {
	w.begun = true
	w.to.Begin(operation.Head{Media: "application/x-ndjson"})
	w.out.Buf = append(w.out.Buf, `{"columns":[`...)
	for i, name := range names {
		if i > 0 {
			w.out.Buf = append(w.out.Buf, ',')
		}
		w.out.Buf = point.AppendQuoted(w.out.Buf, name)
	}
	w.out.Buf = append(w.out.Buf, "]}\n"...)
	return nil
}

func (w *rowWriter) row(values []any) error {
	if w.rows == w.limit {
		return errEnough
	}
	w.rows++
	before := len(w.out.Buf)
	w.out.Buf = append(w.out.Buf, '[')
	for i, v := range values {
		if i > 0 {
			w.out.Buf = append(w.out.Buf, ',')
		}
		w.out.Buf = appendAny(w.out.Buf, v)
	}
	w.out.Buf = append(w.out.Buf, "]\n"...)
	w.octets += len(w.out.Buf) - before
	return w.out.Spill()
}

// finish writes the last line. Before the first line an error is an ordinary one.
func (w *rowWriter) finish(err error) error {
	enough := errors.Is(err, errEnough)
	switch {
	case err != nil && !enough && !w.begun:
		return err
	case err != nil && !enough:
		if ferr := w.out.Flush(); ferr != nil {
			return ferr
		}
		return w.to.Fail(err)
	}
	w.out.Buf = append(w.out.Buf, `{"rows":`...)
	w.out.Buf = strconv.AppendInt(w.out.Buf, int64(w.rows), 10)
	if enough {
		w.out.Buf = append(w.out.Buf, `,"truncated":true`...)
	}
	w.out.Buf = append(w.out.Buf, "}\n"...)
	return w.out.Flush()
}

func appendAny(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return point.AppendQuoted(dst, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case string:
		return point.AppendQuoted(dst, v)
	case time.Time:
		return appendTime(dst, v)
	}
	return point.AppendQuoted(dst, fmt.Sprint(v))
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, timeFormat)
	return append(dst, '"')
}
