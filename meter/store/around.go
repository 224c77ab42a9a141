package store

import (
	"math"
	"slices"
	"time"

	"voltbus/meter"
)

// aroundTime is how much of the neighbours' days a ChannelDay has.
const aroundTime = 2 * time.Hour

// Around returns how many intervals of a length a ChannelDay has of the day before, and of the day behind.
func Around(length time.Duration) int { return max(1, int(aroundTime/length)) }

// LikeDays is how many days of the same type are behind UsualSum, PastDays how many days behind HighestValue.
const (
	LikeDays = 4
	PastDays = 28
)

// LikeDay returns the day of the same type that lies n weeks before.
func (d Day) LikeDay(n int) Day { return d - Day(7*n) }

// Advance is what the register of a channel counted while intervals passed, in the unit of the channel's readings.
type Advance struct {
	First, Last int // the intervals
	Quantity    float64
}

// Read is a reading of a register, at Unix microseconds.
type Read struct {
	At    int64
	Value float64
}

// RegisterOf returns the index of the register behind a load profile: the channel of the same meter without intervals
// that counts the same quantity; −1 if it has none.
func RegisterOf(channels []meter.Channel, profile int) int {
	want := quantity(&channels[profile])
	for i := range channels {
		if channels[i].Interval == 0 && channels[i].ReadingType[meter.Accumulation] == meter.AccumulationBulk && quantity(&channels[i]) == want {
			return i
		}
	}
	return -1
}

// quantity is a reading type without what tells a profile from its register.
func quantity(c *meter.Channel) meter.ReadingType {
	t := c.ReadingType
	t[meter.MacroPeriod], t[meter.MeasuringPeriod], t[meter.Accumulation], t[meter.PowerOfTen] = 0, 0, 0, 0
	return t
}

// RegisterAdvances appends to dst what a register counted between those of its reads that lie at the start of the day or at the end of
// one of the channel's intervals. Reads are sorted by time; of several at a moment the last one counts. Two reads between which the
// register ran backward, or began again, give nothing.
func (c *ChannelDay) RegisterAdvances(dst []Advance, register *meter.Channel, reads []Read, start int64) []Advance {
	factor := register.Multiplier / c.Channel.Multiplier * math.Pow10(int(register.ReadingType[meter.PowerOfTen]-c.Channel.ReadingType[meter.PowerOfTen]))
	last, value := -2, 0.0 // index of the end of the read before; −1 is the begin of the day
	for i, r := range reads {
		if i+1 < len(reads) && reads[i+1].At == r.At {
			continue
		}
		at, ok := -1, r.At == start
		if !ok {
			at, ok = slices.BinarySearch(c.Ends, r.At)
		}
		if !ok {
			continue
		}
		if last >= -1 {
			d, how := register.Register.Difference(value, r.Value, 0)
			if how == meter.Forward || how == meter.RollOver {
				dst = append(dst, Advance{First: last + 1, Last: at, Quantity: d * factor})
			}
		}
		last, value = at, r.Value
	}
	return dst
}

// Summary returns what the intervals of a day add up to, as far as they count, and the highest one that nothing was found
// about; NaN for what is not known. Sums are rounded to a millionth, so that they take less room.
func (c *ChannelDay) Summary() (total, highest float64) {
	highest = math.NaN()
	for i, v := range c.Values {
		counts := v
		if !math.IsNaN(c.Estimates[i]) {
			counts = c.Estimates[i]
		}
		total += counts
		if c.Status[i] == 0 && !(v <= highest) && !math.IsNaN(v) {
			highest = v
		}
	}
	if rounded := math.Round(total*1e6) / 1e6; !math.IsNaN(total) && !math.IsInf(rounded, 0) {
		total = rounded
	}
	return total, highest
}

// Doubted is the stage and status of a version that says nothing of what was measured.
func Doubted(stage meter.Stage, status uint32) bool {
	return stage == meter.Estimated || (stage == meter.Raw && status != 0)
}
