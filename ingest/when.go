package ingest

import (
	"errors"
	"math"
	"time"
)

var (
	errTime      = errors.New("is not a time; write 2026-01-31T12:00:00Z or a whole number in the unit that precision names")
	errTimeRange = errors.New("the time must lie in the years 1980 to 2199; does precision name its unit?")
	errPrecision = errors.New("is not a precision; write ns, us, ms, s, m or h")
)

// ParsePrecision reads the name of a unit of time as line protocol knows it: n or ns, u, us or
// µs, ms, s, m, h. "" gives 0.
func ParsePrecision(name string) (time.Duration, error) {
	switch name {
	case "":
		return 0, nil
	case "n", "ns":
		return time.Nanosecond, nil
	case "u", "us", "µ", "µs":
		return time.Microsecond, nil
	case "ms":
		return time.Millisecond, nil
	case "s":
		return time.Second, nil
	case "m":
		return time.Minute, nil
	case "h":
		return time.Hour, nil
	}
	return 0, errPrecision
}

// micros turns a whole number of units into microseconds, rounded down.
func micros(n int64, unit time.Duration) (int64, error) {
	if unit < time.Microsecond {
		q := n / 1000
		if n%1000 < 0 {
			q--
		}
		return inRange(q)
	}
	factor := int64(unit / time.Microsecond)
	if n > endTime/factor || n < -endTime/factor {
		return 0, errTimeRange
	}
	return inRange(n * factor)
}

func inRange(t int64) (int64, error) {
	if t < firstTime || t >= endTime {
		return 0, errTimeRange
	}
	return t, nil
}

// floatMicros turns a number of units into microseconds.
func floatMicros(f float64, unit time.Duration) (int64, error) {
	us := math.Round(f * (float64(unit) / 1000))
	if !(us >= float64(firstTime) && us < float64(endTime)) {
		return 0, errTimeRange
	}
	return int64(us), nil
}

// clock remembers the last time that was read: readings of one scan share theirs.
type clock struct {
	last []byte
	at   int64
}

// read reads RFC 3339, or a number of units.
func (c *clock) read(b []byte, unit time.Duration) (int64, error) {
	if len(b) > 0 && string(b) == string(c.last) {
		return c.at, nil
	}
	at, err := readTime(b, unit)
	if err == nil {
		c.last, c.at = append(c.last[:0], b...), at
	}
	return at, err
}

func readTime(b []byte, unit time.Duration) (int64, error) {
	if n, err := parseInt(b); err == nil {
		return micros(n, unit)
	}
	if f, err := parseFloat(b); err == nil {
		return floatMicros(f, unit)
	}
	var t time.Time
	if err := t.UnmarshalText(b); err != nil {
		if t, err = otherTime(string(b[:min(len(b), 64)])); err != nil {
			return 0, errTime
		}
	}
	if y := t.Year(); y < 1900 || y > 2300 { // beyond them the arithmetic overflows
		return 0, errTimeRange
	}
	return inRange(t.UnixMicro())
}

// otherTime reads what spreadsheets and databases write: a space before the time of day, or a date
// for its midnight in UTC. A time of day without its zone is not taken.
func otherTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02 15:04:05.999999999Z07:00", s)
}
