package sender

import (
	"slices"
	"testing"

	"voltbus/point"
	"voltbus/uplink"
)

func TestAPathAtTheParentIsFoundHereThroughPrefixesAndRenames(t *testing.T) {
	for _, c := range []struct {
		prefix  point.Path
		renames []uplink.Rename
		at      point.Path
		want    []point.Path
	}{
		{"", nil, "ahu/temp", []point.Path{"ahu/temp"}},
		{"plant", nil, "plant/ahu/temp", []point.Path{"ahu/temp", "plant/ahu/temp"}},
		{"plant", nil, "plants/ahu", nil},
		{"plant", nil, "plant", []point.Path{"plant"}},
		{"p", []uplink.Rename{{From: "hall", To: "p/h"}}, "p/h/temp", []point.Path{"hall/temp", "p/h/temp"}},
		{"p", []uplink.Rename{{From: "", To: "p"}, {From: "hall", To: "p/h"}}, "p/hall/temp", nil},
		{"p", []uplink.Rename{{From: "", To: "p"}, {From: "hall", To: "p/h"}}, "p/x", []point.Path{"x"}},
		{"", []uplink.Rename{{From: "hall", To: ""}}, "temp", []point.Path{"hall/temp", "temp"}},
	} {
		s := &Sender{cfg: Config{Rename: c.renames}, monitor: &monitor{status: Status{Prefix: c.prefix}}}
		got := s.Below(c.at)
		if !slices.Equal(got, c.want) {
			t.Errorf("prefix %q, renames %v: %q is %q here, want %q", c.prefix, c.renames, c.at, got, c.want)
		}
		for _, p := range got {
			if s.Above(p) != c.at {
				t.Errorf("%q lies at %q, not %q", p, s.Above(p), c.at)
			}
		}
	}
}
