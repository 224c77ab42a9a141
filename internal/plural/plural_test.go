package plural_test

import (
	"math"
	"testing"

	"voltbus/internal/plural"
)

func TestOneThingIsNotMany(t *testing.T) {
	for want, got := range map[string]string{
		"0 samples":                  plural.Of(0, "sample"),
		"1 sample":                   plural.Of(uint64(1), "sample"),
		"2 samples":                  plural.Of(int64(2), "sample"),
		"-1 samples":                 plural.Of(-1, "sample"),
		"18446744073709551615 bytes": plural.Of(uint64(math.MaxUint64), "byte"),
		"1 line was":                 plural.Were(1, "line"), "2 lines were": plural.Were(2, "line"),
		"is":  plural.Word(1, "is", "are"),
		"are": plural.Word(0, "is", "are"),
	} {
		if got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
