package drivertest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/point"
)

// patience is how long to wait for a report that must come.
const patience = 2 * time.Minute

// ear is a subscribed session.
type ear struct {
	session driver.Subscriber
	news    chan struct{}
	closed  atomic.Bool
}

// listenTo subscribes to a session. A call of news after closed is set fails the test.
func listenTo(t *testing.T, s driver.Session, names []string) *ear {
	t.Helper()
	subscriber, ok := s.(driver.Subscriber)
	if !ok {
		t.Fatal("the session is no driver.Subscriber")
	}
	e := &ear{session: subscriber, news: make(chan struct{}, 1)}
	err := subscriber.Subscribe(t.Context(), names, func() {
		if e.closed.Load() {
			t.Error("there is news after Close returned")
		}
		select {
		case e.news <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	return e
}

// hear takes reports until one matches or Take returns an error.
func (e *ear) hear(t *testing.T, fits func(point.Sample) bool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for found := false; !found; {
		select {
		case <-ctx.Done():
			t.Fatal("the news never came")
		case <-e.news:
		}
		err := e.session.Take(ctx, func(s point.Sample) { found = found || fits(s) })
		if err != nil {
			return err
		}
	}
	return nil
}

func reports(t *testing.T, h Harness) {
	cfg := h.Reporting(t, h.Peer)
	line, first, done := open(t, h, cfg)
	defer done()
	second, err := line.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open a second session: %v", err)
	}
	ears := []*ear{listenTo(t, first, allNames(cfg)), listenTo(t, second, allNames(cfg))}
	for range 3 {
		name, value := h.Report(t)
		for _, e := range ears {
			seen := 0
			count := func(s point.Sample) bool {
				if string(s.Point) == name && s.Value == value {
					seen++
				}
				return seen > 0
			}
			if err := e.hear(t, count); err != nil {
				t.Fatalf("take: %v", err)
			}
			if err := e.session.Take(t.Context(), func(s point.Sample) { count(s) }); err != nil {
				t.Errorf("take with nothing to take: %v", err)
			}
			if seen != 1 {
				t.Errorf("%s = %v was reported %d times", name, value, seen)
			}
		}
	}
	if err := second.Close(); err != nil {
		t.Errorf("close the second session: %v", err)
	}
	ears[1].closed.Store(true)
	name, value := h.Report(t)
	if err := ears[0].hear(t, func(s point.Sample) bool { return string(s.Point) == name && s.Value == value }); err != nil {
		t.Errorf("take after the other session was closed: %v", err)
	}
}

func reportsLoss(t *testing.T, h Harness) {
	proxy := NewProxy(t, h.Peer)
	defer proxy.Close()
	cfg := h.Reporting(t, proxy.Addr())
	_, s, done := open(t, h, cfg)
	defer done()
	mustRead(t, s, goodNames(h, cfg))
	e := listenTo(t, s, goodNames(h, cfg))
	proxy.Cut()
	err := e.hear(t, func(point.Sample) bool { return false })
	if !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v, want ErrNotConnected", err)
	}
	if err := e.session.Subscribe(t.Context(), goodNames(h, cfg), func() {}); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("to subscribe again gives %v, want ErrNotConnected", err)
	}
}
