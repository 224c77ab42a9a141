package elasticsearch_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/elasticsearch"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// index is a server written after the published description of the bulk API, strictly: no server of Elasticsearch or OpenSearch can be
// had as a package here. It keeps documents by identifier, and derives the type of a field from its first document as dynamic mapping does.
type index struct {
	address string
	server  *http.Server

	mu    sync.Mutex
	docs  map[string]map[string]any
	types map[string]string
	busy  int // so many documents are answered with 429
}

func startIndex(t testing.TB) *index {
	t.Helper()
	x := &index{docs: map[string]map[string]any{}, types: map[string]string{}, address: "127.0.0.1:0"}
	x.start(t)
	t.Cleanup(func() { _ = x.server.Close() })
	return x
}

func (x *index) start(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", x.address)
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

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, password, _ := r.BasicAuth(); password == "wrong" {
		http.Error(w, `{"error":{"type":"security_exception","reason":"unable to authenticate"},"status":401}`, http.StatusUnauthorized)
		return
	}
	if r.URL.Path != "/_bulk" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-ndjson" {
		http.Error(w, `{"error":"incorrect HTTP method or type"}`, http.StatusMethodNotAllowed)
		return
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
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": bad, "items": items})
}

func (x *index) put(id string, text []byte) item {
	var doc map[string]any
	if json.Unmarshal(text, &doc) != nil {
		return item{400, map[string]any{"type": "mapper_parsing_exception", "reason": "failed to parse"}}
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

func (x *index) peer(t testing.TB) *sinktest.Peer {
	t.Helper()
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "http://" + x.address, Into: "readings"}, Kind: elasticsearch.Kind(), Late: true,
		Kill: func() { _ = x.server.Close() }, Start: func() { x.start(t) },
		Read: func(t testing.TB) map[string]string {
			x.mu.Lock()
			defer x.mu.Unlock()
			found := map[string]string{}
			for doc := range maps.Values(x.docs) {
				at, err := time.Parse(time.RFC3339Nano, doc["@timestamp"].(string))
				if err != nil {
					t.Fatal(err)
				}
				number, _ := doc["value"].(float64)
				text, _ := doc["text"].(string)
				if !strings.HasPrefix(doc["quality"].(string), "bad") {
					found[sinktest.Key(doc["point"].(string), at.UnixMicro())] = sinktest.Text(number, text)
				}
			}
			return found
		},
	}
}

func TestDocumentsAreThoseOfTheBulkAPI(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer { return startIndex(t).peer(t) })
	t.Run("a document that the mapping refuses is kept, with the reason", func(t *testing.T) {
		x, log := startIndex(t), sinktest.NewLog()
		x.types["value"] = "string" // somebody mapped it so
		r := sinktest.Open(t, t.TempDir(), log, nil, x.peer(t))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/mode", 2, point.TextOf("heat")))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 1 && s.Kept == 1 })
		list, err := r.Refused("there", 0, 10)
		if err != nil || len(list) != 1 || list[0].Reason != "mapper_parsing_exception: failed to parse field [value]: it is float64" {
			t.Errorf("refused: %+v %v", list, err)
		}
	})
	t.Run("documents that are rejected under load are sent again", func(t *testing.T) {
		x, log := startIndex(t), sinktest.NewLog()
		x.busy = 2
		r := sinktest.Open(t, t.TempDir(), log, nil, x.peer(t))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/b", 2, point.FloatOf(2)))
		r.Until(t, "both are there", func(s *destination.State) bool { return s.Sent == 2 && s.Kept == 0 && s.Err == nil })
	})
	t.Run("what the log dropped while it was away is counted", func(t *testing.T) {
		x, log, dir := startIndex(t), sinktest.NewLog(), t.TempDir()
		r := sinktest.Open(t, dir, log, nil, x.peer(t))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "the first is sent", func(s *destination.State) bool { return s.Sent == 1 })
		r.Stop()
		for i := 2; i < 6; i++ {
			log.Add(t, sinktest.At("plant/a", i, point.FloatOf(1)), sinktest.At("plant/b", i, point.FloatOf(1)))
		}
		log.Drop(4)
		r = sinktest.Open(t, dir, log, nil, x.peer(t))
		r.Until(t, "the rest is sent, and the others are counted", func(s *destination.State) bool { return s.Sent == 5 && s.Missing == 4 && s.Waiting == 0 })
	})
	t.Run("a position that cannot be read stops this destination, and says what to do", func(t *testing.T) {
		x, log, dir := startIndex(t), sinktest.NewLog(), t.TempDir()
		r := sinktest.Open(t, dir, log, nil, x.peer(t))
		r.Stop()
		damage(t, dir)
		r = sinktest.Open(t, dir, log, nil, x.peer(t))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		if s := r.State(t); s.Err == nil || !strings.Contains(s.Problem(), "remove the file") {
			t.Errorf("%+v", s)
		}
	})
}

func BenchmarkCatchUp(b *testing.B) {
	x := startIndex(b)
	sinktest.CatchUp(b, func() *sinktest.Peer { return x.peer(b) })
}
