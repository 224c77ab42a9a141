package peers

import (
	"slices"
	"testing"
)

func TestAPortIsGivenToOneOnly(t *testing.T) {
	low, high := ephemeral()
	first, last := besides(low, high)
	if first <= high && last >= low {
		t.Errorf("%d to %d are among %d to %d, which the kernel gives", first, last, low, high)
	}
	var ports []string
	for range 300 {
		ports = append(ports, FreePort(t))
	}
	slices.Sort(ports)
	if len(slices.Compact(ports)) != 300 {
		t.Error("some were given twice")
	}
	if f, l := besides(1024, 40_000); f != 40_001 || l != 65_535 {
		t.Errorf("besides 1024 to 40000 are %d to %d", f, l)
	}
}
