package query

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/store"
)

// Function is the name of a bucket's figure: "mean", "min", "max", "sum", "count", "first", "last",
// "timeweighted", "stddev", "median", or a percentile such as "p95" or "p99.9".
type Function string

// The functions other than percentiles.
const (
	Mean         Function = "mean"
	Min          Function = "min"
	Max          Function = "max"
	Sum          Function = "sum"
	Count        Function = "count"
	First        Function = "first"
	Last         Function = "last"
	TimeWeighted Function = "timeweighted" // the mean, each value weighted by how long it was in effect
	Deviation    Function = "stddev"       // the standard deviation of all samples of the bucket
	Median       Function = "median"
)

const maxFunctions = 32

// How long a value remains in effect for the time-weighted mean when no other follows it.
const (
	holdIntervals = 3              // for a point whose interval is known
	holdUnknown   = 24 * time.Hour // for one that reports irregularly
)

var errFunction = errors.New("knows mean, min, max, sum, count, first, last, timeweighted, stddev, median, " +
	"and percentiles such as p95; name at most 32")

// ParseFunctions parses the names of functions.
func ParseFunctions(names []string) ([]Function, error) {
	var list []Function
	for _, name := range names {
		f := Function(strings.TrimSpace(name))
		if _, ok := f.quantile(); !ok && !slices.Contains(plainFunctions(), f) {
			return nil, fault.E("query.ParseFunctions", fault.Invalid, "functions", errFunction)
		}
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	if len(list) > maxFunctions {
		return nil, fault.E("query.ParseFunctions", fault.Invalid, "functions", errFunction)
	}
	return list, nil
}

func plainFunctions() []Function {
	return []Function{Mean, Min, Max, Sum, Count, First, Last, TimeWeighted, Deviation}
}

// quantile returns the function's quantile.
func (f Function) quantile() (float64, bool) {
	if f == Median {
		return 0.5, true
	}
	digits, ok := strings.CutPrefix(string(f), "p")
	if !ok || digits == "" || len(digits) > 8 || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	percent, err := strconv.ParseFloat(digits, 64)
	return percent / 100, err == nil && percent <= 100
}

// extras returns the additional figures that the store must compute for the functions.
func extras(functions []Function, entries []catalog.Entry) store.Extras {
	x := store.Extras{Deviation: slices.Contains(functions, Deviation)}
	for _, f := range functions {
		if q, ok := f.quantile(); ok {
			x.Quantiles = append(x.Quantiles, q)
		}
	}
	if Holds(functions) {
		for i := range entries {
			hold := holdUnknown
			if entries[i].Interval > 0 {
				hold = holdIntervals * min(entries[i].Interval, math.MaxInt64/holdIntervals)
			}
			x.Hold = append(x.Hold, hold)
		}
	}
	return x
}

// Holds reports whether the functions need to know the last sample before the range.
func Holds(functions []Function) bool { return slices.Contains(functions, TimeWeighted) }

// Hold returns how old the last sample before the range may be to remain in effect, for the points for which
// this is known; 0 if the functions do not need it.
func Hold(functions []Function, entries []catalog.Entry) time.Duration {
	var longest time.Duration
	for _, hold := range extras(functions, entries).Hold {
		longest = max(longest, hold)
	}
	return longest
}

// Values returns the functions' figures of a bucket that was queried for them, NaN for missing ones.
func Values(functions []Function, b *store.Bucket) []float64 {
	out := make([]float64, len(functions))
	quantile := 0
	for i, f := range functions {
		out[i] = value(f, b)
		if _, ok := f.quantile(); !ok {
			continue
		}
		if b.Extra != nil && quantile < len(b.Extra.Quantiles) {
			out[i] = b.Extra.Quantiles[quantile]
		}
		quantile++
	}
	return out
}

// value returns the figure of any function but a quantile.
func value(f Function, b *store.Bucket) float64 {
	switch {
	case f == Count:
		return float64(b.Count)
	case f == TimeWeighted && b.Extra != nil && b.Extra.Held > 0:
		return b.Extra.Weighted
	case f == TimeWeighted || !hasFigures(*b):
		return math.NaN()
	}
	switch f { //nolint:exhaustive // the others are above, or quantiles
	case Mean:
		return b.Mean
	case Min:
		return b.Min
	case Max:
		return b.Max
	case Sum:
		return b.Sum
	case First:
		return b.First
	case Last:
		return b.Last
	case Deviation:
		return b.Extra.Deviation
	}
	return math.NaN()
}
