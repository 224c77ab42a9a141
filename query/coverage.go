package query

import (
	"time"

	"voltbus/catalog"
)

// Coverage tells how many of the expected samples exist.
type Coverage struct {
	Known    bool  // whether the point's interval is known, and Expected with it
	Expected int64 // samples expected from the interval, while the point existed and up to now
	Present  int64 // samples with a usable value
	Bad      int64 // samples of bad quality
	// Extra are those of Present that the interval does not expect: more than one within an interval, and
	// those from before the present interval was set.
	Extra int64
}

// Ratio returns the completeness from 0 to 1: present of expected samples. Bad samples do not count, and
// surplus samples do not compensate for missing ones elsewhere. False if it is unknown, or if nothing is
// expected, as for a new point: the screens and the heat map then show nothing either.
func (c Coverage) Ratio() (float64, bool) {
	if !c.Known || c.Expected == 0 {
		return 0, false
	}
	return float64(c.counted()) / float64(c.Expected), true
}

// counted returns how many of the expected samples exist.
func (c Coverage) counted() int64 { return counted(c.Expected, c.Present-c.Extra) }

// counted returns how many of the expected samples exist, at most all. Ranges, aggregates and heat maps all
// use it, and due.
func counted(expected, there int64) int64 { return min(expected, there) }

// due returns how many samples are expected by the entry's interval in a part of its lifetime. An incomplete interval does not count.
func due(e *catalog.Entry, begin, end time.Time) int64 {
	return max(0, int64(end.Sub(begin)/e.Interval))
}

// total adds up the series whose interval is known.
func total(list []Coverage) Coverage {
	var sum Coverage
	for _, c := range list {
		if c.Known {
			sum.Known = true
			sum.Expected += c.Expected
			sum.Present += c.counted()
			sum.Bad += c.Bad
		}
	}
	return sum
}

// expected returns how many samples the entry's interval expects between from and to, within the entry's
// lifetime. An incomplete interval does not count.
func expected(e *catalog.Entry, from, to, first, now time.Time) (n int64, known bool) {
	if e.Interval <= 0 {
		return 0, false
	}
	from, to = lifetime(e, from, to, first, now)
	return due(e, from, to), true
}

// lifetime returns the part of a range in which samples are expected. Samples of a point are expected from
// when it was first seen, or from its first sample in the range if that is earlier, until it was removed;
// none are expected in the future, or before the present interval was set.
func lifetime(e *catalog.Entry, from, to, first, now time.Time) (begin, end time.Time) {
	if e.FirstSeen.After(from) {
		seen := e.FirstSeen
		if !first.IsZero() && first.Before(seen) {
			seen = first
		}
		if seen.After(from) {
			from = seen
		}
	}
	if e.Since.After(from) {
		from = e.Since
	}
	if now.Before(to) {
		to = now
	}
	if !e.Removed.IsZero() && e.Removed.Before(to) {
		to = e.Removed
	}
	return from, to
}
