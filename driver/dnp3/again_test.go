package dnp3

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// Whoever was told that a device does not answer holds its points for bad, until a value comes.
func TestADeviceThatAnswersAgainSaysAlsoWhatHasNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		var deaf atomic.Bool
		p := &peculiar{Machine: serve(t, plant(t, &operated))}
		p.answer = func(app.Fragment, *station.Output) bool { return deaf.Load() }
		s, _ := join(t, config(t, "relay", few, func(c *Config) { c.Polls = []Poll{{Classes: []int{1, 2, 3}, Interval: time.Minute}} }), p)
		if !heard(t, s, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		deaf.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := listen(ctx, s, []string{"voltage"}, func(point.Sample) {}); fault.KindOf(err) != fault.Timeout {
			t.Fatalf("the device does not answer, and Take says %v", err)
		}
		deaf.Store(false)
		if !heard(t, s, 10*time.Minute, named("voltage", point.Good)) {
			t.Error("the value, which has not changed, never came again")
		}
	})
}

// An outstation that waits in vain for its confirmation says its events again, and more often than once.
func TestEventsThatAreSaidAgainBeforeTheyAreTakenAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		o := plant(t, &operated)
		s, _ := join(t, config(t, "relay", few), serve(t, o))
		if !heard(t, s, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		s.Careful(func() {})
		voltages(o, time.Now(), 1, 2)
		<-time.After(time.Minute) // virtual: the owner is busy
		voltages(o, time.Now(), 3)
		<-time.After(10 * time.Minute)
		var got []point.Value
		take := func() func() {
			if err := s.Take(t.Context(), func(p point.Sample) {
				if p.Point == "voltage" {
					got = append(got, p.Value)
				}
			}); err != nil {
				t.Fatal(err)
			}
			return s.Keep()
		}
		kept := take()
		if want := []point.Value{point.FloatOf(1), point.FloatOf(2)}; !slices.Equal(got, want) {
			t.Errorf("%v were reported, want %v", got, want)
		}
		kept() // too late for the outstation, which says them once more
		news := make(chan struct{}, 1)
		if err := s.Subscribe(t.Context(), []string{"voltage"}, func() {
			select {
			case news <- struct{}{}:
			default:
			}
		}); err != nil {
			t.Fatal(err)
		}
		got = nil
		for end := time.After(time.Hour); ; {
			select {
			case <-news:
				if kept := take(); kept != nil {
					kept()
				}
				continue
			case <-end:
			}
			break
		}
		if n := len(got); n == 0 || n > 3 || got[n-1] != point.FloatOf(3) {
			t.Errorf("%v were reported then, want 3 behind what came again once", got)
		}
	})
}
