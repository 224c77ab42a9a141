// Package load generates load on a schedule that does not wait for answers, and measures each response from the time at which its request
// was due. A receiver that stalls is charged for every request that it held up.
package load

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of a histogram: 1 µs to an hour, three digits.
const (
	shortest = int64(time.Microsecond)
	longest  = int64(time.Hour)
	digits   = 3
)

// Histogram counts latencies. One goroutine uses it.
type Histogram struct{ h *hdr.Histogram }

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{h: hdr.New(shortest, longest, digits)}
}

// Add counts a latency. What is below a microsecond counts as that, what is above an hour as that.
func (h *Histogram) Add(d time.Duration) {
	_ = h.h.RecordValue(min(max(int64(d), shortest), longest)) // cannot be out of range
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(o *Histogram) { h.h.Merge(o.h) }

// Bar counts the latencies of one length.
type Bar struct {
	Latency time.Duration `json:"latency"` // nanoseconds
	Count   int64         `json:"count"`
}

// Bars returns what was counted, so that another process can add it to its own.
func (h *Histogram) Bars() []Bar {
	var out []Bar
	for _, b := range h.h.Distribution() {
		if b.Count > 0 {
			out = append(out, Bar{Latency: time.Duration(b.To), Count: b.Count})
		}
	}
	return out
}

// AddBars adds what another histogram counted.
func (h *Histogram) AddBars(bars []Bar) {
	for _, b := range bars {
		_ = h.h.RecordValues(min(max(int64(b.Latency), shortest), longest), b.Count) // cannot be out of range
	}
}

// Count is how many latencies were counted.
func (h *Histogram) Count() uint64 { return uint64(h.h.TotalCount()) }

// Least is the shortest latency; 0 if there is none.
func (h *Histogram) Least() time.Duration { return time.Duration(h.h.Min()) }

// Most is the longest latency; 0 if there is none.
func (h *Histogram) Most() time.Duration { return time.Duration(h.h.Max()) }

// At returns the latency that the given share, 0 to 100, does not exceed.
func (h *Histogram) At(percent float64) time.Duration {
	return time.Duration(h.h.ValueAtQuantile(percent))
}

// Summary is a histogram in figures. Latencies are in seconds.
type Summary struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Most  float64 `json:"most"`

	Curve []Share `json:"curve"` // the distribution, finer towards its end
}

// Share is a point of a cumulative distribution.
type Share struct {
	Percent float64 `json:"percent"`
	Latency float64 `json:"latency"` // seconds
}

// Summary returns the figures.
func (h *Histogram) Summary() Summary {
	s := Summary{
		Count: uint64(h.h.TotalCount()), Mean: h.h.Mean() / float64(time.Second),
		P50: h.At(50).Seconds(), P90: h.At(90).Seconds(), P99: h.At(99).Seconds(), P999: h.At(99.9).Seconds(),
		Most: time.Duration(h.h.Max()).Seconds(), Curve: []Share{},
	}
	if s.Count == 0 {
		return s
	}
	for _, b := range h.h.CumulativeDistributionWithTicks(5) {
		s.Curve = append(s.Curve, Share{Percent: b.Quantile, Latency: time.Duration(b.ValueAt).Seconds()})
	}
	return s
}
