package dnp3_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/gateway/dnp3"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a node's interface in memory. A live message that is empty ends the stream.
type node struct {
	live    chan string
	pattern chan string // of every stream, if not nil
}

func (*node) Latest(_ context.Context, s client.Span) (l answer.Latest, err error) {
	for _, p := range s.Points {
		l.Samples = append(l.Samples, answer.Sample{
			Point: p, Kind: "float", Value: json.RawMessage("21.5"), Quality: "good", Time: time.Now(),
		})
	}
	return l, nil
}

func (*node) Range(context.Context, client.Span, int, bool) (r answer.Range, err error) {
	return r, nil
}

func (*node) Points(_ context.Context, f client.Filter) (p answer.Points, err error) {
	if strings.HasPrefix(f.Pattern, "site/") {
		p.Points = []answer.Point{{Path: f.Pattern}}
	}
	return p, nil
}

func (n *node) Follow(ctx context.Context, want client.Live, emit func(json.RawMessage) error) error {
	if n.pattern != nil {
		n.pattern <- want.Pattern
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case message := <-n.live:
			if message == "" {
				return io.EOF
			}
			if err := emit(json.RawMessage(message)); err != nil {
				return err
			}
		}
	}
}

const mapping = `
listen: 127.0.0.1:0
points:
  - {point: site/meter/power, type: analog_input, index: 1, class: 2, scale: 10}
  - {point: site/meter/power, type: analog_output, index: 2}
  - {point: site/relay/closed, type: binary_input, index: 0, class: 1}
`

func TestAForeignMasterSeesThePointsOfANode(t *testing.T) {
	m, problems := dnp3.ParseMapping("map.yaml", []byte(mapping))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n := &node{live: make(chan string), pattern: make(chan string, 10)}
	g, err := dnp3.New(m, n, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := g.Missing(t.Context()); err != nil || len(missing) > 0 {
		t.Fatal(missing, err)
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
	}()

	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer := peers.StartDNP3(t)
	n.live <- `{"device":"site/meter","time":"2026-03-04T05:06:07Z","points":{"power":21.5}}` // the gateway listens
	peer.Do(t, "master %s", port)
	if got := peer.Await(t, "value analog 1"); !strings.HasPrefix(got, "215 ") {
		t.Errorf("the analog input is %q, want 21.5 × 10", got)
	}
	n.live <- `{"device":"site/meter","time":"2026-03-04T05:06:07Z","points":{"power":30,"other":1}}`
	peer.Await(t, "value analog 1 300 event")
	n.live <- `{"device":"site/relay","time":"2026-03-04T05:06:07Z","points":{"closed":false}}`
	peer.Await(t, "value binary 0 0 event")
	peer.Do(t, "direct 2 7.5")
	if got := peer.Await(t, "result"); got != "SUCCESS NOT_AUTHORIZED" {
		t.Errorf("a command ends with %q", got)
	}
	peer.Do(t, "direct 9 7.5")
	if got := peer.Await(t, "result"); got != "SUCCESS NOT_SUPPORTED" {
		t.Errorf("a command to no point ends with %q", got)
	}

	if got := <-n.pattern; got != "site" {
		t.Errorf("the gateway listens to %q, want what the points have in common", got)
	}
	n.live <- "" // the stream ends
	peer.Await(t, "value analog 1 300 event")
	<-n.pattern // and begins again
	peer.Await(t, "value analog 1 215 event")
}

func TestAMasterFromAnAddressThatIsNotAllowedIsTurnedAwayAndNoted(t *testing.T) {
	m, problems := dnp3.ParseMapping("map.yaml", []byte("allow: [10.0.0.0/8, 192.168.1.5]"+mapping))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var log bytes.Buffer
	g, err := dnp3.New(m, &node{live: make(chan string)}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := m.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx, listener) }()
	master, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = master.Close() }()
	if n, err := master.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes came", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, "connection from an address that allow does not hold") || !strings.Contains(got, "127.0.0.1") {
		t.Errorf("the log says %q", got)
	}
}

func TestAPointThatTheNodeDoesNotHaveIsNamed(t *testing.T) {
	m, _ := dnp3.ParseMapping("map.yaml", []byte(strings.ReplaceAll(mapping, "site/relay", "nowhere")))
	g, err := dnp3.New(m, &node{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := g.Missing(t.Context()); err != nil || len(missing) != 1 || missing[0] != "nowhere/closed" {
		t.Errorf("got %v, %v", missing, err)
	}
}

func TestEveryProblemOfAMappingIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"listen: [1]":                     "map.yaml:1: listen:",
		"pionts: []":                      "map.yaml:1: pionts:",
		"points: []":                      "points: is empty",
		"masters: []":                     "masters: names 0 masters",
		"masters: [10]":                   "masters[0]: 10 is no master's link address",
		"masters: [1, 1]":                 "masters[1]: 1 stands there twice",
		"allow: [relay]":                  `allow[0]: "relay" is no address`,
		"tls: {key: a}":                   "tls: needs certificate, key and ca",
		"points: [{type: thermometer}]":   "points[0].type:",
		"points: [{type: counter}]":       "points[0].point: is missing",
		"points: [{point: a, index: -1}]": "points[0].index: -1 is out of range",
		"points: [{point: a, type: counter, class: 4}]":                            "points[0].class: 4 is no class",
		"points: [{point: a, type: counter, variation: 9}]":                        "points[0].variation: g20v9 is not known",
		"points: [{point: a, type: counter}, {point: b, type: counter, index: 0}]": "points[1].index: counter 0 is a already",
		"points: [{point: a, type: counter, deadband: -1}]":                        "points[0].deadband: -1 is negative",
	} {
		_, problems := dnp3.ParseMapping("map.yaml", []byte(text))
		found := false
		for _, p := range problems {
			found = found || strings.Contains(p.String(), want)
		}
		if !found {
			t.Errorf("%s gives %v, want %s", text, problems, want)
		}
	}
}
