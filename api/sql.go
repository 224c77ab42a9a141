package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

const (
	defaultRows   = 10_000
	maxRows       = 1_000_000
	maxStatements = 2 // that run at once: each may use the whole machine
	sqlTimeout    = time.Minute
)

var (
	errRowLimit  = fmt.Errorf("must be from 1 to %d", maxRows)
	errStatement = errors.New("is empty; write a SELECT")
	errEnough    = errors.New("the limit is reached") // ends a statement early, never shown
)

// sql runs a read-only statement and sends its rows as lines of JSON as they come.
func (s *server) sql(w http.ResponseWriter, r *request) error {
	if s.cfg.SQL == nil {
		return absent("SQL")
	}
	body := struct {
		Statement string `json:"statement"`
		Limit     int    `json:"limit"`
	}{Limit: defaultRows}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Limit < 1 || body.Limit > maxRows:
		return fault.E("api.sql", fault.Invalid, "limit", errRowLimit)
	case body.Statement == "":
		return fault.E("api.sql", fault.Invalid, "statement", errStatement)
	}
	began := s.cfg.Now()
	r.did("", tell(body.Statement)) // unless it runs
	if err := tellable(s.statementTexts, r.user.Name, body.Statement, began); err != nil {
		return err
	}
	told := statementTold{Statement: body.Statement}
	r.did("", told)
	release, err := s.statements.wait(r.Context(), r.user.Name)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), sqlTimeout)
	defer cancel()
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	rows := &rowWriter{out: output{w: p}, limit: body.Limit}
	err = s.cfg.SQL.SQL(ctx, body.Statement, rows.columns, rows.row)
	told.Rows, told.Octets, told.Seconds = rows.rows, rows.octets, s.cfg.Now().Sub(began).Seconds()
	if err != nil && rows.begun && !errors.Is(err, errEnough) {
		told.Failed = fault.KindOf(err).String() // the answer has begun, so that it counts as given
	}
	r.did("", told)
	return rows.finish(err, r.URL.Path)
}

// A statement that runs stands in the audit log as a whole, so that nothing in it is hidden by what stands around it. That
// bounds its length, and how much of statements one person may have told in a second, over time.
const (
	maxStatement  = 32 << 10 // octets
	quotedRoom    = 48 << 10 // octets of it as the audit log writes it, which escapes some characters
	statementRate = 8 << 10  // octets a second; twice as many at once
)

var (
	errLongStatement = fmt.Errorf("has more than %d KiB, or very many characters that JSON escapes; ask for patterns or ranges instead of lists", maxStatement>>10)
	errStatementRate = errors.New("sends more text of statements than the audit log takes of one person; wait as Retry-After says, and ask for more at once with shorter statements")
)

// tellable refuses a statement that cannot be told as a whole.
func tellable(rate *quotas, who, text string, now time.Time) error {
	const op = "api.sql"
	quoted, err := json.Marshal(text)
	if err != nil || len(text) > maxStatement || len(quoted) > quotedRoom {
		return fault.E(op, fault.Invalid, "statement", errLongStatement)
	}
	if wait := rate.admit(who, now); wait > 0 {
		return &waitError{wait, fault.E(op, fault.Unavailable, who, errStatementRate)}
	}
	rate.charge(who, now, len(text))
	return nil
}

// statementTold is what the audit log tells of a statement.
type statementTold struct {
	Statement string  `json:"statement"`
	Length    int     `json:"length,omitempty"` // octets of the whole, when Statement is cut
	SHA256    string  `json:"sha256,omitempty"` // of the whole, in hexadecimal, when Statement is cut
	Rows      int     `json:"rows"`
	Octets    int     `json:"octets"`
	Seconds   float64 `json:"seconds"`
	Failed    string  `json:"failed,omitempty"`
}

// toldStatement is how many octets of the beginning and of the end of a statement that did not run the audit log holds.
const toldStatement = 500

// tell returns what the audit log tells of a statement that did not run: of a long one the beginning, the end, the length and
// the SHA-256.
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
	out    output
	begun  bool
	rows   int
	octets int // of the rows
	limit  int
}

func (w *rowWriter) columns(names []string) error {
	w.begun = true
	w.out.begin("application/x-ndjson")
	w.out.buf = append(w.out.buf, `{"columns":[`...)
	for i, name := range names {
		if i > 0 {
			w.out.buf = append(w.out.buf, ',')
		}
		w.out.buf = point.AppendQuoted(w.out.buf, name)
	}
	w.out.buf = append(w.out.buf, "]}\n"...)
	return nil
}

func (w *rowWriter) row(values []any) error {
	if w.rows == w.limit {
		return errEnough
	}
	w.rows++
	before := len(w.out.buf)
	w.out.buf = append(w.out.buf, '[')
	for i, v := range values {
		if i > 0 {
			w.out.buf = append(w.out.buf, ',')
		}
		w.out.buf = appendAny(w.out.buf, v)
	}
	w.out.buf = append(w.out.buf, "]\n"...)
	w.octets += len(w.out.buf) - before
	return w.out.spill()
}

// finish writes the last line. Before the first line an error is an ordinary problem.
func (w *rowWriter) finish(err error, instance string) error {
	enough := errors.Is(err, errEnough)
	if err != nil && !enough {
		if !w.begun {
			return err
		}
		b, jerr := json.Marshal(map[string]any{"error": problem(err, instance)})
		if jerr != nil {
			return jerr
		}
		w.out.buf = append(append(w.out.buf, b...), '\n')
		return w.out.flush()
	}
	w.out.buf = append(w.out.buf, `{"rows":`...)
	w.out.buf = strconv.AppendInt(w.out.buf, int64(w.rows), 10)
	if enough {
		w.out.buf = append(w.out.buf, `,"truncated":true`...)
	}
	w.out.buf = append(w.out.buf, "}\n"...)
	return w.out.flush()
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
