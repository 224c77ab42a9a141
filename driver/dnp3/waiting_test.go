package dnp3

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// The device hands its events over within a millisecond of the opening, and forgets them.
func TestEventsThatWaitWhenALineOpensAreNotMissed(t *testing.T) {
	d := newDevice(t)
	c := config(t, d.listen(t, nil, 10), values)
	for i := range 200 {
		at := time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second).Add(time.Duration(i) * time.Second)
		d.event(2, object.Float(float64(i)), object.TimestampOf(at))
		l, err := Kind().Dial(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		await(t, openOn(t, l, c), "the event that waited", func(s point.Sample) bool { return s.Value == point.FloatOf(float64(i)) && s.Time.Equal(at) })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADeviceThatJoinsWhileTheLineIsPausedHearsAllThatWasSaidMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		o := plant(t, &operated)
		first, _ := join(t, config(t, "relay", few), serve(t, o))
		if !heard(t, first, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		at := time.Now().Add(-time.Hour).Truncate(time.Second)
		first.line.Pause()
		o.Update(func(tx *outstation.Tx) {
			tx.Set(object.KindAnalogInput, object.Point{
				Index: 2, Value: object.Float(42), Flags: object.FlagOnline, Time: object.TimestampOf(at),
			}, outstation.Force)
		})
		synctest.Wait() // it is said
		second := openOn(t, first.line, config(t, "relay", few))
		first.line.Resume()
		for name, s := range map[string]*session{"first": first, "second": second} {
			events := 0
			heard(t, s, time.Minute, func(p point.Sample) bool {
				if p.Value == point.FloatOf(42) && p.Time.Equal(at) {
					events++
				}
				return false
			})
			if events != 1 {
				t.Errorf("the %s heard the event %d times", name, events)
			}
		}
	})
}

// Who comes later is owed the present values, however long it takes.
func TestADeviceThatJoinsLateHasThePresentValuesAlsoIfTheOutstationIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		deaf  app.Function // what the outstation does not answer for a while
		first bool         // from the start on
	}{
		"it does not answer the read":               {app.FuncRead, false},
		"it has answered half of the start-up":      {app.FuncEnableUnsolicited, true},
		"it answers the read, but not what follows": {app.FuncEnableUnsolicited, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var operated int
				var deaf atomic.Bool
				deaf.Store(c.first)
				p := &peculiar{Machine: serve(t, plant(t, &operated))}
				p.answer = func(f app.Fragment, _ *station.Output) bool { return deaf.Load() && f.Function == c.deaf }
				first, _ := join(t, config(t, "relay", few), p)
				if !heard(t, first, time.Second, named("voltage", point.Good)) {
					t.Fatal("the first value never came")
				}
				deaf.Store(true)
				second := openOn(t, first.line, config(t, "relay", few))
				<-time.After(time.Minute) // virtual: every repetition of a request is over
				deaf.Store(false)
				if !heard(t, second, 2*time.Minute, named("voltage", point.Good)) {
					t.Error("the present value never came")
				}
			})
		})
	}
}
