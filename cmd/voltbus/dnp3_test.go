package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"voltbus/cmd/voltbus/dnp3tool"
	"voltbus/driver/dnp3/field"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
	"voltbus/testing/peers"
)

// startOutstation serves the outstations 10 and 12 with some points on loopback, until the script
// ends, and puts the address into the variable OUTSTATION, and a free one into FREE.
func startOutstation(ts *testscript.TestScript, _ bool, _ []string) {
	device, err := outstation.New(outstation.Config{
		Points: []outstation.PointConfig{
			{Kind: object.KindBinaryInput, Class: app.Class1},
			{Kind: object.KindAnalogInput, Class: app.Class2, Static: object.G30V5},
			{Kind: object.KindAnalogInput, Index: 1, Class: app.Class2},
			{Kind: object.KindBinaryOutput, Index: 3, Class: app.Class1},
			{Kind: object.KindAnalogOutput, Index: 3, Class: app.Class1},
			{Kind: object.KindOctetString, Index: 7},
			{Kind: object.KindCounter, Index: 2},
			{Kind: object.KindFrozenCounter, Index: 2},
		},
		Callbacks: outstation.Callbacks{Operate: func(tx *outstation.Tx, c outstation.Command) object.Status {
			if c.Index != 3 {
				return object.StatusLocal
			}
			kind, value := object.KindAnalogOutput, c.Value
			if c.Kind == object.KindBinaryCommand {
				kind, value = object.KindBinaryOutput, object.Bool(c.CROB.Code.Operation() == object.OpLatchOn)
			}
			tx.Set(kind, object.Point{Index: 3, Value: value, Flags: object.FlagOnline}, outstation.Detect)
			return object.StatusSuccess
		}},
	})
	ts.Check(err)
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindBinaryInput, object.Point{Value: object.Bool(true), Flags: object.FlagOnline}, outstation.Suppress)
		tx.Set(object.KindAnalogInput, object.Point{Value: object.Float(21.5), Flags: object.FlagOnline}, outstation.Suppress)
		tx.Set(object.KindCounter, object.Point{Index: 2, Value: object.Unsigned(77), Flags: object.FlagOnline}, outstation.Suppress)
		tx.SetString(7, []byte("hostile \x1b[2J"), outstation.Suppress)
	})
	address, stop, err := serveOutstation(device, outstation.SessionConfig{Master: 1, Unsolicited: true}, 10, 12)
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("OUTSTATION", address)
	free, claim, err := peers.Reserve()
	ts.Check(err)
	ts.Defer(func() { _ = claim.Close() })
	ts.Setenv("FREE", "127.0.0.1:"+free)
}

// serveOutstation serves a device under some addresses on loopback, until it is stopped.
func serveOutstation(device *outstation.Outstation, c outstation.SessionConfig, as ...link.Address) (address string, stop func(), err error) {
	var ports []*station.Port
	for _, a := range as {
		session, err := device.Session(c)
		if err != nil {
			return "", nil, err
		}
		port, err := station.NewPort(station.Config{Local: a, Remote: 1}, session)
		if err != nil {
			return "", nil, err
		}
		ports = append(ports, port)
	}
	hub := channel.NewHub(channel.HubConfig{})
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: ports})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := channel.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		cancel()
		return "", nil, err
	}
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx, listener) })
	return listener.Addr().String(), func() {
		cancel()
		running.Wait()
	}, nil
}

// The outstation reports the event by itself, to whoever is there: a read waits behind that.
func TestAReadLeavesWhatTheOutstationReportsToItsOwnMaster(t *testing.T) {
	device, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{{Kind: object.KindAnalogInput, Class: app.Class2}}})
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := serveOutstation(device, outstation.SessionConfig{Master: 1, Unsolicited: true, ConfirmTimeout: 100 * time.Millisecond}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	d := dnp3tool.Flags{TCP: address, Master: 1, Outstation: 10, Timeout: 30 * time.Second}
	c, err := d.Config()
	if err != nil {
		t.Fatal(err)
	}
	// own is the outstation's own master, which is there until what it waits for has come.
	own := func(fits func(dnp3tool.Reading) bool) {
		ready, came := make(chan struct{}, 1), make(chan struct{}, 1)
		signal := func(to chan struct{}) {
			select {
			case to <- struct{}{}:
			default:
			}
		}
		m := c.MasterConfig()
		m.Notify = func(n master.Notice) {
			if n.Kind == master.NoticeReady {
				signal(ready)
			}
		}
		f, err := field.Open(t.Context(), c, m, &dnp3tool.Readings{Take: func(r dnp3tool.Reading) {
			if fits(r) {
				signal(came)
			}
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, sign := range []chan struct{}{ready, came} {
			select {
			case <-sign:
			case <-ctx.Done():
				t.Fatal("the outstation's own master does not get what it waits for")
			}
		}
	}
	own(func(dnp3tool.Reading) bool { return true }) // reports are enabled
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Value: object.Signed(42), Flags: object.FlagOnline}, outstation.Force)
	})
	values, _, err := d.Collect(t.Context(), []*master.Request{master.ReadClasses(app.Class0)})
	if err != nil || len(values) != 1 || values[0].Variation.Event() || values[0].Point.Value.Int() != 42 {
		t.Errorf("the read gives %+v, %v", values, err)
	}
	own(func(r dnp3tool.Reading) bool { return r.Variation.Event() && r.Point.Value.Int() == 42 })
}
