package replica_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"voltbus/uplink/replica"
)

func TestTheNewestOutagesOfANodeAreKnownToAllAboveItAsItsParentCountedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region := plant("region", nil)
		campus := plant("campus", region)
		house := plant("house", campus)
		room := plant("room", house)
		most := replica.Outage{
			From: math.MaxInt64 >> 22, To: math.MaxInt64 >> 22, Done: math.MaxInt64 >> 22, // 2 ^ 41 ms: the year 2039
			Waited: math.MaxUint64, Coming: math.MaxUint64, Missing: math.MaxUint64, Left: math.MaxUint64,
		}
		kept := []replica.Outage{most, most, most}
		set := func(list ...replica.Outage) {
			house.mu.Lock()
			defer house.mu.Unlock()
			house.outages = map[string][]replica.Outage{"room": list}
		}
		check := func(when string, want []replica.Outage) {
			t.Helper()
			for _, at := range []*site{campus, region} {
				by := "house"
				if at == region {
					by = "campus"
				}
				if far, _ := at.table.Look(by, "room"); !slices.Equal(far.Outages, want) || far.Devices != 10_000 {
					t.Errorf("%s, %s knows %+v", when, at.name, far)
				}
			}
		}
		room.set(func(s *replica.Status) { s.Outages = []replica.Outage{{From: 1}} }) // what it says of itself does not count
		live(t, []*site{region, campus, house, room}, func() {
			check("before", nil)
			set(append(kept, replica.Outage{From: 7})...)
		}, func() {
			check("then", kept)
			room.link(true) // it tells everything anew
		}, func() {
			check("when it came back", kept)
			set(replica.Outage{From: 5})
			room.link(false)
		}, func() {
			check("while it is away", []replica.Outage{{From: 5}})
			set()
		}, func() { check("when they are forgotten", nil) })
	})
}
