package query

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var (
	errTime     = errors.New("is not a time; write 2026-01-31T12:00:00Z, 2026-01-31, milliseconds since 1970, now, now-1h or -1h")
	errTimeSpan = errors.New("lies outside of the years 1900 to 2200")
	errDuration = errors.New("is not a duration; write a number with a unit, such as 500ms, 10s, 15m, 1h, 7d or 2w")
)

// ParseTime parses a time: RFC 3339, a date for its midnight UTC, milliseconds since 1970 UTC, "now", or a
// duration before or after now, such as "now-1h", "-1h", "now+10m".
func ParseTime(s string, now time.Time) (time.Time, error) {
	t, err := parseAnyTime(s, now)
	if err != nil {
		return time.Time{}, err
	}
	if t.Year() < 1900 || t.Year() > 2200 {
		return time.Time{}, errTimeSpan
	}
	return t.UTC().Truncate(time.Microsecond), nil
}

func parseAnyTime(s string, now time.Time) (time.Time, error) {
	rest, relative := strings.CutPrefix(s, "now")
	if relative && rest == "" {
		return now, nil
	}
	if relative || strings.HasPrefix(s, "-") {
		return shift(strings.TrimSpace(rest), now)
	}
	if ms, err := strconv.ParseFloat(s, 64); err == nil {
		if math.IsNaN(ms) || math.Abs(ms) > 1e14 {
			return time.Time{}, errTimeSpan
		}
		return time.UnixMicro(int64(math.Round(ms * 1000))), nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		// An unescaped "+" arrives as a space.
		t, err = time.Parse(time.RFC3339Nano, strings.Replace(s, " ", "+", 1))
	}
	if err != nil {
		return time.Time{}, errTime
	}
	return t, nil
}

// shift returns now and a signed duration. An unescaped "+" has been lost.
func shift(s string, now time.Time) (time.Time, error) {
	sign := time.Duration(1)
	if after, found := strings.CutPrefix(s, "-"); found {
		s, sign = after, -1
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	d, err := ParseDuration(s)
	if err != nil {
		return time.Time{}, errTime
	}
	return now.Add(sign * d), nil
}

// ParseDuration parses a positive duration like package time, and also days and weeks of 24 and 168 hours.
func ParseDuration(s string) (time.Duration, error) {
	unit := time.Duration(0)
	switch {
	case strings.HasSuffix(s, "d"):
		unit = 24 * time.Hour
	case strings.HasSuffix(s, "w"):
		unit = 7 * 24 * time.Hour
	}
	if unit == 0 {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || strings.ContainsAny(s[:1], "+-") {
			return 0, errDuration
		}
		return d, nil
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 32)
	if err != nil || n > uint64(math.MaxInt64/unit) {
		return 0, fmt.Errorf("%w", errDuration)
	}
	return time.Duration(n) * unit, nil
}
