package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/api"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// listen opens a stream and waits until it is subscribed.
func (n *node) listen(path string, options ...option) (lines *bufio.Reader, hangUp func()) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := n.open(ctx, "GET", path, "", options...) //nolint:bodyclose // hangUp closes it
	must(n.t, err)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		n.t.Fatalf("the stream gives %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	lines = bufio.NewReaderSize(resp.Body, 1<<20)
	if line, err := lines.ReadString('\n'); err != nil || line != ": connected\n" {
		n.t.Fatalf("the stream begins with %q, %v", line, err)
	}
	return lines, func() {
		cancel()
		_ = resp.Body.Close()
	}
}

// event reads until the next event and returns its name and data.
func event(t *testing.T, lines *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		must(t, err)
		switch {
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimSpace(line[7:])
		case strings.HasPrefix(line, "data: "):
			return name, strings.TrimSuffix(line[6:], "\n")
		}
	}
}

func TestTheStreamPassesMessagesOn(t *testing.T) {
	n := start(t)
	lines, hangUp := n.listen("/api/v1/stream?pattern=site/**", n.bearer())
	defer hangUp()
	messages := []string{
		`{"device":"site","time":"2026-03-01T12:00:00Z","points":{"temp":1.5}}`,
		`{"device":"\u003cimg\u003e\nevent: error","points":{}}`,
	}
	for _, m := range messages {
		n.live.publish(json.RawMessage(m))
		if name, data := event(t, lines); name != "scan" || data != m {
			t.Errorf("got %s %s, want %s", name, data, m)
		}
	}
	n.live.publish(json.RawMessage("{\r\n\"a\": 1}\n"))
	if name, data := event(t, lines); name != "scan" || data != `{"a":1}` {
		t.Errorf("a message with line breaks gives %s %s", name, data)
	}
	n.live.publish(json.RawMessage("{\nnot JSON"))
	n.live.publish(json.RawMessage(`{"b":2}`))
	if _, data := event(t, lines); data != `{"b":2}` {
		t.Errorf("after a message that is not JSON comes %s", data)
	}
}

func TestAStreamAsksForWhatItsReaderSelects(t *testing.T) {
	n := start(t)
	tests := []struct {
		name, query string
		patterns    []point.Pattern
		kept, cut   point.Path
	}{
		{"everything", "", nil, "any/thing", ""},
		{"a pattern", "?pattern=a/*/b", []point.Pattern{"a/*/b"}, "a/x/b", ""},
		{"several patterns, in any order, one twice", "?pattern=c&pattern=a&pattern=c", []point.Pattern{"a", "c"}, "c/d", ""},
		{"everything beside a pattern", "?pattern=a&pattern=", nil, "any/thing", ""},
		{"a unit", "?unit=degC", nil, "site/temp", "site/on"},
		{"a tag", "?tag=equip=ahu", nil, "site/temp", "site/on"},
		{"a tag within a pattern", "?pattern=site/on&tag=equip=ahu", []point.Pattern{"site/on"}, "", "site/temp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := start(t) // a reader who has just left may still hold a feed of the same points
			_, hangUp := n.listen("/api/v1/stream"+tt.query, n.bearer())
			defer hangUp()
			sel := <-n.live.joined
			if diff := cmp.Diff(tt.patterns, sel.Patterns); diff != "" {
				t.Error(diff)
			}
			if tt.kept != "" && !sel.Selects(tt.kept) {
				t.Errorf("%s is left out", tt.kept)
			}
			if tt.cut != "" && sel.Selects(tt.cut) {
				t.Errorf("%s is kept", tt.cut)
			}
		})
	}
	for query, want := range map[string]string{
		"?" + strings.Repeat("pattern=x&pattern=y&", 10) + patterns(40): "may be given 32 times",
		"?tag=nothing": "name=value",
	} {
		if p := n.get("/api/v1/stream" + query).problem(t); p.Status != 400 || !strings.Contains(p.Detail, want) {
			t.Errorf("%.40s gives %+v", query, p)
		}
	}
}

func patterns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "pattern=p%d&", i)
	}
	return strings.TrimSuffix(b.String(), "&")
}

func TestReadersOfTheSameShareOneFeed(t *testing.T) {
	n := start(t)
	first, hangUp1 := n.listen("/api/v1/stream?pattern=b&pattern=a", n.bearer())
	n.live.publish(json.RawMessage(`{"n":0}`))
	if _, data := event(t, first); data != `{"n":0}` {
		t.Errorf("the first reader gets %s", data)
	}
	second, hangUp2 := n.listen("/api/v1/stream?pattern=a&pattern=b", n.bearer())
	defer hangUp2()
	if n.live.count() != 1 {
		t.Errorf("two readers of the same cost %d subscriptions", n.live.count())
	}
	n.live.publish(json.RawMessage(`{"n":1}`))
	for name, lines := range map[string]*bufio.Reader{"first": first, "second": second} {
		if _, data := event(t, lines); data != `{"n":1}` {
			t.Errorf("the %s reader gets %s", name, data)
		}
	}
	hangUp1()
	for n.counted("voltbus_live_readers") != "1" { // until the server has noticed
		runtime.Gosched()
	}
	n.live.publish(json.RawMessage(`{"n":2}`))
	if _, data := event(t, second); data != `{"n":2}` {
		t.Errorf("when the first reader has gone, the second gets %s", data)
	}
	hangUp2()
	for n.live.count() != 0 {
		runtime.Gosched()
	}
}

// counted returns a figure of /metrics.
func (n *node) counted(name string) string {
	for line := range strings.Lines(n.get("/metrics").body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestAnIdleStreamIsKeptAliveUntilTheLoginEnds(t *testing.T) {
	n := start(t, func(c *api.Config) { c.KeepAlive = time.Millisecond })
	cookie := n.login()
	lines, hangUp := n.listen("/api/v1/stream", cookie)
	defer hangUp()
	for alive := 0; alive < 3; {
		line, err := lines.ReadString('\n')
		must(t, err)
		if strings.HasPrefix(line, ": alive") {
			alive++
		}
	}
	n.clock.advance(identity.SessionLife)
	name, data := event(t, lines)
	if name != "error" || !strings.Contains(data, `"status":401`) {
		t.Errorf("at the end of the session comes %s %s", name, data)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(strings.TrimSpace(string(rest))) > 0 {
		t.Errorf("after the last event comes %q, %v", rest, err)
	}
}

func TestASlowReaderIsCutOffAndNobodyElse(t *testing.T) {
	n := start(t, func(c *api.Config) { c.StreamBuffer = 256 << 10 })
	slow, hangUpSlow := n.listen("/api/v1/stream", n.bearer())
	defer hangUpSlow()
	quick, hangUpQuick := n.listen("/api/v1/stream", n.bearer())
	defer hangUpQuick()
	filler := strings.Repeat("x", 100_000)
	// More than the sockets and the buffer of the reader hold: it has to be cut off as soon as
	// it takes something.
	for sent := range 200 {
		n.live.publish(json.RawMessage(fmt.Sprintf(`{"n":%d,"x":"%s"}`, sent, filler)))
		if name, data := event(t, quick); name != "scan" || !strings.HasPrefix(data, fmt.Sprintf(`{"n":%d,`, sent)) {
			t.Fatalf("the quick reader gets %s %.100s instead of message %d", name, data, sent)
		}
	}
	last := ""
	for {
		name, data, err := nextEvent(slow)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if last == "error" {
			t.Fatal("something comes after the error")
		}
		if last = name; name == "error" && !strings.Contains(data, "too slow") {
			t.Errorf("the error says %s", data)
		}
	}
	if last != "error" {
		t.Errorf("the slow reader's last event is %q, want error", last)
	}
	if got := n.get("/metrics"); !strings.Contains(got.body, "voltbus_live_readers_cut_total 1\n") {
		t.Error("the cut is not counted")
	}
	n.live.publish(json.RawMessage(`{"after":true}`))
	if _, data := event(t, quick); data != `{"after":true}` {
		t.Errorf("afterwards the quick reader gets %.100s", data)
	}
}

func nextEvent(lines *bufio.Reader) (name, data string, err error) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		switch {
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimSpace(line[7:])
		case strings.HasPrefix(line, "data: "):
			return name, line[6:], nil
		}
	}
}

func TestAnIdleStreamOverHTTP2OutlivesTheDeadlineOfItsWrites(t *testing.T) {
	n := start(t, func(c *api.Config) { c.WriteTimeout, c.KeepAlive = 2*time.Second, 2500*time.Millisecond })
	server := httptest.NewUnstartedServer(n.server.Config.Handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/stream", http.NoBody)
	must(t, err)
	n.bearer()(req)
	resp, err := server.Client().Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Fatalf("the protocol is %s", resp.Proto)
	}
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		must(t, err)
		if line == ": alive\n" {
			return
		}
	}
}

func TestReadersAreCountedAndLimited(t *testing.T) {
	n := start(t, func(c *api.Config) { c.MaxReaders = 2 })
	_, hangUp1 := n.listen("/api/v1/stream", n.bearer())
	defer hangUp1()
	_, hangUp2 := n.listen("/api/v1/stream", n.bearer())
	defer hangUp2()
	if got := n.get("/metrics"); !strings.Contains(got.body, "voltbus_live_readers 2\n") {
		t.Error("two readers are not counted")
	}
	if got := n.get("/api/v1/stream"); got.StatusCode != 503 || !strings.Contains(got.body, "too many streams") {
		t.Errorf("a third reader gets %d %s", got.StatusCode, got.body)
	}
}

func TestTheClientStreams(t *testing.T) {
	n := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string, 1)
	done := make(chan error)
	go func() {
		done <- n.client.Stream(ctx, "site", func(m json.RawMessage) error { got <- string(m); return nil })
	}()
	<-n.live.joined
	n.live.publish(json.RawMessage(`{"a":1}`))
	if m := <-got; m != `{"a":1}` {
		t.Errorf("got %s", m)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("after cancelling it returns %v", err)
	}
}

func TestTheClientHearsWhyAStreamEnds(t *testing.T) {
	n := start(t)
	done := make(chan error)
	enough := errors.New("enough")
	go func() { done <- n.client.Stream(t.Context(), "", func(json.RawMessage) error { return enough }) }()
	<-n.live.joined
	n.live.publish(json.RawMessage(`{"a":1}`))
	if err := <-done; !errors.Is(err, enough) {
		t.Errorf("the receiver's error comes back as %v", err)
	}
	go func() { done <- n.client.Stream(t.Context(), "another", func(json.RawMessage) error { return nil }) }()
	<-n.live.joined
	n.live.publish(make(json.RawMessage, 2<<20)) // more than may wait
	if err := <-done; !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("a reader that is cut off gets %v", err)
	}
}
