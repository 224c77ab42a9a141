package store

import (
	"math"
	"slices"
	"time"

	"voltbus/point"
)

// Fold turns the samples of one point, added in time order, into buckets. Stores share it so that all of them
// agree to the last digit. It is not safe for concurrent use.
//
// Count, FirstTime and LastTime cover all samples that are not bad. The figures cover the numbers among them:
// text, absent values and NaN are counted but have no figure.
type Fold struct {
	plan    *Plan
	end     int64 // of the newest bucket
	numbers uint64
	buckets []Bucket

	extra  bool
	values []float64 // of the newest bucket, for quantiles
	mean   float64   // so far, and the sum of the squares of the distances from it
	square float64

	hold  int64 // how long a value remains in effect
	valid bool  // whether one is in effect
	value float64
	since int64
	sum   float64 // value × seconds in the newest bucket
	held  int64   // microseconds of it
}

// Add counts one sample. Its time, in microseconds since 1970, is not before that of the previous sample, and
// lies in the plan's Range.
func (f *Fold) Add(micros int64, v point.Value, q point.Quality) {
	number, ok := v.Number()
	f.AddNumber(micros, number, ok, q)
}

// AddNumber is Add for a caller that already has the number; ok is false if there is none.
func (f *Fold) AddNumber(micros int64, number float64, ok bool, q point.Quality) {
	ok = ok && !math.IsNaN(number)
	if f.hold > 0 {
		f.settle(micros)
		f.valid, f.value, f.since = ok && !q.IsBad(), number, micros
	}
	if micros < f.plan.from {
		return
	}
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
	if ok {
		f.number(b, at, number)
	}
}

// open begins the bucket that holds the time.
func (f *Fold) open(micros int64) {
	f.close()
	start, end := f.plan.bucket(micros)
	f.end = end
	f.buckets = append(f.buckets, Bucket{Start: time.UnixMicro(start).UTC()})
}

// close completes the newest bucket.
func (f *Fold) close() {
	if len(f.buckets) == 0 {
		return
	}
	b := &f.buckets[len(f.buckets)-1]
	if f.numbers > 0 {
		b.Mean = b.Sum / float64(f.numbers)
	}
	if f.extra {
		b.Extra = f.extras()
	}
	f.numbers = 0
}

// extras completes the requested additional figures.
func (f *Fold) extras() *Extra {
	x := &Extra{Held: time.Duration(f.held) * time.Microsecond}
	if f.held > 0 {
		x.Weighted = f.sum / x.Held.Seconds()
	}
	if asked := &f.plan.query.Extras; f.numbers > 0 {
		if asked.Deviation {
			x.Deviation = math.Sqrt(f.square / float64(f.numbers))
		}
		if len(f.values) > 0 {
			x.Quantiles = quantiles(f.values, asked.Quantiles)
		}
	}
	f.plan.kept -= len(f.values)
	f.values, f.mean, f.square, f.sum, f.held = f.values[:0], 0, 0, 0, 0
	return x
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
	if f.extra {
		f.distribution(v)
	}
}

// distribution adds a number for deviation and quantiles.
func (f *Fold) distribution(v float64) {
	asked := &f.plan.query.Extras
	if asked.Deviation {
		distance := v - f.mean
		f.mean += distance / float64(f.numbers)
		f.square += distance * (v - f.mean)
	}
	if len(asked.Quantiles) > 0 && !f.plan.over {
		f.values = append(f.values, v)
		f.plan.kept++
		f.plan.over = f.plan.kept > maxKept
	}
}

// settle adds the weight of the value in effect until a time to the buckets.
func (f *Fold) settle(micros int64) {
	if !f.valid {
		return
	}
	begin, end := max(f.since, f.plan.from), min(micros, f.since+f.hold, f.plan.until)
	for begin < end {
		if begin >= f.end || len(f.buckets) == 0 {
			f.open(begin)
		}
		part := min(end, f.end) - begin
		f.sum += f.value * float64(part) / 1e6
		f.held += part
		begin += part
	}
}

// Buckets completes the last bucket and returns all of them, in time order. Nothing may be added
// afterwards.
func (f *Fold) Buckets() []Bucket {
	if f.hold > 0 {
		f.settle(f.plan.until)
	}
	f.close()
	return f.buckets
}

// quantiles sorts the values, of which there is at least one.
func quantiles(values, wanted []float64) []float64 {
	slices.Sort(values)
	out := make([]float64, len(wanted))
	for i, q := range wanted {
		rank := q * float64(len(values)-1)
		below := int(rank)
		above := min(below+1, len(values)-1)
		out[i] = values[below]
		if part := rank - float64(below); part > 0 {
			out[i] += (values[above] - values[below]) * part
		}
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
