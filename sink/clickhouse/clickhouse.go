// Package clickhouse sends readings to ClickHouse over its HTTP interface, in the format JSONEachRow. The table is made if it is missing:
// it keeps the reading that was sent last for each point and time.
package clickhouse

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. ClickHouse wants few large requests.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 50_000, Parallel: 2} } //nolint:mnd // some MB

type writer struct {
	*endpoint.Endpoint

	table string
	tags  []string

	mu   sync.Mutex
	made bool
}

var tableName = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*\.)?[a-zA-Z_][a-zA-Z0-9_]*$`)

func open(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	if !tableName.MatchString(s.Into) {
		return nil, fault.E("sinks.Open", fault.Invalid, s.Into, fmt.Errorf("into of the destination %q is not the name of a table; write one such as readings or plant.readings", s.Name))
	}
	e, err := endpoint.New(s, "Bearer")
	w := &writer{Endpoint: e, table: s.Into}
	for name := range s.Tags {
		w.tags = append(w.tags, name)
	}
	slices.Sort(w.tags)
	return w, err
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	if err := w.make(ctx); err != nil {
		return nil, err
	}
	return destination.Halve(rows, func(part []destination.Row) (string, error) { return w.send(ctx, part) })
}

// make makes the table, and the columns of tags that were added since.
func (w *writer) make(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.made {
		return nil
	}
	statements := []string{"CREATE TABLE IF NOT EXISTS " + w.table + ` (point LowCardinality(String), time DateTime64(6, 'UTC'), value Nullable(Float64),
exact Nullable(Int64), text Nullable(String), quality LowCardinality(String), unit LowCardinality(String)) ENGINE = ReplacingMergeTree ORDER BY (point, time)`}
	for _, name := range w.tags {
		statements = append(statements, "ALTER TABLE "+w.table+" ADD COLUMN IF NOT EXISTS `"+name+"` LowCardinality(String)")
	}
	for _, text := range statements {
		a, err := w.Do(ctx, &endpoint.Request{Body: []byte(text)})
		if err != nil {
			return err
		}
		if !a.OK() {
			return fault.E("sinks.Append", fault.Unavailable, w.table, fmt.Errorf("the table cannot be made: %s", a.Text()))
		}
	}
	w.made = true
	return nil
}

func (w *writer) send(ctx context.Context, rows []destination.Row) (reason string, err error) {
	body := make([]byte, 0, 150*len(rows)) //nolint:mnd // about the length of a row
	for i := range rows {
		body = appendRow(body, &rows[i])
	}
	a, err := w.Do(ctx, &endpoint.Request{Query: url.Values{"query": {"INSERT INTO " + w.table + " FORMAT JSONEachRow"}, "date_time_input_format": {"best_effort"}}, Body: body})
	if err != nil {
		return "", w.explain(err)
	}
	if !a.OK() {
		if gone(a.Text()) {
			w.mu.Lock()
			w.made = false
			w.mu.Unlock()
			return "", fault.E("sinks.Append", fault.Unavailable, w.table, fmt.Errorf("the table is gone and is made anew: %s", a.Text()))
		}
		return a.Text(), nil
	}
	return "", nil
}

// explain lets the table be made again after an error: it may have been dropped.
func (w *writer) explain(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made = false
	return err
}

// gone reports whether an answer says that the table is not there (errors 60 and 81 of ClickHouse).
func gone(text string) bool {
	return strings.Contains(text, "Code: 60.") || strings.Contains(text, "Code: 81.")
}

func appendRow(b []byte, r *destination.Row) []byte {
	b = destination.AppendDocument(b, "time", r)
	if n, whole := r.Value.Int(); whole && r.Value.Kind() == point.Int {
		b = strconv.AppendInt(append(b[:len(b)-1], `,"exact":`...), n, 10)
		b = append(b, '}')
	}
	return append(b, '\n')
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	return w.explain(w.Reach(ctx, &endpoint.Request{Body: []byte("SELECT 1")}))
}
