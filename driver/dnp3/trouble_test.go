package dnp3

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// few are the points of a plant.
const few = `
- {name: voltage, group: 30, variation: 6, index: 2}
- {name: power, type: analog_input, index: 0}
- {name: relay, type: binary_output, index: 1, writable: true}
- {name: text, type: octet_string, index: 5}
`

// heard listens for a time, and reports whether a sample that fits came.
func heard(t *testing.T, s *session, d time.Duration, fits func(point.Sample) bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	found := false
	for ctx.Err() == nil { // a device in trouble is reported in between
		err := listen(ctx, s, []string{"voltage", "power", "relay", "text"}, func(p point.Sample) { found = found || fits(p) })
		if errors.Is(err, driver.ErrNotConnected) {
			t.Fatalf("the line ended: %v", err)
		}
	}
	return found
}

func TestEventsBeyondMaxEventsPushOutTheOldestAndTellSo(t *testing.T) {
	const kept, sent = 100, 1000
	for name, names := range map[string][]string{
		"of the point that changed":           {"voltage"},
		"behind those that nobody listens to": {"voltage", "power"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var operated int
				o := plant(t, &operated)
				s, _ := join(t, config(t, "relay", few, func(c *Config) { c.MaxEvents = kept }), serve(t, o))
				if !heard(t, s, time.Minute, named("voltage", point.Good)) {
					t.Fatal("the first value never came")
				}
				for i := range sent {
					index := uint32(2)
					if len(names) > 1 && i < sent-kept/2 { // the first kept one is of the point without a listener
						index = 0
					}
					o.Update(func(tx *outstation.Tx) {
						tx.Set(object.KindAnalogInput, object.Point{
							Index: index, Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(time.Now()),
						}, outstation.Force)
					})
					synctest.Wait() // the device has reported it
				}
				var got []point.Sample
				if err := s.Subscribe(t.Context(), []string{"voltage"}, func() {}); err != nil {
					t.Fatal(err)
				}
				if err := s.Take(t.Context(), func(p point.Sample) { got = append(got, p) }); err != nil {
					t.Fatal(err)
				}
				if len(got) == 0 || len(got) > kept {
					t.Fatalf("%d events were kept, want at most %d", len(got), kept)
				}
				if got[len(got)-1].Value != point.FloatOf(sent-1) {
					t.Errorf("the last event is %v, want the newest", got[len(got)-1].Value)
				}
				for i, p := range got {
					if want := map[bool]point.Quality{true: point.Uncertain, false: point.Good}[i == 0]; p.Quality != want {
						t.Fatalf("event %d of %d is %v, want %v", i, len(got), p.Quality, want)
					}
				}
				if n := s.Lost(); len(names) == 1 && int(n)+len(got) != sent || n == 0 {
					t.Errorf("%d events are counted as lost and %d came, of %d", n, len(got), sent)
				}
				if n := s.Lost(); n != 0 {
					t.Errorf("%d losses are told again", n)
				}
				if _, err := s.Read(t.Context(), []string{"voltage"}); err != nil {
					t.Errorf("after the overflow, a read gives %v", err)
				}
			})
		})
	}
}

func TestADeviceWhoseOwnBufferOverflowsIsCountedAndItsNextSampleIsUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		o := plant(t, &operated, func(c *outstation.Config) { c.EventLimits = map[object.Kind]int{object.KindAnalogInput: 5} })
		s, _ := join(t, config(t, "relay", few), serve(t, o))
		if !heard(t, s, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		if n := s.Lost(); n != 0 {
			t.Errorf("%d reports are lost before any was made", n)
		}
		for overflow := range uint64(2) {
			o.Update(func(tx *outstation.Tx) {
				for i := range 10 {
					tx.Set(object.KindAnalogInput, object.Point{
						Index: 2, Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(time.Now()),
					}, outstation.Force)
				}
			})
			if !heard(t, s, time.Minute, named("voltage", point.Uncertain)) {
				t.Errorf("overflow %d: no sample is uncertain", overflow)
			}
			if n := s.Lost(); n != 1 {
				t.Errorf("overflow %d is counted %d times", overflow, n)
			}
			if heard(t, s, time.Minute, named("voltage", point.Uncertain)) {
				t.Errorf("overflow %d: samples stay uncertain", overflow)
			}
		}
	})
}

func TestALineThatFellSilentIsFoundOutAndCanBeOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		o := plant(t, &operated)
		c := config(t, "relay", few, func(c *Config) { c.Timeout = NewConfig().Timeout })
		s, line := join(t, c, serve(t, o))
		if !heard(t, s, 10*time.Minute, named("voltage", point.Good)) { // longer than keep-alive: the device answers it
			t.Fatal("the first value never came")
		}
		line.fall()
		fell := time.Now()
		err := listen(t.Context(), s, []string{"voltage"}, func(point.Sample) {})
		if !errors.Is(err, driver.ErrNotConnected) || !errors.Is(err, errDead) {
			t.Fatalf("got %v, want that the line is dead", err)
		}
		if took := time.Since(fell); took > 15*time.Second {
			t.Errorf("it took %v to find out", took)
		}
		if _, err := s.Write(t.Context(), "relay", point.BoolOf(true)); !errors.Is(err, driver.ErrNotConnected) || operated != 0 {
			t.Errorf("a write on the dead line gives %v, and %d operations", err, operated)
		}
		if _, err := s.line.Open(t.Context(), c); !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("the dead line opens with %v", err)
		}
		if err := s.line.Close(); err != nil {
			t.Error(err)
		}
		again, _ := join(t, c, serve(t, o))
		if !heard(t, again, time.Minute, named("voltage", point.Good)) {
			t.Error("no value came over the new line")
		}
	})
}

func TestWithoutKeepAliveASilentLineIsTakenForAQuietOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		c := config(t, "relay", few, func(c *Config) { c.KeepAlive = 0 })
		s, line := join(t, c, serve(t, plant(t, &operated)))
		if !heard(t, s, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		line.fall()
		if heard(t, s, time.Hour, func(point.Sample) bool { return true }) {
			t.Error("something was heard over a line that loses everything")
		}
	})
}

func TestAnEmptyTextIsAValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		s, _ := join(t, config(t, "relay", few), serve(t, plant(t, &operated)))
		samples, err := s.Read(t.Context(), []string{"text", "voltage"})
		if err != nil {
			t.Fatal(err)
		}
		if samples[0].Value != point.TextOf("") || samples[0].Quality != point.Good || samples[1].Quality != point.Good {
			t.Errorf("got %+v", samples)
		}
	})
}

func TestADeviceThatIsLostBetweenSelectAndOperateOperatesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		upset func(p *peculiar, fresh station.Machine, line cable, out *station.Output) bool
		kind  fault.Kind
		says  string
		lost  bool // the line
	}{
		"it restarted, and has forgotten the select": {
			func(p *peculiar, fresh station.Machine, _ cable, out *station.Output) bool {
				p.become(fresh, out)
				return false
			}, fault.Rejected, "misses the select", false,
		},
		"it is restarting, and says nothing": {
			func(*peculiar, station.Machine, cable, *station.Output) bool { return true }, fault.Timeout, "no answer", false,
		},
		"its connection broke": {
			func(_ *peculiar, _ station.Machine, line cable, _ *station.Output) bool {
				_ = line.Close()
				return true
			}, fault.Timeout, "closed by the other side", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var operated, operates int
				var line cable
				p, fresh := &peculiar{Machine: serve(t, plant(t, &operated))}, serve(t, plant(t, &operated))
				p.answer = func(f app.Fragment, out *station.Output) bool {
					if f.Function != app.FuncOperate {
						return false
					}
					operates++
					return c.upset(p, fresh, line, out)
				}
				s, near := join(t, config(t, "relay", few), p)
				line = near
				if !heard(t, s, time.Minute, named("voltage", point.Good)) {
					t.Fatal("the first value never came")
				}
				_, err := s.Write(t.Context(), "relay", point.BoolOf(true))
				if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrNotConnected) != c.lost {
					t.Errorf("the write ends with %v (%v)", err, fault.KindOf(err))
				}
				<-time.After(time.Minute) // virtual: nothing is tried again behind the caller's back
				synctest.Wait()
				if operated != 0 || operates != 1 {
					t.Errorf("%d operations of %d operates", operated, operates)
				}
			})
		})
	}
}
