package billing

import (
	"fmt"
	"math"
	"time"

	"voltbus/meter"
)

// Use is what was consumed in one period.
type Use struct {
	Period    string
	Quantity  float64 // sum of the values, in their unit
	Intervals int     // of the period
	Missing   int     // of them, without a value
	Estimated int     // of them, estimated by a rule
	Edited    int     // of them, set by a person
}

// Use returns the consumption of each period, in the order of the tariff. The periods add up to the series.
func (p *Scope) Use(s *Series) ([]Use, error) {
	if err := p.check(s); err != nil {
		return nil, err
	}
	out := make([]Use, len(p.names))
	for i, name := range p.names {
		out[i].Period = name
	}
	for i, v := range s.Values {
		u := &out[p.period[i]]
		u.Intervals++
		if missing(v) {
			u.Missing++
			continue
		}
		u.Quantity += v
		switch s.Stages[i] {
		case meter.Estimated:
			u.Estimated++
		case meter.Edited:
			u.Edited++
		case meter.Raw, meter.Validated:
		}
	}
	return out, nil
}

// Window says over which time demand is averaged.
type Window struct {
	Length  time.Duration // a multiple of the interval that divides one hour, or one hour
	Rolling bool          // a window ends with each interval; otherwise windows follow each other from midnight
}

// Peak is the highest demand of one period. A window counts to the period in which its last interval begins.
type Peak struct {
	Period     string
	Demand     float64   // quantity an hour: kW for kWh; 0 without a complete window
	End        time.Time // of the window, the first if several are as high; zero without a complete window
	Windows    int       // that are complete
	Incomplete int       // windows that lack a value: they do not count
}

// Peaks returns the highest demand of each period, in the order of the tariff. Windows are elapsed time and lie
// inside the series. Where a clock change cuts an interval or a block short, its quantity still counts over the
// whole length, so that no clock change raises a peak.
func (p *Scope) Peaks(s *Series, w Window) ([]Peak, error) {
	if err := p.check(s); err != nil {
		return nil, err
	}
	length := s.Grid.Length()
	if w.Length < length || w.Length > time.Hour || w.Length%length != 0 || time.Hour%w.Length != 0 {
		return nil, fmt.Errorf("demand window: %s: write a multiple of the interval of %s that divides one hour, such as %s", w.Length, length, min(length, time.Hour))
	}
	k := int(w.Length / length)
	out := make([]Peak, len(p.names))
	for i, name := range p.names {
		out[i].Period = name
	}
	if w.Rolling {
		for last := k - 1; last < len(s.Values); last++ {
			p.window(out, s, last-k+1, last)
		}
	} else {
		for n, first := range p.blocks {
			end := len(s.Values)
			if n+1 < len(p.blocks) {
				end = p.blocks[n+1]
			}
			for ; first < end; first += k {
				p.window(out, s, first, min(first+k, end)-1)
			}
		}
	}
	for i := range out {
		out[i].Demand /= w.Length.Hours()
	}
	return out, nil
}

// window takes the sum of the intervals first to last into the peak of its period.
func (p *Scope) window(out []Peak, s *Series, first, last int) {
	sum := 0.0
	for _, v := range s.Values[first : last+1] {
		sum += v
	}
	peak := &out[p.period[last]]
	if missing(sum) {
		peak.Incomplete++
		return
	}
	if peak.Windows == 0 || sum > peak.Demand {
		peak.Demand, peak.End = sum, s.Ends[last]
	}
	peak.Windows++
}

// Net is import and export of one period. Intervals in which one of the two is missing count to no quantity.
type Net struct {
	Period                 string
	Import, Export         float64 // sums of the channels
	Net                    float64 // Import − Export: positive is import from the grid
	NetImport, NetExport   float64 // netted in each interval: sums of what is above, and below, 0
	Intervals, MissingPair int
}

// Net returns import and export of each period, in the order of the tariff, both over the whole time (Net) and
// interval by interval (NetImport, NetExport): which of them is billed is the tariff's affair. Values of both
// series are positive.
func (p *Scope) Net(imported, exported *Series) ([]Net, error) {
	for _, s := range []*Series{imported, exported} {
		if err := p.check(s); err != nil {
			return nil, err
		}
	}
	out := make([]Net, len(p.names))
	for i, name := range p.names {
		out[i].Period = name
	}
	for i, in := range imported.Values {
		n, ex := &out[p.period[i]], exported.Values[i]
		n.Intervals++
		if missing(in) || missing(ex) {
			n.MissingPair++
			continue
		}
		n.Import += in
		n.Export += ex
		n.NetImport += max(in-ex, 0)
		n.NetExport += max(ex-in, 0)
	}
	for i := range out {
		out[i].Net = out[i].Import - out[i].Export
	}
	return out, nil
}

func missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
