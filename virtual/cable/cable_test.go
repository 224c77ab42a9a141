package cable_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/virtual/cable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo returns what comes back through a cable.
func echo(t *testing.T, o cable.Options, data []byte) []byte {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn) // until the test ends it
	}()
	c, err := cable.Open(listener.Addr().String(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = conn.Write(data) }() // what does not arrive is missing below
	got := make([]byte, len(data))
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	if c.Bytes() < uint64(2*len(data)) {
		t.Errorf("%d bytes passed, want %d each way", c.Bytes(), len(data))
	}
	return got
}

func TestALossyCableKeepsAllBytesInTheirOrder(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcde\n"), 1<<12)
	if got := echo(t, cable.Options{Name: "a", Seed: 1, Jitter: time.Millisecond, Loss: 0.05}, data); !bytes.Equal(got, data) {
		t.Error("other bytes arrived")
	}
}

func TestWhatIsSentDuringACutArrivesAfterIt(t *testing.T) {
	from := time.Now()
	to := from.Add(50 * time.Millisecond)
	echo(t, cable.Options{Name: "b", Cuts: []cable.Span{{From: from, To: to}}}, []byte("x"))
	if now := time.Now(); now.Before(to) {
		t.Errorf("it arrived %s before the end of the cut", to.Sub(now))
	}
}
