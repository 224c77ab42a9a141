package main

import (
	"context"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
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
		tx.SetString(7, []byte("hostile \x1b[2J"), outstation.Suppress)
	})
	var ports []*station.Port
	for _, address := range []link.Address{10, 12} {
		session, err := device.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
		ts.Check(err)
		port, err := station.NewPort(station.Config{Local: address, Remote: 1}, session)
		ts.Check(err)
		ports = append(ports, port)
	}
	hub := channel.NewHub(channel.HubConfig{})
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: ports})
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := channel.Listen(ctx, "127.0.0.1:0", nil)
	ts.Check(err)
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx, listener) })
	ts.Defer(func() {
		cancel()
		running.Wait()
	})
	ts.Setenv("OUTSTATION", listener.Addr().String())
	free, claim, err := peers.Reserve()
	ts.Check(err)
	ts.Defer(func() { _ = claim.Close() })
	ts.Setenv("FREE", "127.0.0.1:"+free)
}
