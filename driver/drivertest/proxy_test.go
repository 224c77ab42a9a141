package drivertest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo serves connections that send back what they get, until the test ends.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// ask sends a question through the proxy and returns what comes back within the limit.
func ask(t *testing.T, conn net.Conn, limit time.Duration) (string, error) {
	t.Helper()
	if _, err := conn.Write([]byte("question")); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("question"))
	n, err := io.ReadFull(conn, answer)
	return string(answer[:n]), err
}

func TestProxyDoesWhatItIsTold(t *testing.T) {
	const long, short = 10 * time.Second, 50 * time.Millisecond
	isTimeout := func(err error) bool {
		var timeout net.Error
		return errors.As(err, &timeout) && timeout.Timeout()
	}
	isEnd := func(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
	isNil := func(err error) bool { return err == nil }
	for name, c := range map[string]struct {
		fault func(*Proxy)
		limit time.Duration
		want  string
		err   func(error) bool
	}{
		"without a fault all passes":     {func(*Proxy) {}, long, "question", isNil},
		"a hanging line gives nothing":   {(*Proxy).Hang, short, "", isTimeout},
		"a slow line gives nothing yet":  {func(p *Proxy) { p.Delay(time.Hour) }, short, "", isTimeout},
		"a cut line ends in the middle":  {func(p *Proxy) { p.CutAfter(3) }, long, "que", isEnd},
		"a half-closed line ends":        {(*Proxy).HalfClose, long, "", isEnd},
		"a corrupt line changes answers": {func(p *Proxy) { p.Corrupt(bytes.ToUpper) }, long, "QUESTION", isNil},
		"a healed line passes all":       {func(p *Proxy) { p.Hang(); p.Heal() }, long, "question", isNil},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewProxy(t, echo(t))
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for p.Accepted() == 0 {
				runtime.Gosched()
			}
			c.fault(p)
			if got, err := ask(t, conn, c.limit); got != c.want || !c.err(err) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			if p.Accepted() != 1 {
				t.Errorf("%d connections were made, want 1", p.Accepted())
			}
		})
	}
}
