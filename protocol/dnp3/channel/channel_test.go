package channel_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds how long a test waits for an event.
const patience = 10 * time.Second

// points is a handler that passes points on.
type points struct {
	arrived chan object.Point
}

func (p points) Begin(master.Info) {}
func (p points) End(master.Info)   {}
func (p points) Header(h app.Header) {
	for point := range h.Points() {
		p.arrived <- point
	}
}

// next waits for a point.
func (p points) next(t *testing.T) object.Point {
	t.Helper()
	select {
	case point := <-p.arrived:
		return point
	case <-time.After(patience):
		t.Fatal("no point came")
		return object.Point{}
	}
}

// site is a program with masters and outstations.
type site struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it ends with the test, as the site does
	hub *channel.Hub
	run sync.WaitGroup
}

// bothWays runs a test with a goroutine for each connection and with workers.
func bothWays(t *testing.T, test func(t *testing.T, workers int)) {
	t.Helper()
	t.Run("a goroutine for each connection", func(t *testing.T) { test(t, 0) })
	t.Run("workers", func(t *testing.T) { test(t, 2) })
}

func newSite(t *testing.T, workers int) *site {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &site{t: t, ctx: ctx, hub: channel.NewHub(channel.HubConfig{Workers: workers})}
	s.start(s.hub.Run)
	t.Cleanup(func() {
		cancel()
		s.run.Wait()
	})
	return s
}

func (s *site) start(run func(ctx context.Context) error) {
	s.run.Go(func() {
		if err := run(s.ctx); err != nil {
			s.t.Error(err)
		}
	})
}

// listen serves ports and returns the address.
func (s *site) listen(ports ...*station.Port) string {
	s.t.Helper()
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.serve(listener, ports...)
	return listener.Addr().String()
}

func (s *site) serve(listener net.Listener, ports ...*station.Port) {
	s.t.Helper()
	server, err := channel.NewServer(s.hub, channel.ServerConfig{Ports: ports})
	if err != nil {
		s.t.Fatal(err)
	}
	s.start(func(ctx context.Context) error { return server.Run(ctx, listener) })
}

// dial connects ports. The returned channel is told when they are connected.
func (s *site) dial(dial channel.Dialer, ports ...*station.Port) <-chan string {
	s.t.Helper()
	online := make(chan string, 100)
	client, err := channel.NewClient(s.hub, channel.ClientConfig{
		Dial: dial, Ports: ports, RetryMin: 10 * time.Millisecond,
		Notify: func(state channel.State) {
			if state.Online {
				select {
				case online <- state.Peer:
				default: // nobody asks any more
				}
			}
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.start(client.Run)
	return online
}

func (s *site) outstation(address link.Address) (*outstation.Outstation, *station.Port) {
	s.t.Helper()
	o, err := outstation.New(outstation.Config{
		Points: []outstation.PointConfig{
			{Kind: object.KindAnalogInput, Index: 0, Class: app.Class1},
			{Kind: object.KindBinaryOutput, Index: 0},
		},
		Callbacks: outstation.Callbacks{Operate: func(tx *outstation.Tx, c outstation.Command) object.Status {
			tx.Set(object.KindAnalogInput, object.Point{Value: object.Signed(int64(c.CROB.Count))}, outstation.Force)
			return object.StatusSuccess
		}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	session, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true, ConfirmTimeout: 500 * time.Millisecond})
	if err != nil {
		s.t.Fatal(err)
	}
	return o, s.port(station.Config{Local: address, Remote: 1}, session)
}

func (s *site) master(address link.Address) (*master.Association, points, *station.Port) {
	s.t.Helper()
	handler := points{make(chan object.Point, 100)}
	a, err := master.New(master.Config{Outstation: address, Enable: app.EventClasses}, handler)
	if err != nil {
		s.t.Fatal(err)
	}
	return a, handler, s.port(station.Config{Local: 1, Remote: address, Master: true}, a)
}

func (s *site) port(c station.Config, m station.Machine) *station.Port {
	s.t.Helper()
	p, err := station.NewPort(c, m)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// report makes an event.
func report(o *outstation.Outstation, n int64) {
	o.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Value: object.Signed(n), Flags: object.FlagOnline}, outstation.Force)
	})
}

func expect(t *testing.T, from points, n int64) {
	t.Helper()
	if got := from.next(t).Value.Int(); got != n {
		t.Fatalf("value %d arrived, want %d", got, n)
	}
}

func TestEventsArriveWhicheverSideDials(t *testing.T) {
	bothWays(t, eventsArriveWhicheverSideDials)
}

func eventsArriveWhicheverSideDials(t *testing.T, workers int) {
	t.Helper()
	t.Run("the master dials", func(t *testing.T) {
		s := newSite(t, workers)
		o, there := s.outstation(10)
		_, handler, here := s.master(10)
		s.dial(channel.DialTCP(s.listen(there), nil), here)
		report(o, 7)
		expect(t, handler, 7)
	})
	t.Run("the outstation dials", func(t *testing.T) {
		s := newSite(t, workers)
		o, there := s.outstation(10)
		_, handler, here := s.master(10)
		s.dial(channel.DialTCP(s.listen(here), nil), there)
		report(o, 7)
		expect(t, handler, 7)
	})
	t.Run("several outstations dial one master's port", func(t *testing.T) {
		s := newSite(t, workers)
		first, there1 := s.outstation(10)
		second, there2 := s.outstation(11)
		_, handler1, here1 := s.master(10)
		_, handler2, here2 := s.master(11)
		address := s.listen(here1, here2)
		s.dial(channel.DialTCP(address, nil), there1)
		s.dial(channel.DialTCP(address, nil), there2)
		report(first, 1)
		report(second, 2)
		expect(t, handler1, 1)
		expect(t, handler2, 2)
	})
	t.Run("several outstations share one connection", func(t *testing.T) {
		s := newSite(t, workers)
		first, there1 := s.outstation(10)
		second, there2 := s.outstation(11)
		_, handler1, here1 := s.master(10)
		_, handler2, here2 := s.master(11)
		s.dial(channel.DialTCP(s.listen(there1, there2), nil), here1, here2)
		report(first, 1)
		report(second, 2)
		expect(t, handler1, 1)
		expect(t, handler2, 2)
	})
}

func TestAServerSaysWhoIsOnAConnection(t *testing.T) { bothWays(t, aServerSaysWhoIsOnAConnection) }

func aServerSaysWhoIsOnAConnection(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	_, there := s.outstation(10)
	states := make(chan channel.State, 100)
	server, err := channel.NewServer(s.hub, channel.ServerConfig{
		Ports: []*station.Port{there}, Notify: func(state channel.State) { states <- state },
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.start(func(ctx context.Context) error { return server.Run(ctx, listener) })
	peer, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	want := peer.LocalAddr().String()
	if state := <-states; !state.Online || state.Peer != want {
		t.Errorf("the connection came as %+v, want one from %s", state, want)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	if state := <-states; state.Online || state.Peer != want {
		t.Errorf("the connection went as %+v, want one from %s", state, want)
	}
}

func TestRequestsAreAnsweredFromAnyGoroutine(t *testing.T) {
	bothWays(t, requestsAreAnsweredFromAnyGoroutine)
}

func requestsAreAnsweredFromAnyGoroutine(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	_, there := s.outstation(10)
	a, handler, here := s.master(10)
	<-s.dial(channel.DialTCP(s.listen(there), nil), here)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var askers sync.WaitGroup
	for range 10 {
		askers.Go(func() {
			if result, err := a.Do(ctx, master.Operate(master.Latch(0, true))); err != nil || len(result.Statuses) != 1 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
	askers.Wait()
	for range 10 {
		expect(t, handler, 1)
	}
}

func TestANewConnectionTakesThePortFromAnOldOne(t *testing.T) {
	bothWays(t, aNewConnectionTakesThePortFromAnOldOne)
}

func aNewConnectionTakesThePortFromAnOldOne(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	o, there := s.outstation(10)
	address := s.listen(there)
	_, first, here1 := s.master(10)
	s.dial(channel.DialTCP(address, nil), here1)
	report(o, 1)
	expect(t, first, 1)
	idle, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	report(o, 2)
	expect(t, first, 2)

	_, second, here2 := s.master(10)
	s.dial(channel.DialTCP(address, nil), here2)
	for n := int64(3); ; n++ {
		report(o, n)
		select {
		case <-second.arrived:
			return
		case <-first.arrived:
		case <-time.After(patience):
			t.Fatal("the second connection got nothing")
		}
	}
}
