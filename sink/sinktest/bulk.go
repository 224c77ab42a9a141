package sinktest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// Bulk is a server written after the published description of the bulk API, strictly: no server of Elasticsearch or OpenSearch can be
// had as a package here. It keeps documents by identifier, and derives the type of a field from its first document as dynamic mapping does.
type Bulk struct {
	address string
	server  *http.Server

	mu    sync.Mutex
	docs  map[string]map[string]any
	types map[string]string
	busy  int  // so many documents are answered with 429
	full  bool // documents are refused for want of room
	cuts  int  // so many requests are carried out, and cut off before the answer
	hold  chan struct{}
}

// StartBulk starts a server that has nothing yet, until the test ends.
func StartBulk(t testing.TB) *Bulk {
	t.Helper()
	x := &Bulk{docs: map[string]map[string]any{}, types: map[string]string{}, address: "127.0.0.1:0"}
	x.start(t)
	t.Cleanup(func() { _ = x.server.Close() })
	return x
}

func (x *Bulk) start(t testing.TB) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", x.address)
	if err != nil {
		t.Fatal(err)
	}
	x.address = l.Addr().String()
	x.server = &http.Server{Handler: x} //nolint:gosec // on loopback
	go func(s *http.Server) { _ = s.Serve(l) }(x.server)
}

type item struct {
	Status int            `json:"status"`
	Error  map[string]any `json:"error,omitempty"`
}

func (x *Bulk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, password, _ := r.BasicAuth(); password == "wrong" {
		http.Error(w, `{"error":{"type":"security_exception","reason":"unable to authenticate"},"status":401}`, http.StatusUnauthorized)
		return
	}
	if r.URL.Path != "/_bulk" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-ndjson" {
		http.Error(w, `{"error":"incorrect HTTP method or type"}`, http.StatusMethodNotAllowed)
		return
	}
	if hold := x.held(); hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<24)
	var items []map[string]item
	bad := false
	for lines.Scan() {
		var action map[string]struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
		}
		if json.Unmarshal(lines.Bytes(), &action) != nil || len(action) != 1 || action["index"].Index == "" || !lines.Scan() {
			http.Error(w, `{"error":{"type":"illegal_argument_exception","reason":"Malformed action/metadata line"},"status":400}`, http.StatusBadRequest)
			return
		}
		one := x.put(action["index"].ID, lines.Bytes())
		bad = bad || one.Status/100 != 2
		items = append(items, map[string]item{"index": one})
	}
	if x.cuts > 0 {
		x.cuts--
		panic(http.ErrAbortHandler) // the connection is closed without an answer
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": bad, "items": items})
}

func (x *Bulk) put(id string, text []byte) item {
	var doc map[string]any
	if json.Unmarshal(text, &doc) != nil {
		return item{400, map[string]any{"type": "mapper_parsing_exception", "reason": "failed to parse"}}
	}
	if x.full {
		return item{403, map[string]any{"type": "cluster_block_exception", "reason": "index [readings] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block]"}}
	}
	if x.busy > 0 {
		x.busy--
		return item{429, map[string]any{"type": "es_rejected_execution_exception", "reason": "rejected execution"}}
	}
	if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(doc["@timestamp"])); err != nil || len(id) > 512 {
		return item{400, map[string]any{"type": "mapper_parsing_exception", "reason": "failed to parse field [@timestamp] of type [date]"}}
	}
	for name, value := range doc {
		kind := fmt.Sprintf("%T", value)
		if want := x.types[name]; want != "" && want != kind {
			return item{400, map[string]any{"type": "mapper_parsing_exception", "reason": "failed to parse field [" + name + "]", "caused_by": map[string]any{"reason": "it is " + kind}}}
		}
		x.types[name] = kind
	}
	x.docs[id] = doc
	return item{Status: 201}
}

// URL is its address.
func (x *Bulk) URL() string { return "http://" + x.address }

// Kill ends the server at once: connections are cut.
func (x *Bulk) Kill() { _ = x.server.Close() }

// Start starts it again at its address, with what it had.
func (x *Bulk) Start(t testing.TB) { x.start(t) }

// Map sets the type of a field, as Go prints it, as somebody does who makes the index before; "" lets the next document decide.
func (x *Bulk) Map(field, kind string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.types[field] = kind
}

// Reject has so many documents answered with 429, as a server does under load.
func (x *Bulk) Reject(documents int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.busy = documents
}

// Fill says whether the disk of the server is full.
func (x *Bulk) Fill(full bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.full = full
}

// Cut has so many requests carried out, and the connection cut before the answer.
func (x *Bulk) Cut(requests int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cuts = requests
}

// Hold has requests wait until the function that it returns is called.
func (x *Bulk) Hold() (release func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	hold := make(chan struct{})
	x.hold = hold
	return sync.OnceFunc(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.hold = nil
		close(hold)
	})
}

func (x *Bulk) held() chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hold
}

// Stored is how many documents there are.
func (x *Bulk) Stored() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.docs)
}

// Peer returns it for the suite.
func (x *Bulk) Peer(t testing.TB, kind destination.Kind) *Peer {
	t.Helper()
	return &Peer{
		Entry: setting.Sink{URL: x.URL(), Into: "readings"}, Kind: kind, Late: true,
		Kill: x.Kill, Start: func() { x.start(t) }, Read: x.Read,
	}
}

// Read returns what the index has, by point and time.
func (x *Bulk) Read(t testing.TB) map[string]string {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	found := map[string]string{}
	for doc := range maps.Values(x.docs) {
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(doc["@timestamp"]))
		if err != nil {
			t.Fatal(err)
		}
		number, _ := doc["value"].(float64)
		text, _ := doc["text"].(string)
		if !strings.HasPrefix(fmt.Sprint(doc["quality"]), "bad") {
			found[Key(fmt.Sprint(doc["point"]), at.UnixMicro())] = Text(number, text)
		}
	}
	return found
}
