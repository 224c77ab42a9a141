package dnp3

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// clocked is a plant whose voltage comes in the event variation of a device, with a session that has its first value.
func clocked(t *testing.T, event object.Variation, change ...func(*Config)) (*outstation.Outstation, *session) {
	t.Helper()
	var operated int
	o := plant(t, &operated, func(c *outstation.Config) { c.Points[0].Event = event })
	s, _ := join(t, config(t, "relay", few, change...), serve(t, o))
	if !heard(t, s, time.Minute, named("voltage", point.Good)) {
		t.Fatal("the first value never came")
	}
	return o, s
}

// voltages has a device say values, which lie in one fragment, all at one time of its clock.
func voltages(o *outstation.Outstation, at time.Time, values ...float64) {
	o.Update(func(tx *outstation.Tx) {
		for _, v := range values {
			tx.Set(object.KindAnalogInput, object.Point{
				Index: 2, Value: object.Float(v), Flags: object.FlagOnline, Time: object.TimestampOf(at),
			}, outstation.Force)
		}
	})
}

// newest is what a history shows as the present value: the latest by time.
func newest(t *testing.T, s *session, from point.Sample) point.Sample {
	t.Helper()
	heard(t, s, time.Minute, func(p point.Sample) bool {
		if p.Point == "voltage" && !p.Time.Before(from.Time) {
			from = p
		}
		return false
	})
	return from
}

func TestAttackEventsWithoutATimeInOneFragmentEachHaveTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, s := clocked(t, object.G32V5) // single precision with flag, no time
		values := make([]float64, 20)
		for i := range values {
			values[i] = float64(i % 2)
		}
		voltages(o, time.Now(), values...)
		var got []point.Sample
		heard(t, s, time.Minute, func(p point.Sample) bool {
			if p.Point == "voltage" {
				got = append(got, p)
			}
			return false
		})
		if len(got) != len(values) {
			t.Fatalf("%d reports came, want %d", len(got), len(values))
		}
		for i, p := range got {
			if p.Value != point.FloatOf(values[i]) || i > 0 && !p.Time.After(got[i-1].Time) {
				t.Errorf("report %d is %v at %v, behind one at %v", i, p.Value, p.Time, got[max(0, i-1)].Time)
			}
		}
	})
}

func TestAttackAClockThatIsAheadDoesNotHideWhatComesLater(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"a little": time.Second, "an hour": time.Hour, "a day": 24 * time.Hour, "a year": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, s := clocked(t, object.G32V7)
				voltages(o, time.Now().Add(ahead), 1)
				first := newest(t, s, point.Sample{})
				if first.Value != point.FloatOf(1) || (first.Quality == point.Good) != (ahead == time.Second) {
					t.Errorf("the event is %v, %v", first.Value, first.Quality)
				}
				if !first.Time.Before(time.Now().Add(ahead + time.Second)) {
					t.Errorf("the event is at %v, which lies ahead", first.Time)
				}
				o.Update(func(tx *outstation.Tx) { // no event: only a scan shows it
					tx.Set(object.KindAnalogInput, object.Point{Index: 2, Value: object.Float(2), Flags: object.FlagOnline}, outstation.Suppress)
				})
				read, err := s.Read(t.Context(), []string{"voltage"})
				if err != nil {
					t.Fatal(err)
				}
				if p := read[0]; p.Value != point.FloatOf(2) || !p.Time.After(first.Time) {
					t.Errorf("the scan says %v at %v, behind the event at %v", p.Value, p.Time, first.Time)
				}
				if got, want := s.Misdated() > 0, ahead > time.Second; got != want {
					t.Errorf("times were counted as not believed: %v, want %v", got, want)
				}
			})
		})
	}
}

// The device's clock is behind, by a time zone or because it was never set: what it said last is the newest all the same.
func TestAttackAClockThatIsBehindDoesNotHideTheNewestValue(t *testing.T) {
	for name, behind := range map[string]time.Duration{"a minute": time.Minute, "a time zone": 8 * time.Hour, "since 2009": 17 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, s := clocked(t, object.G32V7, func(c *Config) { c.Scan = scanClass0 })
				<-time.After(time.Second) // virtual
				scanned, err := s.Read(t.Context(), []string{"voltage"})
				if err != nil {
					t.Fatal(err)
				}
				voltages(o, time.Now().Add(-behind), 7, 8)
				if p := newest(t, s, scanned[0]); p.Value != point.FloatOf(8) {
					t.Errorf("the newest is %v at %v, want 8: a scan at %v hides it", p.Value, p.Time, scanned[0].Time)
				}
			})
		})
	}
}

func TestAnEventBetweenPresentValuesInOneFragmentStaysInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, s := clocked(t, object.G32V5, func(c *Config) { c.Unsolicited = []int{}; c.EventsWhenTold = false })
		o.Indicate(app.IINNeedTime, 0)
		voltages(o, time.Now(), 1, 0, 1)
		if _, err := s.Read(t.Context(), []string{"voltage"}); err != nil {
			t.Fatal(err)
		}
		times := map[time.Time]bool{}
		heard(t, s, time.Minute, func(p point.Sample) bool {
			times[p.Time] = true
			return false
		})
		if len(times) < 3 {
			t.Errorf("three events have %d times", len(times))
		}
	})
}
