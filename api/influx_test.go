package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	"voltbus/identity"
)

// telegraf sends what outputs.influxdb_v2 sends: line protocol in gzip and in chunks, with these
// headers.
func (n *node) telegraf(path, token, body string) reply {
	n.t.Helper()
	content := compressed(n.t, "gzip", body)
	req, err := http.NewRequest(http.MethodPost, n.url+path, io.MultiReader(strings.NewReader(content))) // of no known length: chunked
	must(n.t, err)
	req.Header.Set("User-Agent", "Telegraf/1.33.0 Go/1.23.4")
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Token "+token)
	resp, err := n.server.Client().Do(req)
	must(n.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(n.t, err)
	return reply{resp, string(b)}
}

type influxError struct{ Code, Message string }

func (r reply) influx(t *testing.T) influxError {
	t.Helper()
	var e influxError
	if m := r.Header.Get("Content-Type"); m != "application/json" {
		t.Fatalf("status %d with %s: %s", r.StatusCode, m, r.body)
	}
	must(t, json.Unmarshal([]byte(r.body), &e))
	return e
}

const influxPath = "/api/v2/write?bucket=site%2Ftelegraf&org=plant"

func TestTelegrafWritesAsToInfluxDB(t *testing.T) {
	n, rec := startIngest(t)
	issued := n.do("POST", "/api/v1/tokens", `{"name":"telegraf","under":"site/telegraf"}`, n.bearer())
	var made answer.IssuedToken
	must(t, json.Unmarshal([]byte(issued.body), &made))
	got := n.telegraf(influxPath, made.Token, "cpu,cpu=cpu0,host=s1 usage_idle=98.5,usage_user=1 1772366400000000000\nmem,host=s1 free=7i 1772366400000000000\n")
	if got.StatusCode != http.StatusNoContent || got.body != "" {
		t.Fatalf("status %d: %s", got.StatusCode, got.body)
	}
	want := []string{"site/telegraf/cpu/cpu0/s1/usage_idle 98.5 @0s", "site/telegraf/cpu/cpu0/s1/usage_user 1 @0s", "site/telegraf/mem/s1/free 7 @0s"}
	if d := cmp.Diff(want, rec.lines()); d != "" {
		t.Error(d)
	}
	if got := n.telegraf("/api/v2/write?bucket=site%2Ftelegraf&precision=s", made.Token, "m v=1 1772366401"); got.StatusCode != http.StatusNoContent {
		t.Errorf("in seconds: %d %s", got.StatusCode, got.body)
	}
}

func TestErrorsComeInTheShapeOfInfluxDB(t *testing.T) {
	n, rec := startIngest(t)
	viewer, err := n.logins.Issue(t.Context(), identity.User{Name: "v", Role: identity.Viewer})
	must(t, err)
	tests := []struct {
		name, path, token, body string
		status                  int
		code, message           string
	}{
		{"a wrong token", influxPath, strings.Repeat("x", 43), "m v=1", 401, "unauthorized", ""},
		{"a role that may not", influxPath, viewer, "m v=1", 403, "forbidden", "viewer"},
		{"lines that are wrong", influxPath, n.token, "m v=1\nm v=x\nm v=2", 400, "invalid", "partial write: 2 recorded, 1 refused; line 2: m: v: \"x\""},
		{"a parameter that is not known", influxPath + "&x=1", n.token, "m v=1", 400, "invalid", "x"},
		{"a body that is too large", influxPath, n.token, strings.Repeat("#", 33<<20), 413, "request too large", "32 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := n.telegraf(tt.path, tt.token, tt.body)
			e := got.influx(t)
			if got.StatusCode != tt.status || e.Code != tt.code || !strings.Contains(e.Message, tt.message) {
				t.Errorf("status %d, %+v", got.StatusCode, e)
			}
		})
	}
	if len(rec.lines()) != 2 {
		t.Errorf("recorded %v", rec.lines())
	}
	if got := n.do("GET", "/api/v2/write", "", n.bearer()); got.StatusCode != http.StatusMethodNotAllowed || got.influx(t).Code != "method not allowed" {
		t.Errorf("another method gives %d %s", got.StatusCode, got.body)
	}
}

func TestClientsOfTheFirstInfluxDBShowATokenAsAPassword(t *testing.T) {
	n, rec := startIngest(t)
	basic := func(r *http.Request) { r.SetBasicAuth("u", n.token) }
	for name, send := range map[string]func() reply{
		"in the query":       func() reply { return n.do("POST", "/write?db=d&u=u&p="+n.token, "m v=1 1772366400000000000") },
		"in the header":      func() reply { return n.do("POST", "/write?db=d&precision=ms", "m v=1 1772366400000", basic) },
		"as user and token":  func() reply { return n.do("POST", "/write?db=d", "m v=1", header("Authorization", "Token u:"+n.token)) },
		"as a bearer's":      func() reply { return n.do("POST", "/write?db=d", "m v=1", n.bearer()) },
		"and not as another": func() reply { return n.do("POST", "/write?db=d", "m v=1") },
	} {
		want := http.StatusNoContent
		if name == "and not as another" {
			want = http.StatusUnauthorized
		}
		if got := send(); got.StatusCode != want {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	if len(rec.lines()) != 4 || !strings.HasPrefix(rec.lines()[0], "d/m/v 1 ") {
		t.Errorf("recorded %v", rec.lines())
	}
}

func TestThoseWhoLookForInfluxDBFindANode(t *testing.T) {
	n, _ := startIngest(t)
	if got := n.do("GET", "/ping", ""); got.StatusCode != http.StatusNoContent || got.Header.Get("X-Influxdb-Version") == "" {
		t.Errorf("ping gives %d", got.StatusCode)
	}
	if got := n.do("GET", "/health", ""); got.StatusCode != http.StatusOK || !strings.Contains(got.body, `"status":"pass"`) {
		t.Errorf("health gives %d %s", got.StatusCode, got.body)
	}
	n.state.health.Status = "failed"
	if got := n.do("GET", "/health", ""); got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got.body, `"status":"fail"`) {
		t.Errorf("health of a node that does not work gives %d %s", got.StatusCode, got.body)
	}
}
