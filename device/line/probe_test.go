package line

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
)

func TestTheDistanceBetweenProbesDoublesToItsBound(t *testing.T) {
	s := silence{}
	var skips []int
	for range 8 {
		s.deepen(point.BadTimeout, time.Second, 20*time.Second)
		skips = append(skips, s.skip)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 7, 15, 19, 19, 19}, skips); diff != "" {
		t.Error(diff)
	}
	for range 100 {
		s.deepen(point.BadTimeout, time.Hour, time.Minute)
	}
	if s.skip != 0 {
		t.Errorf("a device that is read hourly skips %d slots", s.skip)
	}
}
