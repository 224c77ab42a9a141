package channel_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// pausing is a handler that must not be called during a pause.
type pausing struct {
	points

	t      *testing.T
	paused *atomic.Bool
}

func (p pausing) Begin(master.Info) {
	if p.paused.Load() {
		p.t.Error("something was handled during a pause")
	}
}

func (s *site) pausing(address link.Address, paused *atomic.Bool) (pausing, *station.Port) {
	s.t.Helper()
	h := pausing{points{make(chan object.Point, 100)}, s.t, paused}
	a, err := master.New(master.Config{Outstation: address, Enable: app.EventClasses}, h)
	if err != nil {
		s.t.Fatal(err)
	}
	return h, s.port(station.Config{Local: 1, Remote: address, Master: true}, a)
}

// line opens a line to an address.
func (s *site) line(dial channel.Dialer) *channel.Line {
	s.t.Helper()
	stream, err := dial(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	l := channel.NewLine(s.hub, stream)
	s.t.Cleanup(l.Close)
	return l
}

// runLine has a line read until the site ends.
func (s *site) runLine(l *channel.Line) {
	s.run.Go(func() {
		defer context.AfterFunc(s.ctx, l.Close)()
		_ = l.Run()
	})
}

func TestALineIsPausedAndItsPortsComeAndGo(t *testing.T) {
	bothWays(t, func(t *testing.T, workers int) {
		t.Helper()
		s := newSite(t, workers)
		var paused atomic.Bool
		first, there1 := s.outstation(10)
		second, there2 := s.outstation(11)
		handler1, here1 := s.pausing(10, &paused)
		handler2, here2 := s.pausing(11, &paused)
		l := s.line(channel.DialTCP(s.listen(there1, there2), nil))
		if err := l.Add(here1); err != nil {
			t.Fatal(err)
		}
		s.runLine(l)
		report(first, 0)
		expect(t, handler1.points, 0)
		for i := range int64(100) {
			l.Pause()
			paused.Store(true)
			report(first, i)
			if i == 50 {
				if err := l.Add(here2); err != nil {
					t.Fatal(err)
				}
			}
			paused.Store(false)
			l.Resume()
			expect(t, handler1.points, i)
		}
		report(second, 7)
		expect(t, handler2.points, 7)
		l.Remove(here1)
		if here1.Opened() {
			t.Error("a port that was removed is open")
		}
		report(second, 8)
		expect(t, handler2.points, 8)
		if err := l.Add(here1); err != nil {
			t.Fatal(err)
		}
		report(first, 9)
		expect(t, handler1.points, 9)
		if err := l.Add(here1); err == nil {
			t.Error("a port was added twice")
		}
	})
}

func TestALineSaysWhyItEnded(t *testing.T) {
	bothWays(t, func(t *testing.T, workers int) {
		t.Helper()
		s := newSite(t, workers)
		listener, err := channel.Listen(t.Context(), "127.0.0.1:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		l := s.line(channel.DialTCP(listener.Addr().String(), nil))
		peer, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, _, here := s.master(10)
		if err := l.Add(here); err != nil || l.Err() != nil {
			t.Fatal(err, l.Err())
		}
		l.Pause()
		s.runLine(l)
		l.Resume()
		_ = peer.Close()
		<-l.Done()
		if l.Err() == nil {
			t.Error("the line does not say why it ended")
		}
		if err := l.Add(here); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a line that has ended takes a port: %v", err)
		}
		idle := s.line(channel.DialTCP(listener.Addr().String(), nil))
		idle.Close()
		<-idle.Done()
		if err := idle.Run(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a line that was closed runs: %v", err)
		}
	})
}

// What is due is done during a pause, also if the reader has octets in hand that it may not handle.
func TestWhatIsDueDuringAPauseIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 0)
		near, far := net.Pipe()
		a, err := master.New(master.Config{Outstation: 10, ResponseTimeout: time.Second}, points{make(chan object.Point, 1)})
		if err != nil {
			t.Fatal(err)
		}
		l := channel.NewLine(s.hub, near)
		if err := l.Add(s.port(station.Config{Local: 1, Remote: 10, Master: true}, a)); err != nil {
			t.Fatal(err)
		}
		l.Pause()
		s.runLine(l)
		s.run.Go(func() { _, _ = io.Copy(io.Discard, far) })
		if _, err := far.Write([]byte{0x05}); err != nil { // the reader has it and waits
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := a.Do(t.Context(), master.ReadClasses(app.Class0)); !errors.Is(err, master.ErrTimeout) {
			t.Errorf("a request during a pause gives %v", err)
		}
		l.Close()
		<-l.Done()
		_ = far.Close()
	})
}

func TestAServerOfMastersAsksWhoIsMissingAndTellsWhoIsGone(t *testing.T) {
	bothWays(t, func(t *testing.T, workers int) {
		t.Helper()
		s := newSite(t, workers)
		gone := make(chan *station.Port, 10)
		server, err := channel.NewServer(s.hub, channel.ServerConfig{
			Ask: true, Anonymous: time.Hour, Gone: func(p *station.Port) { gone <- p },
		})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.start(func(ctx context.Context) error { return server.Run(ctx, listener) })

		var paused atomic.Bool
		first, there1 := s.outstation(10)
		second, there2 := s.outstation(11)
		handler1, here1 := s.pausing(10, &paused)
		handler2, here2 := s.pausing(11, &paused)
		server.Add(here1)
		stream, err := channel.DialTCP(listener.Addr().String(), nil)(s.ctx)
		if err != nil {
			t.Fatal(err)
		}
		device := channel.NewLine(s.hub, stream)
		for _, p := range []*station.Port{there1, there2} {
			if err := device.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		s.runLine(device)
		report(first, 1)
		expect(t, handler1.points, 1)
		server.Pause()
		paused.Store(true)
		report(first, 2)
		report(second, 3)
		server.Add(here2)
		paused.Store(false)
		server.Resume()
		expect(t, handler1.points, 2)
		expect(t, handler2.points, 3)
		if !server.Connected(here1) {
			t.Error("a station that reports is not connected")
		}
		server.Remove(here1)
		if server.Connected(here1) {
			t.Error("a port that was removed is connected")
		}
		server.Add(here1)
		report(first, 4)
		expect(t, handler1.points, 4)
		device.Close()
		for left := map[*station.Port]bool{here1: true, here2: true}; len(left) > 0; {
			select {
			case p := <-gone:
				delete(left, p)
			case <-time.After(patience):
				t.Fatal("nobody was told that the device is gone")
			}
		}
	})
}

func TestAConnectionOfWhichNobodyKnowsWhoItIsEnds(t *testing.T) {
	bothWays(t, func(t *testing.T, workers int) {
		t.Helper()
		s := newSite(t, workers)
		server, err := channel.NewServer(s.hub, channel.ServerConfig{Ask: true, Anonymous: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.start(func(ctx context.Context) error { return server.Run(ctx, listener) })
		o, there := s.outstation(10)
		_, handler, here := s.master(10)
		server.Add(here)
		s.dial(channel.DialTCP(listener.Addr().String(), nil), there)
		report(o, 1)
		expect(t, handler, 1)
		stranger, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer stranger.Close()
		_ = stranger.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, stranger); err != nil {
			t.Errorf("the stranger's connection gives %v", err)
		}
		report(o, 2)
		expect(t, handler, 2)
	})
}
