package dnp3pairs

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/station"
)

// bed is a running set of channels.
type bed struct {
	hub     *channel.Hub
	running sync.WaitGroup
}

func newBed(ctx context.Context, workers int) *bed {
	b := &bed{hub: channel.NewHub(channel.HubConfig{Workers: workers})}
	b.start(ctx, b.hub.Run)
	return b
}

func (b *bed) start(ctx context.Context, run func(ctx context.Context) error) {
	b.running.Go(func() {
		if err := run(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
}

// listen serves outstations on a port and returns its address.
func (b *bed) listen(ctx context.Context, ports ...*station.Port) (string, error) {
	listener, err := channel.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		return "", err
	}
	server, err := channel.NewServer(b.hub, channel.ServerConfig{Ports: ports})
	if err != nil {
		return "", err
	}
	b.start(ctx, func(ctx context.Context) error { return server.Run(ctx, listener) })
	return listener.Addr().String(), nil
}

// dial connects a master.
func (b *bed) dial(ctx context.Context, address string, port *station.Port) error {
	client, err := channel.NewClient(b.hub, channel.ClientConfig{
		Dial: channel.DialTCP(address, nil), Ports: []*station.Port{port},
	})
	if err != nil {
		return err
	}
	b.start(ctx, client.Run)
	return nil
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
