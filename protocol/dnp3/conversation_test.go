package dnp3_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// plant is a database with some points of every kind.
func plant(n uint32) outstation.Config {
	var c outstation.Config
	for i := range n {
		for kind, class := range map[object.Kind]app.Classes{
			object.KindBinaryInput: app.Class1, object.KindDoubleBitInput: app.Class1,
			object.KindBinaryOutput: app.Class2, object.KindCounter: app.Class3,
			object.KindFrozenCounter: app.Class3, object.KindAnalogInput: app.Class2,
			object.KindAnalogOutput: app.Class2, object.KindOctetString: app.Class3,
		} {
			c.Points = append(c.Points, outstation.PointConfig{Kind: kind, Index: i, Class: class})
		}
	}
	return c
}

func usual() master.Config {
	return master.Config{DisableFirst: app.EventClasses, Startup: app.Integrity, Enable: app.EventClasses, TimeSync: master.LAN}
}

func TestStartupReadsEverythingAndThenEventsArriveUnasked(t *testing.T) {
	p := newPair(t, usual(), plant(200), outstation.SessionConfig{Unsolicited: true})
	p.open()
	p.run(10 * time.Second)
	if n := len(p.seen.points); n != 7*200 {
		t.Fatalf("%d points after the start-up, want %d", n, 7*200)
	}
	p.seen.points, p.seen.infos = nil, nil
	want := online(object.Signed(-5), 3)
	p.outstation.Update(func(tx *outstation.Tx) { tx.Set(object.KindAnalogInput, want, outstation.Detect) })
	p.run(time.Second)
	if diff := cmp.Diff([]seenPoint{{object.G32V3, want}}, p.seen.points, cmp.AllowUnexported(seenPoint{}, object.Value{})); diff != "" {
		t.Error(diff)
	}
	if info := p.seen.infos[0]; !info.Unsolicited || info.IIN != 0 {
		t.Errorf("%+v", info)
	}
	p.run(time.Minute)
	if n := len(p.seen.points); n != 1 {
		t.Errorf("the event arrived %d times", n)
	}
}

func TestCommandsAreSelectedThenOperated(t *testing.T) {
	var phases []outstation.Phase
	c := plant(3)
	c.Callbacks.Operate = func(tx *outstation.Tx, c outstation.Command) object.Status {
		phases = append(phases, c.Phase)
		if c.Index == 2 {
			return object.StatusBlocked
		}
		if c.Kind == object.KindBinaryCommand {
			tx.Set(object.KindBinaryOutput, online(object.Bool(c.CROB.Code == object.OpLatchOn), c.Index), outstation.Detect)
		} else {
			tx.Set(object.KindAnalogOutput, online(c.Value, c.Index), outstation.Detect)
		}
		return object.StatusSuccess
	}
	p := newPair(t, master.Config{}, c, outstation.SessionConfig{})
	p.open()
	result, err := p.ask(master.SelectOperate(master.Latch(0, true), master.Setpoint(1, 2.5)))
	if err != nil || len(result.Statuses) != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	if diff := cmp.Diff([]outstation.Phase{outstation.Operating, outstation.Operating}, phases); diff != "" {
		t.Error(diff)
	}
	_, err = p.ask(master.Operate(master.Latch(2, true)))
	if !errors.Is(err, master.ErrStatus) {
		t.Errorf("the error of a blocked command is %v", err)
	}
	if _, err = p.ask(master.OperateUnanswered(master.Latch(1, true))); err != nil {
		t.Error(err)
	}
	if _, err = p.ask(master.ReadAll(object.G10V0)); err != nil {
		t.Error(err)
	}
	if n := len(p.seen.points); n != 3 || !p.seen.points[0].point.Value.Bool() || !p.seen.points[1].point.Value.Bool() {
		t.Errorf("outputs %+v", p.seen.points)
	}
}

func TestEveryRequestIsAnswered(t *testing.T) {
	c := plant(3)
	set := time.Time{}
	c.TimeSync = time.Hour
	c.Attributes = map[uint8]object.Attribute{252: {Type: object.AttributeText, Data: []byte("maker")}}
	c.Callbacks.SetTime = func(at time.Time) bool { set = at; return true }
	c.Callbacks.Restart = func(bool) (time.Duration, bool) { return 3 * time.Second, true }
	all := func(v object.Variation) func(w *app.Writer) error {
		return func(w *app.Writer) error { return w.All(v) }
	}
	cases := map[string]*master.Request{
		"time over a LAN":       master.SyncTime(master.LAN),
		"time over a slow line": master.SyncTime(master.NonLAN),
		"time written directly": master.SyncTime(master.DirectWrite),
		"freeze":                master.Freeze(all(object.G20V0)),
		"freeze and clear":      master.FreezeClear(all(object.G20V0)),
		"freeze at a time":      master.FreezeAt(epoch.Add(time.Minute), 0, all(object.G20V0)),
		"dead-bands":            master.WriteDeadbands(object.G34V3, []object.Point{{Index: 1, Value: object.Float(2)}}),
		"assign class":          master.AssignClass(app.Class2, all(object.G1V0)),
		"restart":               master.Restart(false),
		"warm restart":          master.Restart(true),
		"clear restart":         master.ClearRestart(),
		"enable":                master.EnableUnsolicited(app.Class1),
		"disable":               master.DisableUnsolicited(app.Class1),
		"range of counters":     master.ReadRange(object.G20V5, 0, 2),
		"all dead-bands":        master.ReadAll(object.G34V0),
		"attributes":            master.ReadAll(object.G0V254),
		"list of attributes":    master.ReadAll(object.G0V255),
		"class 1":               master.ReadClasses(app.Class1),
		"strings":               master.ReadAll(object.G110V0),
		"several headers in a read": master.Read(func(w *app.Writer) error {
			if err := w.Index(object.G1V2, 2); err != nil {
				return err
			}
			return w.Limit(object.G32V0, 3)
		}),
	}
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, master.Config{}, c, outstation.SessionConfig{Unsolicited: true})
			p.open()
			p.run(time.Second)
			set = time.Time{}
			result, err := p.ask(r)
			if err != nil {
				t.Fatal(err)
			}
			if r.String() == "cold restart" && result.Delay != 3*time.Second {
				t.Errorf("the restart takes %v", result.Delay)
			}
			if off := set.Sub(epoch.Add(time.Second)); r.String() == "time synchronization" && (off < 0 || off > 3*latency+time.Millisecond) {
				t.Errorf("the clock was set to %v, %v off", set, off)
			}
		})
	}
}
