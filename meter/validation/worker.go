package validation

import (
	"math"
	"slices"
	"time"

	"voltbus/meter"
	"voltbus/meter/ruleset"
	"voltbus/meter/store"
	"voltbus/meter/vee"
)

// worker judges the channels of one day.
type worker struct {
	calendar *store.Calendar
	sets     *ruleset.Sets
	pipes    map[pipe]*vee.Pipeline
	used     map[string]bool
	failed   map[string]string // sets whose rules could not be carried out

	status []vee.Status
	again  []vee.Status
	clocks map[clock][]int
}

// pipe is the rules of a set, for channels whose values may be negative, or for others.
type pipe struct {
	set *ruleset.Set
	net bool
}

// pipeline returns the rules for a channel: a net channel may be negative.
func (w *worker) pipeline(s *ruleset.Set, c *meter.Channel) (*vee.Pipeline, error) {
	key := pipe{s, c.ReadingType[meter.FlowDirection] == meter.FlowNet}
	if p := w.pipes[key]; p != nil {
		return p, nil
	}
	rules := s.Rules
	rules.Negative = rules.Negative && !key.net
	p, err := vee.New(rules)
	if err != nil {
		return nil, err
	}
	if w.pipes == nil {
		w.pipes, w.used = map[pipe]*vee.Pipeline{}, map[string]bool{}
	}
	w.pipes[key] = p
	w.used[s.Name] = true
	return p, nil
}

// doubt is what makes an interval be estimated.
const doubt = vee.Gap | vee.Negative | vee.Spike | vee.DemandTolerance | vee.HistoricalMax

// judge validates and estimates a day of a channel.
func (w *worker) judge(c *store.ChannelDay) error {
	set := w.sets.Of(c.Key.Meter, c.Commodity, c.Channel)
	p, err := w.pipeline(set, c.Channel)
	if err != nil {
		return err
	}
	c.Rule = set.Label()
	b := w.block(c)
	if err := p.Validate(b); err != nil {
		w.failed[set.Name] = err.Error()
		c.Exception = true // the status says so, and the other rules were carried out
	}
	estimate := false
	for i := range b.Status {
		if set.Wrong != nil {
			b.Status[i] |= vee.RuleFailed
		}
		s := b.Status[i]
		c.Status[i] = uint32(s)
		c.Exception = c.Exception || s&^vee.Gap != 0
		estimate = estimate || s&doubt != 0
	}
	if !estimate {
		return nil
	}
	return w.estimate(c, b, p, set)
}

// block is a day of a channel as rules see it.
func (w *worker) block(c *store.ChannelDay) *vee.Block {
	n := len(c.Values)
	for len(w.status) < n {
		w.status, w.again = append(w.status, 0), append(w.again, 0)
	}
	b := &vee.Block{
		Values: c.Values, Status: w.status[:n], Length: c.Channel.Interval, WantLength: c.Channel.Interval,
		Multiplier: c.Channel.Multiplier, WantMultiplier: c.Channel.Multiplier,
		Before: c.Before, After: c.After, UsualSum: c.UsualSum, HighestValue: c.HighestValue,
	}
	if c.OffGrid > 0 {
		b.Length = 0 // whatever it is, it is not that of the channel
	}
	for _, a := range c.Advances {
		b.Advances = append(b.Advances, vee.Advance(a))
	}
	return b
}

// estimate fills what is missing or doubted, and has the rules judge the outcome.
func (w *worker) estimate(c *store.ChannelDay, b *vee.Block, p *vee.Pipeline, set *ruleset.Set) error {
	found, err := vee.Estimate(b, doubt, func() vee.Past { return w.past(c, set) })
	if err != nil {
		return err
	}
	after := *b
	after.Values, after.Status = found.Values, w.again[:len(found.Values)]
	_ = p.Validate(&after) // a rule that fails was noted the first time
	for i, m := range found.Methods {
		if m == vee.Measured {
			continue
		}
		if m == vee.Unfilled {
			c.Exception = true
			continue
		}
		c.Estimates[i], c.Rules[i] = found.Values[i], m.String()
		if left := after.Status[i] &^ (vee.Gap | b.Status[i]); left != 0 { // what the reading had is why it was estimated
			c.Status[i] |= uint32(left)
			c.Exception = true
		}
	}
	if found.EdgeBefore {
		c.Uses = append(c.Uses, c.Day-1)
	}
	if found.EdgeAfter {
		c.Uses = append(c.Uses, c.Day+1)
	}
	for n := 1; found.AskedPast && n <= store.LikeDays; n++ {
		c.Uses = append(c.Uses, c.Day.LikeDay(n))
	}
	return nil
}

// past gathers like days and the profile of the class, interval by interval at the same time of the clock.
func (w *worker) past(c *store.ChannelDay, set *ruleset.Set) vee.Past {
	out := vee.Past{ClassTotal: c.UsualSum}
	for n := 1; n <= store.LikeDays; n++ {
		d := c.Day.LikeDay(n)
		if values := c.Past(d); values != nil {
			out.LikeDays = append(out.LikeDays, w.aligned(values, d, c))
		}
	}
	if set.Profile != nil {
		for i := range c.Ends {
			begin := w.begin(c.Ends, c.Day, i)
			out.Class = append(out.Class, set.Profile.At(begin, c.Channel.Interval))
		}
	}
	return out
}

// clock names the intervals of a length of a day.
type clock struct {
	day    store.Day
	length time.Duration
}

// aligned returns the values of another day at the times of the clock of this one, NaN where it has none: an hour that a day
// lacks has no value, one that it has twice has the first one's both times.
func (w *worker) aligned(values []float64, d store.Day, c *store.ChannelDay) []float64 {
	at := map[int]int{}
	theirs, own := w.times(clock{d, c.Channel.Interval}), w.times(clock{c.Day, c.Channel.Interval})
	for i, second := range slices.Backward(theirs) {
		at[second] = i
	}
	out := make([]float64, len(own))
	for i, second := range own {
		out[i] = math.NaN()
		if k, ok := at[second]; ok && k < len(values) {
			out[i] = values[k]
		}
	}
	return out
}

// times returns when the intervals of a day begin, in seconds of the local clock.
func (w *worker) times(k clock) []int {
	if list, ok := w.clocks[k]; ok {
		return list
	}
	ends := w.calendar.Ends(nil, k.day, k.length)
	list := make([]int, len(ends))
	for i := range ends {
		h, m, s := w.begin(ends, k.day, i).Clock()
		list[i] = h*3600 + m*60 + s
	}
	if w.clocks == nil {
		w.clocks = map[clock][]int{}
	}
	w.clocks[k] = list
	return list
}

// begin returns when an interval begins, by the local clock.
func (w *worker) begin(ends []int64, d store.Day, i int) time.Time {
	at := w.calendar.Bounds(d).Start
	if i > 0 {
		at = ends[i-1]
	}
	return time.UnixMicro(at).In(w.calendar.Zone())
}
