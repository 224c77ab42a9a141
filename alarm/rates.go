package alarm

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"voltbus/point"
)

// Rates says how much operators had to attend to (ISA-18.2, clause 16; IEC 62682, clause 16). A node counts as one operator's.
type Rates struct {
	From, To time.Time
	Alarms   int // that were annunciated
	// PerHour is the average; 6 are acceptable and 12 can just be attended to.
	PerHour float64
	Peak    int // the most within ten minutes that begin at a multiple of ten minutes
	// Flood is the part of those ten minutes in which there were more than ten alarms, from 0 to 1; it should be below 0.01.
	Flood float64
	// ByPriority is how many alarms each priority had; about 80 of 100 should be low and medium, 5 high and critical.
	ByPriority map[Priority]int
	Top        []Often // the ten alarms that came most often, the most frequent first
	Chattering []Often // those that came three times or more within one minute
	Standing   []Alarm // those that have been active for more than 24 hours now
}

// Often is how often an alarm was annunciated.
type Often struct {
	Alarm ID
	Rule  string
	Point point.Path
	Text  string
	Times int
	Share float64 // of all, from 0 to 1
	// Most is how often it came within one minute, at most.
	Most int
}

// Count counts the transitions of a time.
type Count struct {
	from, to time.Time
	alarms   map[ID]*counted
	tens     map[int64]int
	rates    Rates
}

type counted struct {
	Often
	last []time.Time // of the minute before the last one looked at
}

const (
	chatters   = 3 // times within a minute
	topAlarms  = 10
	ten        = 10 * time.Minute
	standing   = 24 * time.Hour
	mostListed = 100
)

// NewCount begins to count from one time to another.
func NewCount(from, to time.Time) *Count {
	return &Count{from: from, to: to, alarms: map[ID]*counted{}, tens: map[int64]int{}, rates: Rates{From: from, To: to, ByPriority: map[Priority]int{}}}
}

// Add counts a transition. They come in order, oldest or newest first.
func (c *Count) Add(t *Transition) {
	if !t.Annunciated() || t.At.Before(c.from) || !t.At.Before(c.to) {
		return
	}
	c.rates.Alarms++
	c.rates.ByPriority[t.Priority]++
	c.tens[t.At.UnixMicro()/ten.Microseconds()]++
	a := c.alarms[t.Alarm]
	if a == nil {
		a = &counted{Often: Often{Alarm: t.Alarm, Rule: t.Rule, Point: t.Point, Text: t.Text}}
		c.alarms[t.Alarm] = a
	}
	a.Times++
	a.last = append(slices.DeleteFunc(a.last, func(at time.Time) bool { return at.Sub(t.At).Abs() >= time.Minute }), t.At)
	a.Most = max(a.Most, len(a.last))
}

// Rates returns the result, with the alarms of which a list is given that have been active for long now.
func (c *Count) Rates(list []Shown, now time.Time) Rates {
	r := c.rates
	if hours := c.to.Sub(c.from).Hours(); hours > 0 {
		r.PerHour = float64(r.Alarms) / hours
	}
	floods := 0
	for _, n := range c.tens {
		r.Peak = max(r.Peak, n)
		if n > floodBegin {
			floods++
		}
	}
	if windows := max(1, int(c.to.Sub(c.from)/ten)); floods > 0 {
		r.Flood = float64(floods) / float64(windows)
	}
	all := slices.SortedFunc(maps.Values(c.alarms), func(a, b *counted) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Alarm, b.Alarm))
	})
	for i, a := range all {
		a.Share = float64(a.Times) / float64(r.Alarms)
		if i < topAlarms {
			r.Top = append(r.Top, a.Often)
		}
		if a.Most >= chatters && len(r.Chattering) < mostListed {
			r.Chattering = append(r.Chattering, a.Often)
		}
	}
	for i := range list {
		if a := &list[i]; a.Active && now.Sub(a.Since) > standing && len(r.Standing) < mostListed {
			r.Standing = append(r.Standing, a.Alarm)
		}
	}
	return r
}
