//go:build linux

package channel_test

import (
	"io"
	"net"
	"slices"
	"strings"
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

func TestOurMasterReadsAnOutstationOfDnp3py(t *testing.T) {
	s := newSite(t, 0)
	peer := peers.DNP3py(t, "outstation")
	handler := &readings{arrived: make(chan reading, 1000)}
	a, err := master.New(master.Config{Startup: app.Integrity, ResponseTimeout: 2 * time.Second, Retries: 3}, handler)
	if err != nil {
		t.Fatal(err)
	}
	s.dial(channel.DialTCP(peer.Addr, nil), s.port(station.Config{Local: 1, Remote: 10, Master: true}, a))
	for _, want := range []struct {
		kind  object.Kind
		index uint32
		value float64
	}{{object.KindBinaryInput, 2, 1}, {object.KindCounter, 3, 77}, {object.KindAnalogInput, 1, 1234}} {
		handler.await(t, want.kind.String(), func(r reading) bool { // in the order of the groups
			return r.variation.Kind() == want.kind && r.point.Index == want.index && r.point.Value.Float() == want.value
		})
	}
}

func TestAMasterOfDnp3pyReadsOurOutstation(t *testing.T) {
	s := newSite(t, 0)
	o, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{
		{Kind: object.KindBinaryInput, Index: 2, Class: app.Class1},
		{Kind: object.KindAnalogInput, Index: 1, Class: app.Class2},
		{Kind: object.KindCounter, Index: 3, Class: app.Class3},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindBinaryInput, object.Point{Index: 2, Value: object.Bool(true), Flags: object.FlagOnline}, outstation.Force)
		tx.Set(object.KindAnalogInput, object.Point{Index: 1, Value: object.Signed(1234), Flags: object.FlagOnline}, outstation.Suppress)
		tx.Set(object.KindCounter, object.Point{Index: 3, Value: object.Unsigned(77), Flags: object.FlagOnline}, outstation.Suppress)
	})
	session, err := o.Session(outstation.SessionConfig{Master: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(s.listen(s.port(station.Config{Local: 10, Remote: 1}, session)))
	if err != nil {
		t.Fatal(err)
	}
	got := ask(t, peers.DNP3py(t, "master", port).Addr)
	for _, want := range []string{"binary 2 1\n", "analog 1 1234\n", "counter 3 77\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the master read\n%swithout %s", got, want)
		}
	}
}

// ask returns all that a peer says to whoever connects to it.
func ask(t *testing.T, address string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestOurMasterOperatesAnOutstationOfDnp3py(t *testing.T) {
	s := newSite(t, 0)
	peer := peers.DNP3py(t, "outstation")
	handler := &readings{arrived: make(chan reading, 1000)}
	ready := make(chan struct{}, 1)
	a, err := master.New(master.Config{
		Startup: app.Integrity, Enable: app.EventClasses, TimeSync: master.LAN, ResponseTimeout: 2 * time.Second, Retries: 3,
		Notify: func(n master.Notice) {
			if n.Kind == master.NoticeReady {
				ready <- struct{}{}
			}
		},
	}, handler)
	if err != nil {
		t.Fatal(err)
	}
	s.dial(channel.DialTCP(peer.Addr, nil), s.port(station.Config{Local: 1, Remote: 10, Master: true}, a))
	<-ready
	for _, c := range []struct {
		name     string
		request  *master.Request
		statuses []object.Status
		event    object.Kind // what changes, 0 for nothing
		index    uint32
		value    float64
	}{
		{"select and operate", master.SelectOperate(master.Latch(1, true)), []object.Status{object.StatusSuccess}, object.KindBinaryInput, 1, 1},
		{"direct operate", master.Operate(master.Latch(2, false)), []object.Status{object.StatusSuccess}, object.KindBinaryInput, 2, 0},
		{"direct operate, no answer", master.OperateUnanswered(master.Latch(1, false)), nil, object.KindBinaryInput, 1, 0},
		{"a setpoint", master.Operate(master.Setpoint(3, 42)), []object.Status{object.StatusSuccess}, object.KindAnalogInput, 3, 42},
		{"a refused select", master.SelectOperate(master.Latch(3, true)), []object.Status{object.StatusLocal}, 0, 0, 0},
		{"a pulse it does not know", master.Operate(master.Command{
			Variation: object.G12V1, CROB: object.CROB{Code: object.OpPulseOn, Count: 1},
		}), []object.Status{object.StatusNotSupported}, 0, 0, 0},
	} {
		result, err := a.Do(t.Context(), c.request)
		if (err == nil) != (c.event != 0) || !slices.Equal(result.Statuses, c.statuses) {
			t.Errorf("%s gives %+v, %v", c.name, result, err)
		}
		if err != nil {
			continue
		}
		result, err = a.Do(t.Context(), master.ReadClasses(app.EventClasses))
		if err != nil || result.IIN.Has(app.IINNeedTime) { // which the outstation says until its clock is set
			t.Errorf("after %s: %v, %v", c.name, result.IIN, err)
		}
		handler.await(t, "the event after "+c.name, func(r reading) bool {
			return r.variation.Event() && r.variation.Kind() == c.event && r.point.Index == c.index && r.point.Value.Float() == c.value
		})
	}
}

func TestAMasterOfDnp3pyOperatesOurOutstationAndHearsItsReports(t *testing.T) {
	s := newSite(t, 0)
	operated := make(chan outstation.Command, 10)
	o, err := outstation.New(outstation.Config{
		Points: []outstation.PointConfig{
			{Kind: object.KindAnalogInput, Index: 1, Class: app.Class2},
			{Kind: object.KindBinaryOutput, Index: 1},
			{Kind: object.KindAnalogOutput, Index: 2},
		},
		Callbacks: outstation.Callbacks{Operate: func(tx *outstation.Tx, c outstation.Command) object.Status {
			operated <- c
			if c.Kind == object.KindAnalogCommand {
				tx.Set(object.KindAnalogInput, object.Point{Index: 1, Value: object.Signed(75), Flags: object.FlagOnline}, outstation.Force)
			}
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
	_, port, err := net.SplitHostPort(s.listen(s.port(station.Config{Local: 10, Remote: 1}, session)))
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, peers.DNP3py(t, "commander", port).Addr); got != "analog 1 75\n" {
		t.Fatalf("the master heard %q", got)
	}
	if c := <-operated; c.Kind != object.KindBinaryCommand || c.Index != 1 || c.CROB.Code != object.OpLatchOn || c.Phase != outstation.Operating {
		t.Errorf("operated %+v", c)
	}
	if c := <-operated; c.Kind != object.KindAnalogCommand || c.Index != 2 || c.Value.Float() != 7 {
		t.Errorf("operated %+v", c)
	}
}
