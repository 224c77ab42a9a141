package dnp3

import (
	"testing"

	"voltbus/fault"
	"voltbus/point"
)

// Both outstations, one of them made of opendnp3, copy their counters when the driver asks them to.
func TestCountersAreFrozen(t *testing.T) {
	peer, address := foreign(t)
	peer.Do(t, "set counter 1 4000000000 1")
	peer.Do(t, "sync")
	peer.Await(t, "synced")
	registry := "[{name: energy, type: counter, index: 1}, {name: frozen, type: frozen_counter, index: 1}]"
	s := connect(t, config(t, address, registry, func(c *Config) { c.Unsolicited = nil }))
	frozen := func(clears bool, want map[string]int64) {
		t.Helper()
		samples, err := s.Freeze(t.Context(), clears)
		for fault.Is(err, fault.Timeout) && !clears { // the peer misses a request that comes while it is busy
			samples, err = s.Freeze(t.Context(), clears)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) != len(want) {
			t.Errorf("got %v, want %v", samples, want)
		}
		for _, got := range samples {
			if got.Value != point.IntOf(want[string(got.Point)]) {
				t.Errorf("%s is %v, want %d", got.Point, got.Value, want[string(got.Point)])
			}
		}
	}
	frozen(false, map[string]int64{"frozen": 4_000_000_000})
	frozen(true, map[string]int64{"frozen": 4_000_000_000, "energy": 0})
	frozen(false, map[string]int64{"frozen": 0})
}

func TestADeviceWithoutCountersFreezesNothing(t *testing.T) {
	_, address := foreign(t)
	s := connect(t, config(t, address, "[{name: breaker, type: binary_input, index: 0}]"))
	if _, err := s.Freeze(t.Context(), false); !fault.Is(err, fault.Refused) {
		t.Errorf("got %v", err)
	}
}
