package admission

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// from is a listener whose connections come from where the test says.
type from struct {
	net.Listener
	conns chan net.Conn
}

func (f *from) Accept() (net.Conn, error) {
	c, ok := <-f.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// peer is a connection from an address.
type peer struct {
	net.Conn
	address string
}

type address string

func (a address) Network() string   { return "tcp" }
func (a address) String() string    { return string(a) }
func (p peer) RemoteAddr() net.Addr { return address(p.address) }

// crowd is a listener with a number of connections that come.
type crowd struct {
	t *testing.T
	*Listener
	conns chan net.Conn
}

func newCrowd(t *testing.T, limits Limits) *crowd {
	conns := make(chan net.Conn, 1)
	return &crowd{t, New(&from{conns: conns}, limits), conns}
}

// come connects from an address, and returns the far end and, unless it was closed, the near one.
func (c *crowd) come(at string) (far net.Conn, near net.Conn) {
	c.t.Helper()
	far, side := net.Pipe()
	c.t.Cleanup(func() { _ = far.Close() })
	c.conns <- peer{side, at}
	near, err := c.Accept()
	if err != nil {
		c.t.Fatal(err)
	}
	return far, near
}

func ended(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func TestAttackWhoHoldsEveryConnectionShutsNobodyOut(t *testing.T) {
	c := newCrowd(t, Limits{Total: 8})
	var held []net.Conn
	for range 20 {
		far, _ := c.come("127.0.0.1:1000")
		held = append(held, far)
	}
	if open, closed := c.State(); open != 8 || closed != 12 {
		t.Errorf("%d are open and %d were closed, want 8 and 12", open, closed)
	}
	for i, far := range held[:12] {
		if !ended(far) {
			t.Errorf("connection %d, which waited longer than others, is open", i)
		}
	}
}

func TestAttackAnAddressHasOnlyItsShare(t *testing.T) {
	c := newCrowd(t, Limits{Total: 8, Address: 3})
	other, near := c.come("192.0.2.9:1")
	var held []net.Conn
	for _, at := range []string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::ffff:1]:1", "[2001:db8::3]:7", "[2001:db8::4]:1"} { // one network
		far, _ := c.come(at)
		held = append(held, far)
	}
	if open, _ := c.State(); open != 4 {
		t.Errorf("%d are open, want the other's and 3", open)
	}
	if !ended(held[0]) || !ended(held[1]) {
		t.Error("not the oldest of the address were closed")
	}
	go func() { _, _ = near.Write([]byte("x")) }()
	if ended(other) {
		t.Error("another address was closed for it")
	}
}

func TestWhoWorksIsNotClosedForOthers(t *testing.T) {
	c := newCrowd(t, Limits{Total: 2})
	_, first := c.come("192.0.2.1:1")
	done := Work(Context(context.Background(), first))
	second, _ := c.come("192.0.2.2:1")
	_, third := c.come("192.0.2.3:1")
	if !ended(second) {
		t.Error("the one that waits is open")
	}
	Work(Context(context.Background(), third))
	far, side := net.Pipe()
	defer far.Close()
	c.conns <- peer{side, "192.0.2.4:1"}
	close(c.conns)
	if _, err := c.Accept(); !errors.Is(err, net.ErrClosed) || !ended(far) {
		t.Errorf("where all work, a new one is let in (%v)", err)
	}
	done()
	done() // again does nothing
	if open, closed := c.State(); open != 2 || closed != 2 {
		t.Errorf("%d open, %d closed", open, closed)
	}
}

func TestAClosedConnectionIsForgottenOnce(t *testing.T) {
	c := newCrowd(t, Limits{Total: 2})
	_, near := c.come("192.0.2.1:1")
	_ = near.Close()
	_ = near.Close()
	Work(Context(context.Background(), near))()
	if open, _ := c.State(); open != 0 || len(c.each) != 0 || c.waiting.Len() != 0 {
		t.Errorf("%d open, %v, %d waiting", open, c.each, c.waiting.Len())
	}
}
