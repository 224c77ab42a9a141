package link_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"voltbus/testing/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each line with the same line.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().String()
}

// talk is a connection through a link.
type talk struct {
	net.Conn
	t     *testing.T
	lines *bufio.Reader
}

func dial(t *testing.T, l *link.Link) *talk {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &talk{c, t, bufio.NewReader(c)}
}

func (c *talk) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) hear(line string) {
	c.t.Helper()
	if got, err := c.lines.ReadString('\n'); err != nil || got != line+"\n" {
		c.t.Errorf("heard %q, %v, want %q", got, err, line)
	}
}

func TestALinkCarriesUntilItIsCut(t *testing.T) {
	to, l := echo(t), link.New(t)
	l.Lead(to)
	c := dial(t, l)
	c.say("one")
	c.hear("one")
	l.Cut()
	if got, err := io.ReadAll(c.lines); len(got) > 0 {
		t.Errorf("after the cut comes %q, %v", got, err)
	}
	again := dial(t, l)
	again.say("two")
	again.hear("two")
	l.Lead("")
	if _, err := io.ReadAll(dial(t, l)); err != nil {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	again.say("three")
	again.hear("three")
}

func TestOfAStrandedConnectionOnlyOneEndHears(t *testing.T) {
	there := make(chan net.Conn, 2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			there <- c
		}
	})
	t.Cleanup(func() { _ = listener.Close(); accepting.Wait() })
	l := link.New(t)
	l.Lead(listener.Addr().String())
	c := dial(t, l)
	far := <-there
	c.say("one")
	if _, err := io.ReadFull(far, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	l.Strand()
	if got, _ := io.ReadAll(c.lines); len(got) > 0 {
		t.Errorf("%q comes after the near end was lost", got)
	}
	for range 100 { // more than the link holds
		if _, err := far.Write(make([]byte, 4<<10)); err != nil {
			t.Fatalf("the far end heard of it: %v", err)
		}
	}
	if err := far.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := far.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("the far end heard %v", err)
	}
	_ = far.Close()
	again := dial(t, l)
	again.say("two")
	last := <-there
	defer last.Close()
	if _, err := io.ReadFull(last, make([]byte, 4)); err != nil {
		t.Errorf("a new connection: %v", err)
	}
}

func TestEachDirectionIsHeldByItself(t *testing.T) {
	l := link.New(t)
	l.Lead(echo(t))
	c := dial(t, l)
	c.say("one")
	c.hear("one")
	l.Hold(link.Up, true)
	c.say("two")
	if n := l.Carried(link.Up); n != 4 {
		t.Errorf("%d bytes passed, want 4", n)
	}
	l.Hold(link.Down, true)
	l.Hold(link.Up, false)
	for tick := time.NewTicker(time.Millisecond); l.Carried(link.Up) != 8; <-tick.C {
	}
	if n := l.Carried(link.Down); n != 4 {
		t.Errorf("%d bytes came back, want 4", n)
	}
	l.Hold(link.Down, false)
	c.hear("two")
}

func TestALinkIsAsFarAndAsSlowAsItIsTold(t *testing.T) {
	l := link.New(t)
	l.Lead(echo(t))
	c := dial(t, l)
	const delay = 30 * time.Millisecond
	l.Delay(delay)
	began := time.Now()
	c.say("one")
	c.hear("one")
	if took := time.Since(began); took < 2*delay {
		t.Errorf("there and back took %v, want at least %v", took, 2*delay)
	}
	l.Delay(0)
	l.Rate(100_000)
	began = time.Now()
	text := make([]byte, 30_000)
	sent := make(chan error, 1)
	go func() { _, err := c.Write(text); sent <- err }()
	if _, err := io.ReadFull(c.lines, make([]byte, len(text))); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("30,000 bytes took %v with 100,000 a second", took)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

func TestAFlappingLinkEndsConnectionsWithinAMessage(t *testing.T) {
	l := link.New(t)
	l.Lead(echo(t))
	l.Flap(10)
	for range 3 {
		c := dial(t, l)
		_, _ = io.Copy(c, iotest.OneByteReader(io.LimitReader(zeros{}, 25))) // the end may come before all is written
		if got, _ := io.ReadAll(c.lines); len(got) > 10 {                    // a cut may reset the connection
			t.Errorf("%d bytes came back of a connection that lives for 10", len(got))
		}
	}
	if n := l.Carried(link.Up); n != 30 {
		t.Errorf("%d bytes passed in 3 connections that live for 10", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
