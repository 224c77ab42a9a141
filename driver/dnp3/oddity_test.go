package dnp3

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// oddity is a device that departs from the standard, and the switch for it.
type oddity struct {
	device  func(t *testing.T, o *outstation.Outstation) *peculiar
	without func(*Config)
	with    func(*Config)
	works   func(t *testing.T, s *session, o *outstation.Outstation) bool
}

// standard leaves a configuration as it is.
func standard(*Config) {}

// shows reports whether the present value comes.
func shows(t *testing.T, s *session, _ *outstation.Outstation) bool {
	t.Helper()
	return heard(t, s, 10*time.Minute, named("voltage", point.Good))
}

func oddities() map[string]oddity {
	return map[string]oddity{
		"a device that never speaks again when its early report is confirmed": {
			device: early, without: standard, with: func(c *Config) { c.Tolerate.IgnoreEarly = true }, works: shows,
		},
		"a device that refuses to have its restart indication cleared": {
			device: stubborn, without: standard, with: func(c *Config) { c.Tolerate.KeepRestart = true }, works: shows,
		},
		"a device that asks for no confirmation of the parts of an answer": {
			device: loose, without: standard, with: func(c *Config) { c.Tolerate.LoosePartial = true }, works: shows,
		},
		"a device that takes commands with indexes of one byte only": {
			device: narrow, without: standard, with: func(c *Config) { c.Tolerate.NarrowIndexes = true },
			works: func(t *testing.T, s *session, _ *outstation.Outstation) bool {
				t.Helper()
				_, err := s.Write(t.Context(), "relay", point.BoolOf(true))
				return err == nil
			},
		},
		"a device that knows only the direct write of the time": {
			device: timeless, without: func(c *Config) { c.TimeSync = "lan" }, with: func(c *Config) { c.TimeSync = "write" },
			works: func(t *testing.T, s *session, o *outstation.Outstation) bool {
				t.Helper()
				o.Indicate(app.IINNeedTime, 0)
				ten := func(i int) object.Point {
					return object.Point{Index: 2, Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(time.Now())}
				}
				synced := false
				for i := range 10 { // uncertain until the clock is set
					o.Update(func(tx *outstation.Tx) { tx.Set(object.KindAnalogInput, ten(i), outstation.Force) })
					synced = heard(t, s, time.Minute, func(p point.Sample) bool { return p.Value == point.FloatOf(float64(i)) && p.Quality == point.Good })
				}
				return synced
			},
		},
	}
}

func TestEachSwitchMattersForTheDeviceThatItIsFor(t *testing.T) {
	for name, odd := range oddities() {
		for label, c := range map[string]struct {
			change func(*Config)
			works  bool
		}{
			" does not work without the switch": {odd.without, false},
			" works with the switch":            {odd.with, true},
		} {
			t.Run(name+label, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var operated int
					o := plant(t, &operated)
					s, _ := join(t, config(t, "relay", few, func(c *Config) { c.KeepAlive = 0 }, c.change), odd.device(t, o))
					if got := odd.works(t, s, o); got != c.works {
						t.Errorf("it works: %v", got)
					}
				})
			})
		}
	}
}

// early reports before it is read, and says nothing any more when that is confirmed.
func early(t *testing.T, o *outstation.Outstation) *peculiar {
	t.Helper()
	const sequence = 9
	w := app.NewResponse(make([]byte, 0, 100), app.Sequence(sequence).Single()|app.UNS|app.CON, app.FuncUnsolicitedResponse, 0)
	if err := w.Indexed(object.G32V1, object.Point{Index: 0, Value: object.Signed(1), Flags: object.FlagOnline}); err != nil {
		t.Fatal(err)
	}
	stuck := false
	return &peculiar{Machine: serve(t, o), first: w.Bytes(), answer: func(f app.Fragment, _ *station.Output) bool {
		stuck = stuck || f.Function == app.FuncConfirm && f.Control.Unsolicited() && f.Control.Sequence() == sequence
		return stuck
	}}
}

// stubborn refuses a write of its indications.
func stubborn(t *testing.T, o *outstation.Outstation) *peculiar {
	t.Helper()
	return &peculiar{Machine: serve(t, o), answer: func(f app.Fragment, out *station.Output) bool {
		return f.Function == app.FuncWrite && refuse(f, app.IINDeviceRestart|app.IINParameterError, out)
	}}
}

// loose gives all present values in two parts, of which the first asks for no confirmation.
func loose(t *testing.T, o *outstation.Outstation) *peculiar {
	t.Helper()
	part := func(c app.Control, index uint32, out *station.Output) {
		w := app.NewResponse(out.Scratch(), c, app.FuncResponse, 0)
		if err := w.Static(object.G30V5, object.Point{Index: index, Value: object.Float(7), Flags: object.FlagOnline}); err != nil {
			t.Error(err)
		}
		out.Send(w.Bytes())
	}
	return &peculiar{Machine: serve(t, o), answer: func(f app.Fragment, out *station.Output) bool {
		if f.Function != app.FuncRead {
			return false
		}
		at := f.Control.Sequence()
		part(at.Single()&^app.FIN, 0, out)
		part(at.Next().Single()&^app.FIR, 2, out)
		return true
	}}
}

// narrow knows commands by their qualifier.
func narrow(t *testing.T, o *outstation.Outstation) *peculiar {
	t.Helper()
	return &peculiar{Machine: serve(t, o), answer: func(f app.Fragment, out *station.Output) bool {
		for h, err := range f.Headers() {
			if err == nil && h.Variation == object.G12V1 && h.Qualifier != app.Index8 {
				return refuse(f, app.IINParameterError, out)
			}
		}
		return false
	}}
}

// timeless knows no function to measure or to record the time.
func timeless(t *testing.T, o *outstation.Outstation) *peculiar {
	t.Helper()
	return &peculiar{Machine: serve(t, o), answer: func(f app.Fragment, out *station.Output) bool {
		unknown := f.Function == app.FuncRecordCurrentTime || f.Function == app.FuncDelayMeasure
		return unknown && refuse(f, app.IINNoFunction|app.IINNeedTime, out)
	}}
}
