// Package cells is a day of a channel while it is judged: the newest raw reading of each interval, and what is said of it.
package cells

import (
	"math"

	"voltbus/meter"
	"voltbus/meter/store/postgres/table"
)

// State is what is known of an interval.
type State uint8

// The states.
const (
	Absent   State = iota
	Fresh          // a raw reading that arrived, and no other before
	Disputed       // several of them that differ: all are among the further versions
	Settled        // the newest raw reading was judged before
)

// Estimate is what rules put in place of a reading.
type Estimate struct {
	Value  float64
	Status uint32
}

// Channel is a channel of a block.
type Channel struct {
	Channel uint32
	Model   *meter.Channel
	Row     *table.Intervals // as it is stored; nil if it is not

	Value    []float64 // of the intervals: the newest raw reading; NaN for none
	Recorded []int64   // of those that are fresh, as is source
	Source   []uint32
	State    []State
	Said     []uint32 // the source that it was judged by, plus one

	OffGrid   int
	Changed   bool               // there are readings that are new
	Consumed  int                // versions that arrived
	Estimates map[int32]Estimate // that count, but for what a person set
	odd       map[int32]float64  // raw readings at no end of an interval, by place
	Rows      []table.Version    // what arrived, for the further versions
}

// Seen notes a further version that is stored.
func (h *Channel) Seen(v *table.Version, stage meter.Stage, status uint32) {
	raw := stage == meter.Raw && status == 0
	if v.Place < 0 || int(v.Place) >= len(h.Value) {
		if raw {
			h.OffGrid++
			h.Oddly(v)
		}
		return
	}
	switch {
	case stage == meter.Estimated:
		h.estimate(v.Place, Estimate{v.Value, status})
	case raw:
		h.Value[v.Place], h.State[v.Place] = v.Value, Settled
	case stage == meter.Raw || stage == meter.Validated:
		h.Said[v.Place] = v.Source + 1
		if stage == meter.Validated {
			delete(h.Estimates, v.Place)
		}
	}
}

func (h *Channel) estimate(place int32, is Estimate) {
	if h.Estimates == nil {
		h.Estimates = map[int32]Estimate{}
	}
	h.Estimates[place] = is
}

// Oddly notes a raw reading at no end of an interval; false if it is a repeat.
func (h *Channel) Oddly(v *table.Version) bool {
	if was, ok := h.odd[v.Place]; ok && was == v.Value {
		return false
	}
	if h.odd == nil {
		h.odd = map[int32]float64{}
	}
	h.odd[v.Place] = v.Value
	return true
}

// Reading takes in a raw reading of an interval.
func (h *Channel) Reading(v *table.Version) {
	i := v.Place
	switch {
	case h.State[i] == Absent:
		h.Changed = true
		h.Value[i], h.Recorded[i], h.Source[i], h.State[i] = v.Value, v.Recorded, v.Source, Fresh
	case h.Value[i] == v.Value: // a repeat
	default:
		h.Changed = true
		if h.State[i] == Fresh {
			h.Rows = append(h.Rows, table.Version{Channel: h.Channel, Place: i, Value: h.Value[i], Recorded: h.Recorded[i], Source: h.Source[i]})
		}
		h.Rows = append(h.Rows, *v)
		h.Value[i], h.State[i] = v.Value, Disputed
	}
}

// New returns a channel with so many intervals, of which nothing is known.
func New(channel uint32, model *meter.Channel, n int) *Channel {
	h := &Channel{
		Channel: channel, Model: model, Value: make([]float64, n), Recorded: make([]int64, n), Source: make([]uint32, n), State: make([]State, n), Said: make([]uint32, n),
	}
	for i := range h.Value {
		h.Value[i] = math.NaN()
	}
	return h
}

// RankOf orders stages: what a person set stands above rules, and what rules found above what came in.
func RankOf(s meter.Stage) uint8 {
	switch s {
	case meter.Edited:
		return 2
	case meter.Estimated, meter.Validated:
		return 1
	case meter.Raw:
	}
	return 0
}
