package channel_test

import (
	"io"
	"net"
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
	s := newSite(t)
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
	s := newSite(t)
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
	peer := peers.DNP3py(t, "master", port)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", peer.Addr)
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
	for _, want := range []string{"binary 2 1\n", "analog 1 1234\n", "counter 3 77\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the master read\n%swithout %s", got, want)
		}
	}
}
