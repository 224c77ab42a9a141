// Package prometheus sends readings to Prometheus, VictoriaMetrics, Mimir, Thanos and others by remote write 1.0: a series for each
// point, with the label "point", whose values are numbers. Texts cannot be sent and are refused.
package prometheus

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations. Samples of a series must come in the order of their times, so that only one request is on its way.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 10_000, Parallel: 1} } //nolint:mnd // below 1 MB

type writer struct {
	*endpoint.Endpoint

	metric string
}

func open(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	e, err := endpoint.New(s, "Bearer")
	return &writer{e, plainName(s.Into)}, err
}

// plainName makes a name of a metric.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == ':' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, s)
}

// staleNaN marks the end of a series (Prometheus, model/value).
const staleNaN = 0x7ff0000000000002

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	var refused []destination.Refusal
	kept, of := make([]destination.Row, 0, len(rows)), make([]int, 0, len(rows))
	for i := range rows {
		if _, number := rows[i].Value.Number(); !number && !rows[i].Quality.IsBad() {
			refused = append(refused, destination.Refusal{Row: i, Reason: "Prometheus has numbers only: leave the point out by except"})
			continue
		}
		kept, of = append(kept, rows[i]), append(of, i)
	}
	list, err := destination.Halve(kept, func(part []destination.Row) (string, error) { return w.send(ctx, part) })
	for _, one := range list {
		refused = append(refused, destination.Refusal{Row: of[one.Row], Reason: one.Reason})
	}
	return refused, err
}

func (w *writer) send(ctx context.Context, rows []destination.Row) (reason string, err error) {
	a, err := w.Do(ctx, &endpoint.Request{
		Header: map[string]string{
			"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0",
		},
		Body: snappy.Encode(nil, w.request(rows)),
	})
	switch {
	case err != nil:
		return "", err
	case a.OK():
		return "", nil
	case a.Misdirected():
		return "", fault.E("sinks.Append", fault.Unavailable, w.metric, fmt.Errorf("it takes no remote write at this address; write the path, such as /api/v1/write, in url: %s", a.Text()))
	}
	return a.Text(), nil
}

// The fields of the messages WriteRequest, TimeSeries, Label and Sample of remote write 1.0.
const (
	fieldSeries    = 1
	fieldLabel     = 1
	fieldSample    = 2
	fieldName      = 1
	fieldText      = 2
	fieldValue     = 1
	fieldTimestamp = 2
)

// request encodes rows: a series for each run of rows of a shape.
func (w *writer) request(rows []destination.Row) (b []byte) {
	by := make(map[*destination.Shape][]int, len(rows))
	var order []*destination.Shape
	for i := range rows {
		s := rows[i].Shape
		if by[s] == nil {
			order = append(order, s)
		}
		by[s] = append(by[s], i)
	}
	var series []byte
	for _, s := range order {
		series = w.labels(series[:0], s)
		list := by[s]
		slices.SortStableFunc(list, func(i, j int) int { return int(rows[i].Time - rows[j].Time) })
		last := int64(math.MinInt64)
		for n, i := range list {
			at := rows[i].Time / 1000                                             //nolint:mnd // milliseconds
			if n+1 < len(list) && rows[list[n+1]].Time/1000 == at || at == last { // one value for each millisecond: the last one
				continue
			}
			last = at
			series = protowire.AppendTag(series, fieldSample, protowire.BytesType)
			series = protowire.AppendBytes(series, sample(&rows[i], at))
		}
		b = protowire.AppendTag(b, fieldSeries, protowire.BytesType)
		b = protowire.AppendBytes(b, series)
	}
	return b
}

func sample(r *destination.Row, at int64) []byte {
	bits := uint64(staleNaN)
	if n, number := r.Value.Number(); number && !r.Quality.IsBad() {
		bits = math.Float64bits(n)
	}
	var scratch [24]byte
	b := protowire.AppendTag(scratch[:0], fieldValue, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, bits)
	b = protowire.AppendTag(b, fieldTimestamp, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(at))
}

// labels adds the labels of a series, sorted by name as the protocol requires.
func (w *writer) labels(b []byte, s *destination.Shape) []byte {
	list := append(make([]destination.Tag, 0, len(s.Tags)+3), destination.Tag{Name: "__name__", Text: w.metric}, destination.Tag{Name: "point", Text: s.Name}) //nolint:mnd // name, point, unit
	if s.Unit != "" {
		list = append(list, destination.Tag{Name: "unit", Text: s.Unit})
	}
	list = append(list, s.Tags...)
	slices.SortFunc(list, func(a, b destination.Tag) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range list {
		var label []byte
		label = protowire.AppendTag(label, fieldName, protowire.BytesType)
		label = protowire.AppendString(label, t.Name)
		label = protowire.AppendTag(label, fieldText, protowire.BytesType)
		label = protowire.AppendString(label, strings.ToValidUTF8(t.Text, "�"))
		b = protowire.AppendTag(b, fieldLabel, protowire.BytesType)
		b = protowire.AppendBytes(b, label)
	}
	return b
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	_, err := w.send(ctx, nil)
	return err
}
