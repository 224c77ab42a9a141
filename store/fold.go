package store

import (
	"math"
	"time"

	"voltbus/point"
)

// Fold turns the samples of one point, added in time order, into buckets. Stores share it so
// that all of them agree to the last digit. It is not safe for concurrent use.
//
// Count, FirstTime and LastTime speak of all samples that are not bad. The figures speak of the
// numbers among them: text, absent values and NaN are counted but have no figure.
type Fold struct {
	from    int64 // microseconds
	step    int64 // microseconds
	end     int64 // of the newest bucket
	numbers uint64
	buckets []Bucket
}

// NewFold returns a Fold for buckets of step that start at from + n·step.
func NewFold(from time.Time, step time.Duration) *Fold {
	return &Fold{from: from.UnixMicro(), step: max(1, step.Microseconds()), end: math.MinInt64}
}

// Add counts one sample. Its time, in microseconds since 1970, is not before that of the sample
// added before.
func (f *Fold) Add(micros int64, v point.Value, q point.Quality) {
	number, ok := v.Number()
	f.AddNumber(micros, number, ok, q)
}

// AddNumber is Add for a caller that has the number already; ok is false if there is none.
func (f *Fold) AddNumber(micros int64, number float64, ok bool, q point.Quality) {
	if micros >= f.end || len(f.buckets) == 0 {
		f.open(micros)
	}
	b := &f.buckets[len(f.buckets)-1]
	if q.IsBad() {
		b.Bad++
		return
	}
	at := time.UnixMicro(micros).UTC()
	if b.Count == 0 {
		b.FirstTime = at
	}
	b.Count++
	b.LastTime = at
	if ok && !math.IsNaN(number) {
		f.number(b, at, number)
	}
}

// open begins the bucket that holds the time.
func (f *Fold) open(micros int64) {
	f.close()
	start := f.from + floorDiv(micros-f.from, f.step)*f.step
	f.end = start + f.step
	f.buckets = append(f.buckets, Bucket{Start: time.UnixMicro(start).UTC()})
}

// close completes the newest bucket.
func (f *Fold) close() {
	if f.numbers > 0 {
		b := &f.buckets[len(f.buckets)-1]
		b.Mean = b.Sum / float64(f.numbers)
	}
	f.numbers = 0
}

func (f *Fold) number(b *Bucket, at time.Time, v float64) {
	if f.numbers == 0 {
		b.First, b.Min, b.Max, b.MinTime, b.MaxTime = v, v, v, at, at
	}
	if v < b.Min {
		b.Min, b.MinTime = v, at
	}
	if v > b.Max {
		b.Max, b.MaxTime = v, at
	}
	b.Sum += v
	b.Last = v
	f.numbers++
}

// Buckets completes the last bucket and returns all of them, in time order. Nothing may be added
// afterwards.
func (f *Fold) Buckets() []Bucket {
	f.close()
	return f.buckets
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
