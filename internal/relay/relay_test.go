package relay_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"voltbus/internal/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server accepts connections until the test ends.
func server(t *testing.T) (string, <-chan net.Conn) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns, done := make(chan net.Conn, 8), make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String(), conns
}

func dial(t *testing.T, to string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was ended still carries")
	}
}

func TestAConnectionIsLedElsewhereAndCut(t *testing.T) {
	first, atFirst := server(t)
	second, atSecond := server(t)
	begun := make(chan struct{}, 2)
	r, err := relay.Open(first, func(_ context.Context, near, far net.Conn) {
		begun <- struct{}{}
		_, _ = io.Copy(far, near)
	})
	if err != nil {
		t.Fatal(err)
	}
	near := dial(t, r.Addr())
	far := <-atFirst
	r.Lead(second)
	if _, err := near.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if b := make([]byte, 1); !reads(far, b) || b[0] != 'x' {
		t.Error("the connection that was open does not stay")
	}
	other := dial(t, r.Addr())
	defer (<-atSecond).Close()
	<-begun
	<-begun
	r.Cut()
	ended(t, near)
	ended(t, far)
	ended(t, other)
	r.Lead("")
	ended(t, dial(t, r.Addr()))
	if r.Made() != 2 {
		t.Errorf("%d connections were made, want 2", r.Made())
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.Addr()); err == nil {
		_ = conn.Close()
		t.Error("it accepts connections after it was closed")
	}
}

func reads(conn net.Conn, b []byte) bool {
	_, err := io.ReadFull(conn, b)
	return err == nil
}

func TestCloseEndsWhatWaits(t *testing.T) {
	to, conns := server(t)
	began := make(chan struct{})
	r, err := relay.Open(to, func(ctx context.Context, _, _ net.Conn) {
		close(began)
		<-ctx.Done()
	})
	if err != nil {
		t.Fatal(err)
	}
	dial(t, r.Addr())
	defer (<-conns).Close()
	<-began
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
