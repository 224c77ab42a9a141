// Package vee validates and estimates interval readings. Rules work on columns, and each sets bits in the status
// of the intervals that it doubts. It is pure, and fast enough for a million readings a second on one core.
//
// What the rules look for follows the published standards of utilities, above all California's "Standards for
// Validating, Editing, and Estimating Monthly and Interval Data" (Direct Access, rule 22): time check, unit check,
// spike check, sum check, high/low usage check.
package vee

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Status is what validation found about an interval, one bit a rule. The numbers may be stored: never change
// them. The zero Status is a reading that nothing was found about.
type Status uint32

// The bits of a status.
const (
	Gap             Status = 1 << iota // there is no reading
	IntervalSize                       // the length of the interval is not that of the channel
	Unit                               // the unit is not that of the channel
	Multiplier                         // the multiplier is not that of the channel
	Negative                           // below zero where energy flows one way
	Spike                              // a peak stands too high above the next ones of its day
	High                               // the sum of the block is above what the customer used before
	Low                                // the sum of the block is below it
	Stuck                              // the same value, not zero, too often in a row
	Sum                                // the intervals do not add up to the advance of the register
	DemandTolerance                    // the change from one interval to the next is too large
	HistoricalMax                      // above the highest value of the past
	RuleFailed                         // a rule could not be carried out: what it looks for is unknown
)

var statusNames = [...]string{
	"gap", "interval-size", "unit", "multiplier", "negative", "spike", "high", "low", "stuck", "sum",
	"demand-tolerance", "historical-max", "rule-failed",
}

// String returns the names of the bits, such as "gap,spike"; "good" without any.
func (s Status) String() string {
	if s == 0 {
		return "good"
	}
	var names []string
	for i, n := range statusNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}

// ParseStatus is the inverse of String; false for a name that is not known.
func ParseStatus(text string) (s Status, ok bool) {
	if text == "" || text == "good" {
		return 0, true
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(statusNames[:], name)
		if i < 0 {
			return 0, false
		}
		s |= 1 << i
	}
	return s, true
}

// Block is consecutive intervals of one channel, most often a local day, in columns. Values that are missing are
// NaN; so are infinite ones. Status has the length of Values.
type Block struct {
	Values []float64
	Status []Status

	// What came with the readings, and what the channel says it should be.
	Length, WantLength         time.Duration
	Unit, WantUnit             int16 // of the reading type
	Multiplier, WantMultiplier float64

	// What stands around the block, in the length of its intervals; NaN where a value is missing or doubted. Before ends
	// where the block begins, After begins where it ends. Both may be empty.
	Before, After []float64
	// Advances are those of the register within the block; none when it is unknown.
	Advances []Advance

	// Facts for single rules; NaN when unknown.
	UsualSum     float64 // what such blocks of the past added up to
	HighestValue float64 // the highest interval of the past
}

// Advance is what a register counted between two reads, in the unit of the block's values.
type Advance struct {
	First, Last int // the intervals between the reads
	Quantity    float64
}

// missing reports whether there is no usable value.
func missing(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// set adds a bit to all intervals that have a reading.
func (b *Block) set(bit Status) {
	for i, v := range b.Values {
		if !missing(v) {
			b.Status[i] |= bit
		}
	}
}

// total returns the sum of values, and how many are missing.
func total(values []float64) (sum float64, gaps int) {
	for _, v := range values {
		if missing(v) {
			gaps++
			continue
		}
		sum += v
	}
	return sum, gaps
}
