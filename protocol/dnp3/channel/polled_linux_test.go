package channel_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// chatter is a machine that says something long whenever it is asked to.
type chatter struct {
	mu    sync.Mutex
	wake  func()
	words int // still to be said
}

func (c *chatter) Open(time.Time, *station.Output) {}
func (c *chatter) Close(time.Time)                 {}
func (c *chatter) Deadline() time.Time             { return time.Time{} }

func (c *chatter) Receive(time.Time, station.Message, *station.Output) {}

func (c *chatter) SetWake(wake func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake = wake
}

func (c *chatter) Tick(_ time.Time, out *station.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; c.words > 0; c.words-- {
		out.Send(make([]byte, station.FragmentSize))
	}
}

// say says n fragments, each with a step of its own.
func (c *chatter) say(n int) {
	for range n {
		c.mu.Lock()
		c.words++
		wake := c.wake
		c.mu.Unlock()
		if wake != nil {
			wake()
		}
	}
}

// small dials a socket that takes little at once.
func small(address string) channel.Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		stream, err := channel.DialTCP(address, nil)(ctx)
		if tcp, ok := stream.(*net.TCPConn); ok {
			err = tcp.SetWriteBuffer(8 << 10)
		}
		return stream, err
	}
}

// talk connects a chatter to a listener that the test serves itself.
func talk(t *testing.T, s *site) (*chatter, net.Conn, <-chan error) {
	t.Helper()
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	c := &chatter{}
	port := s.port(station.Config{Local: 1, Remote: 10, Master: true}, c)
	states := make(chan channel.State, 100)
	client, err := channel.NewClient(s.hub, channel.ClientConfig{
		Dial: small(listener.Addr().String()), Ports: []*station.Port{port},
		Notify: func(state channel.State) { states <- state },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.start(client.Run)
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	if state := <-states; !state.Online {
		t.Fatal(state.Err)
	}
	ended := make(chan error, 1)
	s.run.Go(func() {
		for {
			select {
			case state := <-states:
				if !state.Online {
					ended <- state.Err
					return
				}
			case <-s.ctx.Done():
				return
			}
		}
	})
	return c, peer, ended
}

func TestWhatASlowPeerCannotTakeAtOnceArrivesLaterAndInOrder(t *testing.T) {
	s := newSite(t, 1)
	c, peer, _ := talk(t, s)
	const words = 300 // more than small sockets hold, less than a connection keeps
	c.say(words)
	var parser link.Parser
	var room [link.MaxPayload]byte
	octets, buffer := []byte(nil), make([]byte, 65536)
	for frames, want := 0, words*9; frames < want; {
		if err := peer.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		n, err := peer.Read(buffer)
		if err != nil {
			t.Fatalf("after %d frames of %d: %v", frames, want, err)
		}
		octets = append(octets, buffer[:n]...)
		for {
			frame, used, ok := parser.Next(octets, &room)
			octets = octets[used:]
			if !ok {
				break
			}
			if got := int(frame.Payload[0] & 63); got != frames%64 {
				t.Fatalf("segment %d has number %d", frames, got)
			}
			frames++
		}
	}
	if n := parser.Counters().SkippedOctets; n != 0 {
		t.Errorf("%d octets arrived torn", n)
	}
}

func TestAPeerThatNeverReadsLosesItsConnection(t *testing.T) {
	s := newSite(t, 1)
	c, _, ended := talk(t, s)
	for deadline := time.After(patience); ; {
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "does not read what is sent") {
				t.Errorf("it ended with %v", err)
			}
			return
		case <-deadline:
			t.Fatal("the connection still stands")
		default:
			c.say(10)
		}
	}
}

func TestConnectionsOfWorkersEndWithTheirHub(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	hub := channel.NewHub(channel.HubConfig{Workers: 1})
	s := &site{t: t, ctx: t.Context(), hub: hub}
	running := make(chan struct{})
	go func() {
		defer close(running)
		if err := hub.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	clients, cancel := context.WithCancel(t.Context())
	s.ctx = clients
	defer s.run.Wait()
	defer cancel()
	_, _, ended := talk(t, s)
	stop()
	<-running
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended without a reason")
		}
	case <-time.After(patience):
		t.Fatal("nobody serves the connection, and it still stands")
	}
}
