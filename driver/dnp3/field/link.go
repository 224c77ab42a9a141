// Package field provides an association with one outstation to the field tool: opened once, over any configurable transport, with an
// optional explanation of every frame.
package field

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"voltbus/driver/dnp3"
	"voltbus/fault"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/station"
)

// Link is an open association with one outstation.
type Link struct {
	*master.Association

	config  *dnp3.Config
	lost    chan error // why the line ended
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Open opens the line and the association; Close closes them. With frames, every frame is explained there. It waits for a device
// that dials in, and says so on standard error.
func Open(ctx context.Context, c *dnp3.Config, m master.Config, h master.Handler, frames func(string)) (*Link, error) {
	f := &Link{config: c, lost: make(chan error, 1)}
	var err error
	if f.Association, err = master.New(m, h); err != nil {
		return nil, fault.E("dnp3", fault.Invalid, "", err)
	}
	port, err := station.NewPort(c.PortConfig(), f.Association)
	if err != nil {
		return nil, fault.E("dnp3", fault.Invalid, "", err)
	}
	ctx, f.stop = context.WithCancel(ctx)
	hub := channel.NewHub(channel.HubConfig{})
	start := f.dial
	if c.Transport == "listen" {
		start = f.listen
	}
	if err := start(ctx, hub, port, frames); err != nil {
		f.Close()
		return nil, err
	}
	f.running.Go(func() { _ = hub.Run(ctx) })
	return f, nil
}

// Close closes the line.
func (f *Link) Close() {
	f.stop()
	f.running.Wait()
}

// Lost receives why the line ended, once. The line of a device that dials in does not end.
func (f *Link) Lost() <-chan error { return f.lost }

// dial opens the stream, once.
func (f *Link) dial(ctx context.Context, hub *channel.Hub, port *station.Port, frames func(string)) error {
	stream, err := f.config.Dialer()(ctx)
	if err != nil {
		return Unreachable(f.config, err)
	}
	line := channel.NewLine(hub, tapped(stream, frames))
	if err := line.Add(port); err != nil {
		line.Close()
		return Unreachable(f.config, err)
	}
	f.running.Go(func() {
		defer context.AfterFunc(ctx, line.Close)()
		f.lost <- line.Run()
	})
	return nil
}

// listen waits for the outstation to dial in.
func (f *Link) listen(ctx context.Context, hub *channel.Hub, port *station.Port, frames func(string)) error {
	listener, err := f.config.Listen(ctx, nil)
	if err != nil {
		return Unreachable(f.config, err)
	}
	online := make(chan struct{}, 1)
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: []*station.Port{port}, Notify: func(s channel.State) {
		if !s.Online {
			return // the device may dial again
		}
		select {
		case online <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		_ = listener.Close()
		return err
	}
	fmt.Fprintf(os.Stderr, "waiting for outstation %d to dial %v\n", f.config.Outstation, listener.Addr())
	f.running.Go(func() { _ = server.Run(ctx, tappedListener{listener, frames}) })
	select {
	case <-online:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ask makes a request, and describes the outcome in words.
func (f *Link) Ask(ctx context.Context, r *master.Request) (master.Result, error) {
	result, err := f.Do(ctx, r)
	subject := fmt.Sprintf("outstation %d at %s", f.config.Outstation, f.config.LineName())
	switch {
	case err == nil:
		return result, nil
	case errors.Is(err, master.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return result, fault.E("dnp3", fault.Timeout, subject, errors.New("does not answer; check --master and --outstation (voltbus dnp3 scan finds outstations), or allow more --timeout"))
	case errors.Is(err, master.ErrClosed):
		select {
		case why := <-f.lost:
			err = errors.Join(why, err)
		default:
		}
		return result, fault.E("dnp3", fault.Unreachable, subject, fmt.Errorf("the connection was lost: %w", err))
	case errors.Is(err, master.ErrRefused):
		return result, fault.E("dnp3", fault.Rejected, subject, fmt.Errorf("%w: it does not know the function, the object or the index", err))
	}
	return result, err
}

// Unreachable says that a stream could not be opened.
func Unreachable(c *dnp3.Config, err error) error {
	return fault.E("dnp3", fault.Unreachable, c.LineName(), fmt.Errorf("%w; check the address, and that the outstation takes one more connection", err))
}
