package billing

import (
	"fmt"
	"math"
	"slices"
	"time"

	"voltbus/meter"
	"voltbus/meter/interval"
)

// Series is the intervals of a billing time, in columns: whole local days, one after another. Values is NaN where
// nothing is known. Stages is meaningful where a value is. It may be read concurrently.
type Series struct {
	Grid       interval.Grid
	Start, End time.Time   // local midnights
	Ends       []time.Time // of the intervals
	Values     []float64   // energy or volume of each interval
	Stages     []meter.Stage
	days       []interval.Day
}

// NewSeries returns the intervals from the local day of from up to that of to, which no longer belongs to it. It
// has no values yet. Both are the first moments of local days: the bill dates.
func NewSeries(g interval.Grid, from, to time.Time) (*Series, error) {
	if g.Zone() == nil {
		return nil, fmt.Errorf("grid: missing: make one with interval.New")
	}
	if !to.After(from) {
		return nil, fmt.Errorf("bill dates: %s is not after %s: give the later one second", stamp(to), stamp(from))
	}
	for _, t := range []time.Time{from, to} {
		year, month, day := t.In(g.Zone()).Date()
		if start, _ := g.Day(year, month, day).Bounds(); !start.Equal(t) {
			return nil, fmt.Errorf("bill date: %s is not the first moment of a day in %s: give %s", stamp(t), g.Zone(), stamp(start))
		}
	}
	s := &Series{Grid: g, Start: from, End: to}
	year, month, day := from.In(g.Zone()).Date()
	for d := g.Day(year, month, day); ; d = d.Next() {
		start, _ := d.Bounds()
		if !start.Before(to) {
			break
		}
		s.days = append(s.days, d)
		for i := range d.Count() {
			s.Ends = append(s.Ends, d.End(i))
		}
	}
	s.Values, s.Stages = make([]float64, len(s.Ends)), make([]meter.Stage, len(s.Ends))
	for i := range s.Values {
		s.Values[i] = math.NaN()
	}
	return s, nil
}

// Source is one channel for a time: after an exchange, a bill has those of both meters.
type Source struct {
	History    *meter.History
	Multiplier float64   // of the channel; above 0
	From, To   time.Time // the intervals that end after From and not after To; zero: the whole series
}

// Read fills in the readings of a source as they were known at a moment. It returns how many readings lie at no
// end of the series' intervals: those do not count.
func (s *Series) Read(src Source, known time.Time) (stray int, err error) {
	if src.History == nil || !(src.Multiplier > 0) || math.IsInf(src.Multiplier, 1) {
		return 0, fmt.Errorf("source: multiplier %v: give a history and a finite multiplier above 0; 1 without transformers", src.Multiplier)
	}
	from, to := src.From, src.To
	if from.Before(s.Start) {
		from = s.Start
	}
	if to.IsZero() || to.After(s.End) {
		to = s.End
	}
	for _, v := range src.History.AsKnown(nil, from, to, known) {
		i, ok := slices.BinarySearchFunc(s.Ends, v.End, time.Time.Compare)
		if !ok {
			stray++
			continue
		}
		s.Values[i], s.Stages[i] = v.Value*src.Multiplier, v.Stage
	}
	return stray, nil
}

// Scope is the periods of the intervals of a series: compute it once for import and export.
type Scope struct {
	names  []string
	period []int // of each interval
	start  time.Time
	grid   interval.Grid
	blocks []int // first interval of each day
}

// Scope returns the period of each interval: that in which it begins. It returns an error if the zones differ or
// if the tariff switches inside an interval.
func (c *Calendar) Scope(s *Series) (*Scope, error) {
	if c.zone.String() != s.Grid.Zone().String() {
		return nil, fmt.Errorf("tariff in %s, readings in days of %s: use one zone", c.zone, s.Grid.Zone())
	}
	if err := c.fits(s.Grid.Length()); err != nil {
		return nil, err
	}
	out := &Scope{names: c.periods, period: make([]int, 0, len(s.Ends)), start: s.Start, grid: s.Grid}
	for _, d := range s.days {
		out.blocks = append(out.blocks, len(out.period))
		out.period = c.columns(out.period, d)
	}
	return out, nil
}

// check returns an error if a series is not one of the scope.
func (p *Scope) check(s *Series) error {
	if len(s.Values) != len(p.period) || len(s.Stages) != len(p.period) || !s.Start.Equal(p.start) || s.Grid.Length() != p.grid.Length() || s.Grid.Zone().String() != p.grid.Zone().String() {
		return fmt.Errorf("series from %s with %d values and %d stages: the scope is of %d intervals of %s from %s: use series of the same dates and grid",
			stamp(s.Start), len(s.Values), len(s.Stages), len(p.period), p.grid.Length(), stamp(p.start))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
