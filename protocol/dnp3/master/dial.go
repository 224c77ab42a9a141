package master

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// Connection is an Association over a TCP connection of its own. Close it after use.
type Connection struct {
	*Association

	stop    context.CancelFunc
	running sync.WaitGroup
}

// Dial connects to the outstation c.Outstation at a TCP address, as the master with the link address local, and
// returns when the connection is there. It is made again whenever it is lost, until Close; requests fail with ErrClosed
// meanwhile. Whoever needs TLS, a serial line, UDP or several outstations on a line uses package channel.
func Dial(ctx context.Context, address string, local link.Address, c Config, h Handler) (*Connection, error) {
	association, err := New(c, h)
	if err != nil {
		return nil, err
	}
	port, err := station.NewPort(station.Config{Local: local, Remote: c.Outstation, Master: true}, association)
	if err != nil {
		return nil, err
	}
	dial := channel.DialTCP(address, nil)
	first, err := dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("master: connect to outstation %v: %w", c.Outstation, err)
	}
	online := make(chan struct{})
	tell := sync.OnceFunc(func() { close(online) })
	hub := channel.NewHub(channel.HubConfig{})
	client, err := channel.NewClient(hub, channel.ClientConfig{
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			if stream := first; stream != nil {
				first = nil
				return stream, nil
			}
			return dial(ctx)
		},
		Ports: []*station.Port{port},
		Notify: func(s channel.State) {
			if s.Online {
				tell()
			}
		},
	})
	if err != nil {
		_ = first.Close()
		return nil, err
	}
	conn := &Connection{Association: association}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	conn.stop = stop
	conn.running.Go(func() { _ = hub.Run(running) })
	conn.running.Go(func() { _ = client.Run(running) })
	select {
	case <-online:
		return conn, nil
	case <-ctx.Done():
		conn.Close()
		return nil, fmt.Errorf("master: connect to outstation %v: %w", c.Outstation, ctx.Err())
	}
}

// Close ends the connection; requests that wait end with ErrClosed.
func (c *Connection) Close() {
	c.stop()
	c.running.Wait()
}

// Reading is one value that an outstation gave.
type Reading struct {
	// Variation says what it is and how it was sent; Variation.Kind is what kind of point it is.
	Variation object.Variation
	object.Point
	// Text is an octet string; nil for every other kind.
	Text []byte
}

// ReadOnce asks the outstation at a TCP address for its present values (class 0), or for what requests name, as the
// master with the link address local, and hangs up. Events stay with the outstation, for its own master, unless the
// requests ask for them. The readings are in the order in which they came.
func ReadOnce(ctx context.Context, address string, local, outstation link.Address, requests ...*Request) ([]Reading, error) {
	var all readings
	conn, err := Dial(ctx, address, local, Config{Outstation: outstation, LeaveEvents: true}, &all)
	if err != nil {
		return nil, err
	}
	if len(requests) == 0 {
		requests = []*Request{ReadClasses(app.Class0)}
	}
	for _, r := range requests {
		if _, err = conn.Do(ctx, r); err != nil {
			break
		}
	}
	conn.Close() // the readings are then no longer modified
	return all, err
}

// readings is a Handler that keeps what arrives.
type readings []Reading

func (*readings) Begin(Info) {}
func (*readings) End(Info)   {}

func (r *readings) Header(h app.Header) {
	if h.Variation.Kind() == object.KindOctetString {
		for o := range h.Objects() {
			*r = append(*r, Reading{Variation: h.Variation, Point: object.Point{Index: o.Index, Flags: object.FlagOnline}, Text: slices.Clone(o.Data)})
		}
		return
	}
	for p := range h.Points() {
		*r = append(*r, Reading{Variation: h.Variation, Point: p})
	}
}
