package app_test

import (
	"testing"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

func TestClaimedSizesDecideOverNoMemory(t *testing.T) {
	for name, wire := range map[string]string{
		"values":      "C0 81 00 00 1E 01 02 00 00 00 00 FF FF FF FF 01",
		"packed bits": "C0 81 00 00 01 01 02 00 00 00 00 FF FF FF FF 01",
		"indexes":     "C0 01 1E 01 39 FF FF FF FF",
		"strings":     "C0 81 00 00 6E FF 02 00 00 00 00 FF FF FF FF",
		"attributes":  "C0 81 00 00 00 FC 09 FF FF FF FF 01 01 41",
		"a file":      "C0 19 46 08 6B 01 FF FF FF FF 41",
	} {
		t.Run(name, func(t *testing.T) {
			octets := octets(t, wire)
			allocations := testing.AllocsPerRun(10, func() {
				fragment, err := app.Parse(octets)
				if err == nil && fragment.Check() == nil {
					t.Fatal("the message was accepted")
				}
			})
			// The error itself is the only thing made.
			if allocations > 1 {
				t.Errorf("%g allocations", allocations)
			}
		})
	}
}

func TestARequestMayNameMorePointsThanItHasOctets(t *testing.T) {
	all := headers(t, "C0 01 1E 01 02 00 00 00 00 FF FF FF FF")
	if all[0].Count != 1<<32 || len(all[0].Data()) != 0 {
		t.Errorf("count %d, %d octets", all[0].Count, len(all[0].Data()))
	}
	for o := range all[0].Objects() {
		t.Fatalf("a range without values yields %+v", o)
	}
}

func TestWalkingCanStopAnywhere(t *testing.T) {
	fragment, err := app.Parse(octets(t, "C0 81 00 00 01 01 00 00 07 FF 1E 04 00 00 02 01 00 02 00 03 00 6E 01 00 00 01 61 62"))
	noError(t, err)
	n := 0
	for h, err := range fragment.Headers() {
		noError(t, err)
		for range h.Points() {
			n++
			break
		}
		for range h.Objects() {
			n++
			break
		}
		if h.Variation == object.Of(110, 1) {
			break
		}
	}
	if n != 4 {
		t.Errorf("%d points and objects seen, want 4", n)
	}
}
