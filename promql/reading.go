package promql

import (
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// reading is a sample in the form for the engine. It implements chunks.Sample.
type reading struct {
	at    int64 // milliseconds
	value float64
}

// T implements chunks.Sample.
func (r *reading) T() int64 { return r.at }

// ST implements chunks.Sample: the start of a counter is unknown.
func (*reading) ST() int64 { return 0 }

// F implements chunks.Sample.
func (r *reading) F() float64 { return r.value }

// H implements chunks.Sample; there are no histograms.
func (*reading) H() *histogram.Histogram { return nil }

// FH implements chunks.Sample; there are no histograms.
func (*reading) FH() *histogram.FloatHistogram { return nil }

// Type implements chunks.Sample.
func (*reading) Type() chunkenc.ValueType { return chunkenc.ValFloat }

// Copy implements chunks.Sample.
func (r *reading) Copy() chunks.Sample { c := *r; return &c }
