package dnp3_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/gateway/dnp3"
	"voltbus/testing/peers"
)

// recorded is a node of whose points nothing comes live: a program sends them over HTTP.
type recorded struct {
	node

	mu      sync.Mutex
	samples []answer.Tuple
	asked   chan struct{} // for the newest value
}

func (n *recorded) add(value int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := time.Now().Add(-time.Hour).Truncate(time.Second).Add(time.Duration(value) * time.Millisecond)
	n.samples = append(n.samples, answer.Tuple{Millis: float64(at.UnixMicro()) / 1000, Value: json.RawMessage(fmt.Sprint(value))})
}

func (n *recorded) Latest(_ context.Context, s client.Span) (l answer.Latest, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range s.Points {
		if !strings.HasPrefix(p, "site/") {
			return l, fault.E("query.Latest", fault.NotFound, p, errors.New("there is no such point")) // as a node answers
		}
		if p == "site/meter/power" {
			last := n.samples[len(n.samples)-1]
			l.Samples = append(l.Samples, answer.Sample{Point: p, Kind: "int", Value: last.Value, Quality: "good", Time: last.Time()})
		}
	}
	select {
	case n.asked <- struct{}{}:
	default:
	}
	return l, nil
}

func (n *recorded) Range(_ context.Context, s client.Span, _ int, _ bool) (r answer.Range, err error) {
	from, err := time.Parse(time.RFC3339Nano, s.From)
	if err != nil {
		return r, err
	}
	to, err := time.Parse(time.RFC3339Nano, s.To)
	if err != nil {
		return r, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	series := answer.Series{Point: "site/meter/power", Kind: "int"}
	for _, t := range n.samples {
		if at := t.Time(); !at.Before(from) && at.Before(to) {
			series.Samples = append(series.Samples, t)
		}
	}
	r.Series = append(r.Series, series)
	return r, nil
}

func TestAttackAMasterGetsEveryChangeOfAPointThatIsOnlyRecorded(t *testing.T) {
	m, problems := dnp3.ParseMapping("map.yaml", []byte(`
listen: 127.0.0.1:0
points:
  - {point: site/meter/power, type: analog_input, index: 1, class: 2}
  - {point: nowhere/at/all, type: analog_input, index: 2, class: 2}
  - {point: nowhere/else, type: analog_input, index: 3, class: 2}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n := &recorded{node: node{live: make(chan string)}, asked: make(chan struct{}, 1)}
	n.add(0)
	var log bytes.Buffer
	g, err := dnp3.New(m, n, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := m.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for _, path := range []string{"nowhere/at/all", "nowhere/else"} {
			if got := strings.Count(log.String(), path); got != 1 {
				t.Errorf("the point %s is named %d times in %s", path, got, log.String())
			}
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	<-n.asked
	peer := peers.StartDNP3(t)
	peer.Do(t, "master %s", port)
	peer.Await(t, "value analog 1 0")
	for i := 1; i <= 60; i++ {
		n.add(i)
	}
	for i := 1; i <= 60; i++ {
		peer.Await(t, fmt.Sprintf("value analog 1 %d event", i))
	}
}
