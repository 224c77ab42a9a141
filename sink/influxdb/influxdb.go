// Package influxdb sends readings to InfluxDB, and to what else reads its line protocol: VictoriaMetrics, QuestDB, Telegraf. A point
// is a series with the tag "point"; numbers and truth values are in the field "value", texts in the field "text". A reading that is sent again
// replaces itself.
package influxdb

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 10_000, Parallel: 2} } //nolint:mnd // about 1 MB

type writer struct {
	*endpoint.Endpoint

	into  string
	path  string
	query url.Values
}

// defaultPath is that of InfluxDB 2, which 3 and others read, too.
const defaultPath = "/api/v2/write"

func open(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	e, err := endpoint.New(s, "Token")
	w := &writer{Endpoint: e, into: s.Into, path: defaultPath, query: url.Values{"bucket": {s.Into}, "precision": {"us"}}}
	u, bad := url.Parse(s.URL)
	if bad != nil || len(u.Path) < 2 { //nolint:mnd // no path, or a slash
		return w, err
	}
	w.path = "" // the address says where to write
	switch {
	case strings.HasSuffix(u.Path, "/write_lp"): // InfluxDB 3
		w.query = url.Values{"db": {s.Into}, "precision": {"microsecond"}}
	case !strings.HasSuffix(u.Path, defaultPath): // InfluxDB 1
		w.query = url.Values{"db": {s.Into}, "precision": {"u"}}
	}
	return w, err
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	return destination.Halve(rows, func(part []destination.Row) (string, error) { return w.send(ctx, part) })
}

func (w *writer) send(ctx context.Context, rows []destination.Row) (reason string, err error) {
	body := make([]byte, 0, 100*len(rows)) //nolint:mnd // about the length of a line
	for i := range rows {
		body = w.line(body, &rows[i])
	}
	if len(body) == 0 {
		return "", nil
	}
	a, err := w.Do(ctx, &endpoint.Request{Path: w.path, Query: w.query, Header: map[string]string{"Content-Type": "text/plain; charset=utf-8"}, Body: body})
	switch {
	case err != nil:
		return "", err
	case a.OK():
		return "", nil
	case a.Misdirected():
		return "", fault.E("sinks.Append", fault.Unavailable, w.into, fmt.Errorf("the bucket or database is not there, or the address is another one: make it, or write another into or url: %s", a.Text()))
	}
	return a.Text(), nil
}

// measurement is the name of all series.
const measurement = "reading"

var escape = strings.NewReplacer(`\`, `\\`, ",", `\,`, "=", `\=`, " ", `\ `, "\n", `\n`, "\r", `\r`) //nolint:gochecknoglobals // a table

func escaped(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",= \n\r\\") {
		return append(b, s...)
	}
	return append(b, escape.Replace(s)...)
}

// line adds a row. One that is not a finite number and no text has only its quality.
func (*writer) line(b []byte, r *destination.Row) []byte {
	b = append(b, measurement+",point="...)
	b = escaped(b, r.Name)
	if r.Unit != "" {
		b = escaped(append(b, ",unit="...), r.Unit)
	}
	for _, t := range r.Tags {
		b = escaped(append(b, ','), t.Name)
		b = escaped(append(b, '='), t.Text)
	}
	b = append(b, ` quality="`...)
	b = append(b, r.Quality.String()...)
	b = append(b, '"')
	if n, number := r.Value.Number(); number && !math.IsNaN(n) && !math.IsInf(n, 0) {
		b = strconv.AppendFloat(append(b, ",value="...), n, 'g', -1, 64)
	} else if r.Value.Kind() == point.Text {
		b = append(b, `,text="`...)
		b = append(b, quoted.Replace(r.Value.Text())...)
		b = append(b, '"')
	}
	b = strconv.AppendInt(append(b, ' '), r.Time, 10)
	return append(b, '\n')
}

var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`) //nolint:gochecknoglobals // a table

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	return w.Reach(ctx, &endpoint.Request{Path: w.path, Query: w.query, Header: map[string]string{"Content-Type": "text/plain; charset=utf-8"}, Body: []byte("\n")})
}
