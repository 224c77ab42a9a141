//go:build linux

package channel_test

import (
	"context"
	"net"
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

// quarter is a repeating time of a quarter of an hour.
func quarter() object.IndexedTime {
	return object.IndexedTime{
		Start: object.Timestamp{Milliseconds: 1_700_000_000_000}, Interval: 15, Unit: object.IntervalMinutes,
	}
}

// manyThings is an outstation with objects that have no events.
func manyThings(written chan<- object.IndexedTime) outstation.Config {
	return outstation.Config{
		Points: []outstation.PointConfig{
			{Kind: object.KindInteger, Index: 1, Initial: object.Unsigned(201)},
			{Kind: object.KindTime, Index: 2},
			{Kind: object.KindAnalogInput, Class: app.Class1, Initial: object.Signed(0)},
		},
		Attributes: map[uint8]object.Attribute{252: {Type: object.AttributeText, Data: []byte("maker")}},
		Callbacks: outstation.Callbacks{WriteTime: func(tx *outstation.Tx, index uint32, t object.IndexedTime) bool {
			written <- t
			return tx.SetTime(index, t)
		}},
	}
}

func TestAForeignMasterReadsTimesIntegersAndAttributesOfOurOutstationAndWritesDeadbands(t *testing.T) {
	s := newSite(t, 2)
	written := make(chan object.IndexedTime, 10)
	o, err := outstation.New(manyThings(written))
	if err != nil {
		t.Fatal(err)
	}
	o.Update(func(tx *outstation.Tx) {
		tx.SetTime(2, quarter())
	})
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
	if got := peer.Await(t, "value analog 1"); got != "201 static" { // it takes g102 for an analog input
		t.Errorf("integer 1 is %q", got)
	}
	if got := peer.Await(t, "time 2"); got != "1700000000000 15 3" {
		t.Errorf("time 2 is %q", got)
	}
	peer.Do(t, "writetime 2 1600000000000 5")
	if got := <-written; got.Start.Milliseconds != 1_600_000_000_000 || got.Interval != 5 || got.Unit != object.IntervalMinutes {
		t.Errorf("%+v is written", got)
	}
	peer.Do(t, "deadband 0 2.5")
	peer.Await(t, "result")
	o.Update(func(tx *outstation.Tx) {
		if _, width, ok := tx.Class(object.KindAnalogInput, 0); !ok || width != 2.5 {
			t.Errorf("the dead-band is %v", width)
		}
	})
	peer.Do(t, "readall 0 252")
	if got := peer.Await(t, "attribute"); got != "0 252 maker" {
		t.Errorf("the attribute is %q", got)
	}
}

// times is a handler that passes repeating times on.
type times struct{ arrived chan object.IndexedTime }

func (*times) Begin(master.Info) {}
func (*times) End(master.Info)   {}
func (r *times) Header(h app.Header) {
	for o := range h.Objects() {
		if t, ok := o.IndexedTime(); ok && t.Interval != 0 {
			r.arrived <- t
		}
	}
}

func TestOurMasterReadsRepeatingTimesOfAForeignOutstation(t *testing.T) {
	s := newSite(t, 0)
	peer, number := peers.StartDNP3(t), peers.FreePort(t)
	peer.Do(t, "outstation %s", number)
	peer.Await(t, "serving")
	peer.Do(t, "settime 2 1700000000000 15")
	peer.Do(t, "sync")
	peer.Await(t, "synced")
	handler := &times{arrived: make(chan object.IndexedTime, 10)}
	a, err := master.New(master.Config{ResponseTimeout: time.Second, Retries: 3}, handler)
	if err != nil {
		t.Fatal(err)
	}
	<-s.dial(channel.DialTCP(net.JoinHostPort("127.0.0.1", number), nil),
		s.port(station.Config{Local: 1, Remote: 10, Master: true}, a))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := a.Do(ctx, master.ReadAll(object.G50V4)); err != nil {
		t.Fatal(err)
	}
	want := quarter()
	if got := <-handler.arrived; got.Start.Milliseconds != want.Start.Milliseconds || got.Interval != want.Interval || got.Unit != want.Unit {
		t.Errorf("%+v arrived", got)
	}
}
