package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"voltbus/driver/dnp3"
	"voltbus/fault"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/explain"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// reading is a value that an outstation gave.
type reading struct {
	variation object.Variation
	point     object.Point
	text      string // of what is no point: an octet string, an attribute
	info      master.Info
}

// readings hands on what arrives. It implements master.Handler.
type readings struct {
	take func(reading)
	info master.Info
}

func (r *readings) Begin(i master.Info) { r.info = i }
func (*readings) End(master.Info)       {}

func (r *readings) Header(h app.Header) {
	for p := range h.Points() {
		r.take(reading{variation: h.Variation, point: p, info: r.info})
	}
	switch h.Variation.Kind() {
	case object.KindOctetString, object.KindAttribute:
		for o := range h.Objects() {
			text := o.Data
			if a, ok := o.Attribute(); ok {
				text = a.Data
			}
			r.take(reading{variation: h.Variation, point: object.Point{Index: o.Index}, text: fmt.Sprintf("%q", text), info: r.info})
		}
	default:
	}
}

// fieldLink is an open association with one outstation.
type fieldLink struct {
	*master.Association

	config  *dnp3.Config
	lost    chan error // why the line ended
	stop    context.CancelFunc
	running sync.WaitGroup
}

// openField opens the line and the association. With frames every frame is explained to them.
func openField(ctx context.Context, c *dnp3.Config, m master.Config, h master.Handler, frames func(string)) (*fieldLink, error) {
	f := &fieldLink{config: c, lost: make(chan error, 1)}
	var err error
	if f.Association, err = master.New(m, h); err != nil {
		return nil, usage(err)
	}
	port, err := station.NewPort(c.PortConfig(), f.Association)
	if err != nil {
		return nil, usage(err)
	}
	ctx, f.stop = context.WithCancel(ctx)
	hub := channel.NewHub(channel.HubConfig{})
	start := f.dial
	if c.Transport == "listen" {
		start = f.listen
	}
	if err := start(ctx, hub, port, frames); err != nil {
		f.close()
		return nil, err
	}
	f.running.Go(func() { _ = hub.Run(ctx) })
	return f, nil
}

func (f *fieldLink) close() {
	f.stop()
	f.running.Wait()
}

func (f *fieldLink) end(err error) {
	select {
	case f.lost <- err:
	default:
	}
}

// dial opens the stream, once, and waits until the association is open.
func (f *fieldLink) dial(ctx context.Context, hub *channel.Hub, port *station.Port, frames func(string)) error {
	stream, err := f.config.Dialer()(ctx)
	if err != nil {
		return unreachable(f.config, err)
	}
	online, first := make(chan struct{}), true
	client, err := channel.NewClient(hub, channel.ClientConfig{
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			if first {
				first = false
				return tapped(stream, frames), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Ports: []*station.Port{port},
		Notify: func(s channel.State) {
			if s.Online {
				close(online)
				return
			}
			f.end(s.Err)
		},
	})
	if err != nil {
		_ = stream.Close()
		return err
	}
	f.running.Go(func() { _ = client.Run(ctx) })
	select {
	case <-online:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen waits for the outstation to dial in.
func (f *fieldLink) listen(ctx context.Context, hub *channel.Hub, port *station.Port, frames func(string)) error {
	listener, err := f.config.Listen(ctx, nil)
	if err != nil {
		return unreachable(f.config, err)
	}
	online := make(chan struct{}, 1)
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: []*station.Port{port}, Notify: func(s channel.State) {
		if !s.Online {
			return // it may dial again
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

// do makes a request, and says in words what came of it.
func (f *fieldLink) do(ctx context.Context, r *master.Request) (master.Result, error) {
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

// tap explains what goes through a stream.
type tap struct {
	io.ReadWriteCloser

	mu      sync.Mutex
	in, out explain.Decoder
	show    func(string)
}

// tapped returns the stream, with a tap if frames are to be shown.
func tapped(stream io.ReadWriteCloser, show func(string)) io.ReadWriteCloser {
	if show == nil {
		return stream
	}
	return &tap{ReadWriteCloser: stream, show: show}
}

func (t *tap) tell(d *explain.Decoder, arrow string, octets []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now().UTC().Format("15:04:05.000")
	for _, n := range d.Add(octets) {
		for line := range n.Lines() {
			t.show(at + " " + arrow + " " + line)
		}
	}
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	t.tell(&t.in, "<", p[:n])
	return n, err
}

// Write implements io.Writer.
func (t *tap) Write(p []byte) (int, error) {
	t.tell(&t.out, ">", p)
	return t.ReadWriteCloser.Write(p)
}

// SetReadDeadline passes a deadline on.
func (t *tap) SetReadDeadline(at time.Time) error {
	if s, ok := t.ReadWriteCloser.(interface{ SetReadDeadline(t time.Time) error }); ok {
		return s.SetReadDeadline(at)
	}
	return os.ErrNoDeadline
}

// SetWriteDeadline passes a deadline on.
func (t *tap) SetWriteDeadline(at time.Time) error {
	if s, ok := t.ReadWriteCloser.(interface{ SetWriteDeadline(t time.Time) error }); ok {
		return s.SetWriteDeadline(at)
	}
	return os.ErrNoDeadline
}

// tappedListener taps every connection.
type tappedListener struct {
	net.Listener

	show func(string)
}

// tappedConn is a connection with a tap.
type tappedConn struct {
	net.Conn

	tap *tap
}

// Accept implements net.Listener.
func (l tappedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil || l.show == nil {
		return conn, err
	}
	return tappedConn{conn, &tap{ReadWriteCloser: conn, show: l.show}}, nil
}

// Read implements net.Conn.
func (c tappedConn) Read(p []byte) (int, error) { return c.tap.Read(p) }

// Write implements net.Conn.
func (c tappedConn) Write(p []byte) (int, error) { return c.tap.Write(p) }
