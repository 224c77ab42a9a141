package descriptor

import (
	"strings"
	"testing"
)

func TestSharesLeaveTheReserve(t *testing.T) {
	for _, limit := range []int{150, 256, 1024, 4096, 20_000, 65_536, 1 << 20} {
		s := Share(limit)
		if sum := s.HTTP + s.Bus + s.Lines; sum > limit-Reserve {
			t.Errorf("of %d files %+v takes %d, and %d must stay", limit, s, sum, Reserve)
		}
		if s.HTTP < least || s.Bus < least || s.Lines < least {
			t.Errorf("of %d files: %+v", limit, s)
		}
	}
}

func TestALowLimitIsToldWithWhatItCarries(t *testing.T) {
	got := Share(256).Warning(3)
	for _, want := range []string{"256 files", "57 connections to page", "59 to the bus", "28 devices and agents", "(3 are configured)", "LimitNOFILE"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if got := Share(65_536).Warning(100); got != "" {
		t.Errorf("a high one is told: %s", got)
	}
	if Share(65_536).Warning(60_000) == "" {
		t.Error("more devices than files are not told")
	}
}

func TestALimitIsKnownAndNotReached(t *testing.T) {
	if n, err := Limit(); err != nil || n < 16 || Exhausted() {
		t.Errorf("limit %d, %v", n, err)
	}
}
