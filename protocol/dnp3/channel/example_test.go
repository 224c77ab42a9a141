package channel_test

import (
	"context"
	"fmt"
	"sync"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// printer is a handler that prints what arrives, until it has seen an event.
type printer struct{ done func() }

func (printer) Begin(master.Info) {}
func (printer) End(master.Info)   {}

func (p printer) Header(h app.Header) {
	for point := range h.Points() {
		fmt.Println(h.Variation.Kind(), point.Index, point.Value, point.Flags.Good())
		if h.Variation.Event() {
			p.done()
		}
	}
}

// An outstation with a breaker position and a master that reads it and is told of a change.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	hub := channel.NewHub(channel.HubConfig{})
	running.Go(func() { _ = hub.Run(ctx) })

	device, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{
		{Kind: object.KindBinaryInput, Index: 0, Class: app.Class1, Initial: object.Bool(false)},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	address, err := serve(ctx, &running, hub, device)
	if err != nil {
		fmt.Println(err)
		return
	}

	ready := make(chan struct{})
	association, err := master.New(master.Config{
		Outstation: 10, DisableFirst: app.EventClasses, Startup: app.Integrity, Enable: app.EventClasses,
		Notify: func(n master.Notice) {
			if n.Kind == master.NoticeReady {
				close(ready)
			}
		},
	}, printer{done: cancel})
	if err != nil {
		fmt.Println(err)
		return
	}
	port, err := station.NewPort(station.Config{Local: 1, Remote: 10, Master: true}, association)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := channel.NewClient(hub, channel.ClientConfig{Dial: channel.DialTCP(address, nil), Ports: []*station.Port{port}})
	if err != nil {
		fmt.Println(err)
		return
	}
	running.Go(func() { _ = client.Run(ctx) })

	<-ready
	device.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindBinaryInput, object.Point{Value: object.Bool(true), Flags: object.FlagOnline}, outstation.Detect)
	})
	<-ctx.Done()
	// Output:
	// binary input 0 false false
	// binary input 0 true true
}

// serve puts an outstation with the address 10 on a port of loopback.
func serve(ctx context.Context, running *sync.WaitGroup, hub *channel.Hub, device *outstation.Outstation) (string, error) {
	session, err := device.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		return "", err
	}
	port, err := station.NewPort(station.Config{Local: 10, Remote: 1}, session)
	if err != nil {
		return "", err
	}
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: []*station.Port{port}})
	if err != nil {
		return "", err
	}
	listener, err := channel.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		return "", err
	}
	running.Go(func() { _ = server.Run(ctx, listener) })
	return listener.Addr().String(), nil
}
