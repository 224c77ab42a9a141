package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written with a unit: "1GiB", "500MB". It is never negative.
type Size int64

// Units of sizes.
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
)

// sizeUnits lists the units, those that String prefers first.
var sizeUnits = []struct {
	name  string
	bytes Size
}{
	{"TiB", TiB},
	{"GiB", GiB},
	{"MiB", MiB},
	{"KiB", KiB},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// UnmarshalText parses a size with its unit. A bare 0 needs none.
func (s *Size) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*s = 0
		return nil
	}
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(string(text), u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x >= 0) || x*float64(u.bytes) >= math.MaxInt64 {
			break
		}
		*s = Size(x * float64(u.bytes))
		return nil
	}
	if n, err := strconv.ParseUint(string(text), 10, 63); err == nil {
		return fmt.Errorf("%d has no unit; write %v, or one such as 1GiB", n, Size(n))
	}
	return fmt.Errorf("%q is not a size; write one such as 1GiB", text)
}

// MarshalText is the inverse of UnmarshalText.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns the size with the largest unit that needs no fraction.
func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for _, u := range sizeUnits {
		if s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}
