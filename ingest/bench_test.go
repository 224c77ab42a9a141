package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/ingest"
)

// bodies are what programs send: a scan of a thousand points.
func bodies() map[string]struct {
	format ingest.Format
	text   string
} {
	const n = 1000
	var line, object, series, csv, senml strings.Builder
	csv.WriteString("point,time,value\n")
	for i := range n / 10 {
		fmt.Fprintf(&line, "cpu,cpu=cpu%d,host=server1 ", i)
		for j := range 10 {
			fmt.Fprintf(&line, "field%d=%d.%d,", j, i, j)
		}
		s := line.String()
		line.Reset()
		line.WriteString(strings.TrimSuffix(s, ",") + " 1772366400000000000\n")
	}
	for i := range n {
		fmt.Fprintf(&object, `{"point":"campus/building/device%d/temp","time":"2026-03-01T12:00:00Z","value":%d.5},`, i, i)
		fmt.Fprintf(&series, `[%d,%d.5],`, 1772366400000+i, i)
		fmt.Fprintf(&csv, "campus/building/device%d/temp,2026-03-01T12:00:00Z,%d.5\n", i, i)
		fmt.Fprintf(&senml, `{"n":"device%d/temp","v":%d.5},`, i, i)
	}
	trim := func(b *strings.Builder) string { return strings.TrimSuffix(b.String(), ",") }
	return map[string]struct {
		format ingest.Format
		text   string
	}{
		"line":   {ingest.Line, line.String()},
		"json":   {ingest.JSON, "[" + trim(&object) + "]"},
		"series": {ingest.JSON, `{"series":[{"point":"a/b","samples":[` + trim(&series) + `]}]}`},
		"csv":    {ingest.CSV, csv.String()},
		"senml":  {ingest.SenML, `[{"bn":"campus/","bt":1772366400},` + trim(&senml) + `]`},
	}
}

func BenchmarkParse(b *testing.B) {
	for name, body := range bodies() {
		b.Run(name, func(b *testing.B) {
			p, text := ingest.NewParser(), []byte(body.text)
			n := 0
			take := func(batch *ingest.Batch) error { n += len(batch.Samples); return nil }
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := p.Parse(body.format, text, ingest.Options{Now: noon()}, take); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
