package trend

import (
	"testing"
	"time"
)

func TestTheDifferenceOfClocksIsAZoneAndAnError(t *testing.T) {
	for _, tt := range []struct {
		ahead, zone, wrong time.Duration
	}{
		{0, 0, 0},
		{2*time.Hour + 3*time.Second, 2 * time.Hour, 3 * time.Second},
		{-5*time.Hour - 90*time.Second, -5 * time.Hour, -90 * time.Second},
		{5*time.Hour + 45*time.Minute - time.Second, 5*time.Hour + 45*time.Minute, -time.Second},
		{-40 * 24 * time.Hour, 0, -40 * 24 * time.Hour},
	} {
		c := clockOf(tt.ahead)
		_, zone := time.Now().In(c.Zone).Zone()
		if time.Duration(zone)*time.Second != tt.zone || c.Error != tt.wrong {
			t.Errorf("%v ahead is the zone %d s with an error of %v", tt.ahead, zone, c.Error)
		}
	}
}
