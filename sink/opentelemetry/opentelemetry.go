// Package opentelemetry sends readings to OpenTelemetry collectors and what else takes OTLP metrics over HTTP: a gauge for each point,
// named as the configuration says. Texts cannot be sent and are refused.
package opentelemetry

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Kind is the kind of these destinations.
func Kind() destination.Kind { return destination.Kind{Make: open, Batch: 5000, Parallel: 2} } //nolint:mnd // about 1 MB

type writer struct {
	*endpoint.Endpoint

	node, into, path string
}

func open(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	to, err := endpoint.New(s, "Bearer")
	w := &writer{Endpoint: to, node: e.Node, into: s.Into, path: "/v1/metrics"}
	if u, bad := url.Parse(s.URL); bad == nil && len(u.Path) > 1 {
		w.path = ""
	}
	return w, err
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	var refused []destination.Refusal
	kept, of := make([]destination.Row, 0, len(rows)), make([]int, 0, len(rows))
	for i := range rows {
		if _, number := rows[i].Value.Number(); !number && !rows[i].Quality.IsBad() {
			refused = append(refused, destination.Refusal{Row: i, Reason: "metrics are numbers: leave the point out by except"})
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
	a, err := w.Do(ctx, &endpoint.Request{Path: w.path, Header: map[string]string{"Content-Type": "application/x-protobuf"}, Body: w.request(rows)})
	switch {
	case err != nil:
		return "", err
	case a.Misdirected():
		return "", fault.E("sinks.Append", fault.Unavailable, w.into, fmt.Errorf("it takes no metrics at this address; write that of its OTLP receiver for HTTP: %s", a.Text()))
	case !a.OK():
		return a.Text(), nil
	}
	return rejected(a.Body), nil
}

// The fields of ExportMetricsServiceResponse (OTLP 1.x, collector/metrics/v1).
const (
	fieldPartial  = 1
	fieldRejected = 1
	fieldMessage  = 2
)

// rejected returns why some data points were rejected, "" if none was.
func rejected(body []byte) (reason string) {
	message, _ := field(body, fieldPartial)
	text, _ := field(message, fieldMessage)
	if _, n := field(message, fieldRejected); n == 0 {
		return ""
	}
	if len(text) == 0 {
		return "it was rejected without a reason"
	}
	return string(text)
}

// field returns the last field with a number: its bytes, or its number.
func field(b []byte, number protowire.Number) (data []byte, value uint64) {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, 0
		}
		b = b[size:]
		rest := protowire.ConsumeFieldValue(n, kind, b)
		if rest < 0 {
			return nil, 0
		}
		if n == number {
			switch kind {
			case protowire.BytesType:
				data, _ = protowire.ConsumeBytes(b)
			case protowire.VarintType:
				value, _ = protowire.ConsumeVarint(b)
			}
		}
		b = b[rest:]
	}
	return data, value
}

// The fields of ExportMetricsServiceRequest and of the messages in it (OTLP 1.x, metrics/v1).
const (
	fieldResourceMetrics = 1
	fieldResource        = 1
	fieldScopeMetrics    = 2
	fieldScope           = 1
	fieldMetrics         = 2
	fieldMetricName      = 1
	fieldMetricUnit      = 3
	fieldGauge           = 5
	fieldDataPoints      = 1
	fieldTime            = 3
	fieldDouble          = 4
	fieldInt             = 6
	fieldAttributes      = 7
	fieldFlags           = 8
	flagNoValue          = 1
)

func message(b []byte, n protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), data)
}

// attribute encodes a KeyValue with a text.
func attribute(name, text string) []byte {
	b := message(nil, 1, []byte(name))
	return message(b, 2, message(nil, 1, []byte(strings.ToValidUTF8(text, "�")))) //nolint:mnd // the number of the field
}

// request encodes rows: a metric for each shape.
func (w *writer) request(rows []destination.Row) []byte {
	points := map[*destination.Shape][]byte{}
	var order []*destination.Shape
	for i := range rows {
		s := rows[i].Shape
		if points[s] == nil {
			order = append(order, s)
		}
		points[s] = message(points[s], fieldDataPoints, dataPoint(&rows[i]))
	}
	scope := message(nil, fieldScope, message(nil, 1, []byte("voltbus")))
	for _, s := range order {
		m := message(nil, fieldMetricName, []byte(strings.ToValidUTF8(s.Name, "�")))
		if s.Unit != "" {
			m = message(m, fieldMetricUnit, []byte(s.Unit))
		}
		scope = message(scope, fieldMetrics, message(m, fieldGauge, points[s]))
	}
	resource := message(nil, 1, attribute("service.name", w.into))
	resource = message(resource, 1, attribute("service.instance.id", w.node))
	all := message(message(nil, fieldResource, resource), fieldScopeMetrics, scope)
	return message(nil, fieldResourceMetrics, all)
}

func dataPoint(r *destination.Row) []byte {
	b := protowire.AppendTag(nil, fieldTime, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, uint64(r.Time)*1000) //nolint:mnd // nanoseconds
	switch n, number := r.Value.Number(); {
	case !number || r.Quality.IsBad():
		b = protowire.AppendTag(b, fieldFlags, protowire.VarintType)
		b = protowire.AppendVarint(b, flagNoValue)
	case r.Value.Kind() == point.Float:
		b = protowire.AppendTag(b, fieldDouble, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, math.Float64bits(n))
	default:
		b = protowire.AppendTag(b, fieldInt, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, r.Value.Bits())
	}
	b = message(b, fieldAttributes, attribute("point", string(r.Point)))
	b = message(b, fieldAttributes, attribute("quality", r.Quality.String()))
	for _, t := range r.Tags {
		b = message(b, fieldAttributes, attribute(t.Name, t.Text))
	}
	return b
}

// Probe implements destination.Prober.
func (w *writer) Probe(ctx context.Context) error {
	return w.Reach(ctx, &endpoint.Request{Path: w.path, Header: map[string]string{"Content-Type": "application/x-protobuf"}, Body: w.request(nil)})
}
