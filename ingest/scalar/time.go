package scalar

import (
	"errors"
	"math"
	"time"
)

// Reasons why a time is refused.
var (
	ErrTime      = errors.New("is not a time; write 2026-01-31T12:00:00Z or a whole number in the unit that precision names")
	ErrTimeRange = errors.New("the time must lie in the years 1980 to 2199; does precision name its unit?")
	ErrWhole     = errors.New("the time behind the fields must be a whole number")
)

// The accepted range of times, in microseconds: the years 1980 to 2199. Times in the wrong unit end up in
// January 1970 or far in the future.
const (
	firstTime = 315_532_800_000_000
	endTime   = 7_258_118_400_000_000
)

// Micros converts a whole number of units to microseconds, rounded down.
func Micros(n int64, unit time.Duration) (int64, error) {
	if unit < time.Microsecond {
		q := n / 1000
		if n%1000 < 0 {
			q--
		}
		return InRange(q)
	}
	factor := int64(unit / time.Microsecond)
	if n > endTime/factor || n < -endTime/factor {
		return 0, ErrTimeRange
	}
	return InRange(n * factor)
}

// InRange returns a time in microseconds if it is in the accepted range.
func InRange(t int64) (int64, error) {
	if t < firstTime || t >= endTime {
		return 0, ErrTimeRange
	}
	return t, nil
}

// FloatMicros converts a number of units to microseconds.
func FloatMicros(f float64, unit time.Duration) (int64, error) {
	us := math.Round(f * (float64(unit) / 1000))
	if !(us >= float64(firstTime) && us < float64(endTime)) {
		return 0, ErrTimeRange
	}
	return int64(us), nil
}

// Clock caches the last time parsed: readings of one scan share theirs.
type Clock struct {
	last []byte
	at   int64
}

// Read parses RFC 3339, or a number of units.
func (c *Clock) Read(b []byte, unit time.Duration) (int64, error) {
	if len(b) > 0 && string(b) == string(c.last) {
		return c.at, nil
	}
	at, err := readTime(b, unit)
	if err == nil {
		c.last, c.at = append(c.last[:0], b...), at
	}
	return at, err
}

// Whole parses a whole number of units. It returns ErrWhole for anything else.
func (c *Clock) Whole(b []byte, unit time.Duration) (int64, error) {
	if string(b) == string(c.last) {
		return c.at, nil
	}
	n, err := Int(b)
	if err != nil {
		return 0, ErrWhole
	}
	at, err := Micros(n, unit)
	if err == nil {
		c.last, c.at = append(c.last[:0], b...), at
	}
	return at, err
}

// Reset clears the cache.
func (c *Clock) Reset() { *c = Clock{last: c.last[:0]} }

func readTime(b []byte, unit time.Duration) (int64, error) {
	if n, err := Int(b); err == nil {
		return Micros(n, unit)
	}
	if f, err := Float(b); err == nil {
		return FloatMicros(f, unit)
	}
	var t time.Time
	if err := t.UnmarshalText(b); err != nil {
		if t, err = otherTime(string(b[:min(len(b), 64)])); err != nil {
			return 0, ErrTime
		}
	}
	if y := t.Year(); y < 1900 || y > 2300 { // beyond them the arithmetic overflows
		return 0, ErrTimeRange
	}
	return InRange(t.UnixMicro())
}

// otherTime parses the forms of spreadsheets and databases: a space before the time of day, or a date for its
// midnight in UTC. A time of day without a zone is not accepted.
func otherTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02 15:04:05.999999999Z07:00", s)
}
