package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/store/memory"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is what a device may call itself.
const hostile = `site/<img src=x onerror=alert(1)>/"50 %" & 'é' * > . ü`

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// clock is set by hand. It is safe for concurrent use.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// live delivers what the test publishes.
type live struct {
	mu      sync.Mutex
	next    int
	readers map[int]func(json.RawMessage)
	joined  chan wire.Selection
}

func newLive() *live {
	return &live{readers: map[int]func(json.RawMessage){}, joined: make(chan wire.Selection, 100)}
}

func (l *live) Subscribe(sel wire.Selection, deliver func(json.RawMessage)) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.next
	l.next++
	l.readers[id] = deliver
	l.joined <- sel
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, id)
	}, nil
}

// count returns how many subscriptions there are.
func (l *live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.readers)
}

func (l *live) publish(m json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, deliver := range l.readers {
		deliver(m)
	}
}

// state is a node's state as the test wants it.
type state struct {
	health  answer.Health
	ledger  answer.Ledger
	err     error
	hanging chan struct{} // gets an entry when a statement hangs
}

func (s *state) Health(context.Context) answer.Health                   { return s.health }
func (s *state) LedgerBelow(ctx context.Context) (answer.Ledger, error) { return s.Ledger(ctx) }

func (s *state) Ledger(context.Context) (answer.Ledger, error)    { return s.ledger, s.err }
func (s *state) Devices(context.Context) ([]answer.Device, error) { return devices(), s.err }
func (s *state) SQL(ctx context.Context, q string, columns func([]string) error, row func([]any) error) error {
	switch q {
	case "refused":
		return fault.E("sql", fault.Refused, "", errors.New("only SELECT is allowed"))
	case "panic":
		panic("boom")
	case "secret":
		return errors.New("internals")
	case "hang":
		select {
		case s.hanging <- struct{}{}:
		default: // no test waits for it
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := columns([]string{"point", "n", "f", "t", "b", "nil"}); err != nil {
		return err
	}
	for i := range int64(10) {
		if q == "late" && i == 3 {
			return fault.E("sql", fault.Corrupt, "2026-03-01", errors.New("the file is damaged"))
		}
		if err := row([]any{hostile, i, 0.5, noon(), true, nil}); err != nil {
			return err
		}
	}
	return nil
}

func devices() []answer.Device {
	at := noon()
	return []answer.Device{
		{Path: hostile, Driver: "modbus", Line: "tcp", State: "online", Interval: 1, LastRead: &at, Reads: 7, Points: 2, LatencyMS: 1.5},
		{Path: "site/off", Driver: "modbus", State: "offline", LastError: "<b>no</b>", LastErrorTime: &at, ErrorKind: "timeout", Failures: 3, Lost: 4},
		{Path: "site/stuck", Driver: "modbus", State: "hung", LastError: "busy", LastErrorTime: &at, ErrorKind: "internal"},
	}
}

func ledger() answer.Ledger {
	return answer.Ledger{
		State:   "ok",
		Origins: []answer.Origin{{Origin: "no\"de\\1\n", Produced: 30, Acknowledged: 30, Stored: 30, Balanced: true}},
		Gaps:    []answer.Gap{{Origin: "n", First: 2, Last: 3, Samples: 20, Reason: "dropped", Noticed: noon()}},
		Log:     answer.Log{Bytes: 1000, MaxBytes: 2000, Blocks: 3},
	}
}

// node is a handler behind a real socket, with history.
type node struct {
	t       testing.TB
	url     string
	token   string
	clock   *clock
	live    *live
	state   *state
	logins  *identity.Logins
	catalog *catalog.Catalog
	store   *memory.Store
	client  *client.Client
	server  *httptest.Server
}

func start(t testing.TB, change ...func(*api.Config)) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{t: t, clock: &clock{at: noon().Add(time.Hour)}, live: newLive(), state: &state{ledger: ledger(), hanging: make(chan struct{}, 1)}, store: memory.New(memory.Options{})}
	n.state.health = answer.Health{Status: "ok", Summary: "all is well", Parts: []answer.Part{{Name: "bus", Status: "ok"}}}
	var err error
	n.catalog, err = catalog.Open(context.Background(), dir, noon)
	must(t, err)
	id, err := identity.Open(context.Background(), identity.Options{Dir: dir, Node: "n", Accounts: n.catalog, Now: n.clock.now})
	must(t, err)
	n.logins = id.Logins
	n.token, err = identity.ReadToken(filepath.Join(dir, identity.AdminTokenFile))
	must(t, err)
	n.fill()
	cfg := api.Config{
		Auth: id.Logins, People: id.Logins, Node: "n", Points: n.catalog, Live: n.live, Ledger: n.state, Health: n.state, Devices: n.state,
		Stats: n.store, Hosts: api.LoopbackHosts(),
		Version: answer.Version{Version: "1.2.3", Commit: "abc", Go: "go"},
		Log:     slog.New(slog.DiscardHandler), Now: n.clock.now, KeepAlive: time.Hour, Gather: time.Millisecond,
	}
	usual := operations(&cfg)
	cfg.Operations = usual
	for _, f := range change {
		f(&cfg)
	}
	if cfg.Operations == usual {
		cfg.Operations = operations(&cfg)
	}
	n.server = httptest.NewServer(api.New(cfg))
	n.url = n.server.URL
	t.Cleanup(func() {
		n.server.Close()
		n.server.Client().CloseIdleConnections()
		must(t, n.catalog.Close())
	})
	n.client, err = client.New(n.url, n.token, n.server.Client().Transport)
	must(t, err)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill records an hour of each kind of value, one sample a minute.
func (n *node) fill() {
	infos := []point.Info{
		{Path: "site/temp", Kind: point.Float, Unit: "degC", Interval: time.Minute, Device: "site", Tags: map[string]string{"equip": "ahu"}},
		{Path: hostile, Kind: point.Text, Description: "<script>alert(1)</script>", Device: "site"},
		{Path: "site/count", Kind: point.Int},
		{Path: "site/on", Kind: point.Bool, Writable: true},
		{Path: "site/silent", Kind: point.Float},
	}
	must(n.t, n.catalog.Upsert(context.Background(), infos))
	b := &point.Block{Origin: "n", Sequence: 1, Created: noon(), Points: []point.Path{"site/temp", hostile, "site/count", "site/on"}}
	for i := range 60 {
		at := noon().Add(time.Duration(i)*time.Minute + 123*time.Microsecond)
		values := []point.Value{point.FloatOf(float64(i) / 3), point.TextOf(`</script>,"x"`), point.IntOf(1<<60 + int64(i)), point.BoolOf(i%2 == 0)}
		for j, v := range values {
			s := point.Sample{Time: at, Value: v}
			if i == 30 {
				s.Value, s.Quality = point.Value{}, point.BadTimeout
			}
			b.Append(uint32(j), &s)
		}
	}
	_, err := n.store.Append(context.Background(), []*point.Block{b})
	must(n.t, err)
}

// option changes a request.
type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) option { return func(r *http.Request) { r.Host = name } }

func (n *node) bearer() option { return header("Authorization", "Bearer "+n.token) }

// reply is a whole response.
type reply struct {
	*http.Response
	body string
}

func (n *node) do(method, path, body string, options ...option) reply {
	n.t.Helper()
	resp, err := n.open(context.Background(), method, path, body, options...)
	must(n.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(n.t, err)
	return reply{resp, string(b)}
}

func (n *node) open(ctx context.Context, method, path, body string, options ...option) (*http.Response, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, n.url+path, content)
	must(n.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(req)
	}
	return n.server.Client().Do(req)
}

func (n *node) get(path string) reply { return n.do("GET", path, "", n.bearer()) }

func (r reply) problem(t testing.TB) answer.Problem {
	t.Helper()
	var p answer.Problem
	if m := r.Header.Get("Content-Type"); m != "application/problem+json" {
		t.Fatalf("status %d with %s: %.200s; want a problem", r.StatusCode, m, r.body)
	}
	must(t, json.Unmarshal([]byte(r.body), &p))
	if p.Status != r.StatusCode {
		t.Errorf("the problem says %d, the status is %d", p.Status, r.StatusCode)
	}
	return p
}
