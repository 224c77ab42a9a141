package ingest

import (
	"errors"
	"time"
)

var errPrecision = errors.New("is not a precision; write ns, us, ms, s, m or h")

// ParsePrecision parses the name of a time unit of line protocol: n or ns, u, us or µs, ms, s, m, h. "" gives
// 0.
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
