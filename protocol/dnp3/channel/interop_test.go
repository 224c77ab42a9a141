//go:build linux

package channel_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
	"voltbus/testing/peers"
)

// reading is a point with the variation it came in.
type reading struct {
	variation   object.Variation
	unsolicited bool
	point       object.Point
}

// readings is a handler that passes points on.
type readings struct {
	arrived chan reading
	info    master.Info
}

func (r *readings) Begin(i master.Info) { r.info = i }
func (r *readings) End(master.Info)     {}
func (r *readings) Header(h app.Header) {
	for p := range h.Points() {
		r.arrived <- reading{h.Variation, r.info.Unsolicited, p}
	}
}

// await drops readings until one fits.
func (r *readings) await(t *testing.T, what string, fits func(reading) bool) reading {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		select {
		case got := <-r.arrived:
			if fits(got) {
				return got
			}
		case <-ctx.Done():
			t.Fatalf("%s never came", what)
		}
	}
}

func TestOurMasterWorksWithAForeignOutstation(t *testing.T) { bothWays(t, ourMaster) }

func ourMaster(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	peer, number := peers.StartDNP3(t), peers.FreePort(t)
	peer.Do(t, "outstation %s", number)
	peer.Await(t, "serving")
	handler := &readings{arrived: make(chan reading, 1000)}
	ready := make(chan struct{}, 1)
	a, err := master.New(master.Config{
		DisableFirst: app.EventClasses, Startup: app.Integrity, Enable: app.EventClasses, TimeSync: master.LAN,
		ResponseTimeout: time.Second, Retries: 3, // the peer misses a request that comes while it reports
		Notify: func(n master.Notice) {
			if n.Kind == master.NoticeReady {
				ready <- struct{}{}
			}
			if n.Err != nil {
				t.Errorf("%+v", n)
			}
		},
	}, handler)
	if err != nil {
		t.Fatal(err)
	}
	s.dial(channel.DialTCP(net.JoinHostPort("127.0.0.1", number), nil),
		s.port(station.Config{Local: 1, Remote: 10, Master: true}, a))

	handler.await(t, "the last current value", func(r reading) bool {
		return r.variation.Kind() == object.KindAnalogOutput && r.point.Index == 3
	})
	<-ready
	peer.Do(t, "update analog 1 42.5")
	handler.await(t, "the analog event", func(r reading) bool {
		return r.unsolicited && r.variation.Kind() == object.KindAnalogInput && r.point.Value.Float() >= 42
	})
	peer.Do(t, "update counter 3 7")
	handler.await(t, "the counter event", func(r reading) bool {
		return r.unsolicited && r.variation.Kind() == object.KindCounter && r.point.Value.Uint() == 7
	})

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	do := func(r func() *master.Request) master.Result {
		t.Helper()
		result, err := a.Do(ctx, r())
		for errors.Is(err, master.ErrTimeout) { // it was not carried out, see above
			result, err = a.Do(ctx, r())
		}
		if err != nil {
			t.Error(err)
		}
		return result
	}
	do(func() *master.Request {
		return master.SelectOperate(master.Command{
			Variation: object.G12V1, Index: 1, CROB: object.CROB{Code: object.OpLatchOn, Count: 3},
		})
	})
	if got := peer.Await(t, "command binary"); got != "1 3" {
		t.Errorf("the outstation operated %q", got)
	}
	do(func() *master.Request { return master.Operate(master.Setpoint(2, 7.5)) })
	if got := peer.Await(t, "command analog"); got != "2 7.5" {
		t.Errorf("the outstation operated %q", got)
	}
	result, err := a.Do(ctx, master.SelectOperate(master.Latch(9, true)))
	for errors.Is(err, master.ErrTimeout) { // the outstation drops requests while it reports
		result, err = a.Do(ctx, master.SelectOperate(master.Latch(9, true)))
	}
	if !errors.Is(err, master.ErrStatus) || len(result.Statuses) != 1 || result.Statuses[0] != object.StatusBlockedOtherMaster {
		t.Errorf("a command the outstation refuses gives %+v, %v", result, err)
	}
	do(func() *master.Request { return master.ReadRange(object.G20V1, 0, 3) })
	do(func() *master.Request { return master.Freeze(func(w *app.Writer) error { return w.All(object.G20V0) }) })
	do(func() *master.Request { return master.ReadClasses(app.Integrity) })
}

func TestOurOutstationWorksWithAForeignMaster(t *testing.T) { bothWays(t, ourOutstation) }

func ourOutstation(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	var points []outstation.PointConfig
	for i := range uint32(4) {
		for kind, class := range map[object.Kind]app.Classes{
			object.KindBinaryInput: app.Class1, object.KindDoubleBitInput: app.Class1, object.KindCounter: app.Class2,
			object.KindAnalogInput: app.Class3, object.KindBinaryOutput: app.Class2, object.KindAnalogOutput: app.Class2,
			object.KindFrozenCounter: app.Class3,
		} {
			points = append(points, outstation.PointConfig{Kind: kind, Index: i, Class: class, Initial: object.Unsigned(uint64(i))})
		}
	}
	operated := make(chan outstation.Command, 10)
	o, err := outstation.New(outstation.Config{
		Points: points,
		Callbacks: outstation.Callbacks{Operate: func(_ *outstation.Tx, c outstation.Command) object.Status {
			if c.Index == 3 {
				return object.StatusHardwareError
			}
			operated <- c
			return object.StatusSuccess
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		t.Fatal(err)
	}
	_, number, err := net.SplitHostPort(s.listen(s.port(station.Config{Local: 10, Remote: 1}, session)))
	if err != nil {
		t.Fatal(err)
	}
	peer := peers.StartDNP3(t)
	peer.Do(t, "master %s", number)
	peer.Await(t, "fragment response")
	if got := peer.Await(t, "value analog 3"); got != "3 static" {
		t.Errorf("analog input 3 is %q", got)
	}
	peer.Await(t, "end")
	for n := range int64(3) {
		o.Update(func(tx *outstation.Tx) {
			tx.Set(object.KindBinaryInput, object.Point{Index: 2, Value: object.Bool(true), Flags: object.FlagOnline}, outstation.Force)
			tx.Set(object.KindAnalogInput, object.Point{Index: 1, Value: object.Signed(100 + n), Flags: object.FlagOnline}, outstation.Force)
		})
		peer.Await(t, "fragment unsolicited")
		if got := peer.Await(t, "value binary 2"); got != "1 event" {
			t.Errorf("binary input 2 is %q", got)
		}
		if got := peer.Await(t, "value analog 1"); got != strconv.FormatInt(100+n, 10)+" event" {
			t.Errorf("analog input 1 is %q", got)
		}
	}
	peer.Do(t, "operate 1 2")
	if got := peer.Await(t, "result"); got != "SUCCESS SUCCESS" {
		t.Errorf("a command ended with %q", got)
	}
	if c := <-operated; c.Index != 1 || c.CROB.Count != 2 || c.Phase != outstation.Operating {
		t.Errorf("operated %+v", c)
	}
	peer.Do(t, "direct 2 7.5")
	if got := peer.Await(t, "result"); got != "SUCCESS SUCCESS" {
		t.Errorf("a command ended with %q", got)
	}
	if c := <-operated; c.Value.Float() != 7.5 {
		t.Errorf("operated %+v", c)
	}
	peer.Do(t, "operate 3 1")
	if got := peer.Await(t, "result"); got != "SUCCESS HARDWARE_ERROR" {
		t.Errorf("a refused command ended with %q", got)
	}
	peer.Do(t, "scan")
	peer.Await(t, "fragment response")
	if got := peer.Await(t, "value analog 1"); got != "102 static" {
		t.Errorf("analog input 1 is %q", got)
	}
}
