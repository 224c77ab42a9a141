package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// served is what a test reads of the OpenAPI document.
type served struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Ref  string `yaml:"$ref"`
			Name string `yaml:"name"`
			In   string `yaml:"in"`
		} `yaml:"parameters"`
		Body *struct {
			Content map[string]any `yaml:"content"`
		} `yaml:"requestBody"`
	} `yaml:"paths"`
}

// attack is a request that nobody should send.
type attack struct {
	name, method, path string
	media, body        string
	header             http.Header
}

// hostileBodies are bodies that are wrong for every operation.
func hostileBodies() map[string]string {
	return map[string]string{
		"nothing":             "",
		"a brace":             "{",
		"a truncated object":  `{"text": "a`,
		"null":                "null",
		"a number":            "12",
		"NaN":                 "NaN",
		"a field of NaN":      `{"limit": NaN, "value": Infinity}`,
		"a huge number":       `{"limit": 1e400, "seed": 99999999999999999999}`,
		"an array":            `[[], {}, null]`,
		"deep nesting":        strings.Repeat("[", 100_000),
		"deep objects":        strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000),
		"UTF-16":              "\xff\xfe{\x00}\x00",
		"Latin-1":             "{\"name\": \"M\xfcller\", \"statement\": \"\xff\", \"text\": \"\xfc\"}",
		"zero bytes":          "{\"name\": \"a\x00b\"}",
		"wrong types":         `{"text": [1], "name": {}, "token": 1, "statement": false, "path": 7, "version": [], "limit": "x", "role": 3, "config": 1}`,
		"unknown fields":      `{"__proto__": {"admin": true}, "x": 1}`,
		"two values":          `{} {}`,
		"huge":                `{"text": "` + strings.Repeat("x", 9<<20) + `"}`,
		"control characters":  "\x01\x02\x1b[2J\r\n\r\n",
		"a bomb of YAML":      `{"text": "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]"}`,
		"compressed rubbish":  "\x1f\x8b\x08\x00\x00\x00\x00\x00",
		"CBOR without an end": "\x9f\x9f\x9f\x9f\xbf\xff",
	}
}

// hostileValues are values that are wrong for most parameters.
func hostileValues() []string {
	return []string{
		"", "\x00", "\xff\xfe", "%", "-1", "NaN", "1e400", "99999999999999999999", "9223372036854775807", "../../etc/passwd",
		"'; DROP TABLE samples; --", "<script>alert(1)</script>", "{}", "[]", strings.Repeat("*", 1000), strings.Repeat("**/", 300) + "x",
		strings.Repeat("a", 2000), "now-99999999y", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "\u202e\u0000",
	}
}

// attacks derives requests from the document: every operation with each body, and each value in
// each of its parameters.
func attacks(t *testing.T, document []byte) []attack {
	t.Helper()
	var d served
	if err := yaml.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	var list []attack
	for path, operations := range d.Paths {
		for method, op := range operations {
			method = strings.ToUpper(method)
			plain := strings.NewReplacer("{", "", "}", "").Replace(path)
			if op.Body != nil {
				for media := range op.Body.Content {
					for name, body := range hostileBodies() {
						list = append(list, attack{name + " as " + media, method, plain, media, body, nil})
					}
				}
				list = append(list, attack{"a wrong media type", method, plain, "image/png", "{}", nil})
				list = append(list, attack{"a wrong encoding", method, plain, "application/json", "{}", http.Header{"Content-Encoding": {"br"}}})
			}
			for _, p := range op.Parameters {
				name := p.Name
				if name == "" {
					name = p.Ref[strings.LastIndex(p.Ref, "/")+1:]
				}
				for _, value := range hostileValues() {
					list = append(list, attack{fmt.Sprintf("%s=%.20q", name, value), method, target(path, p.In, name, value), "", "", nil})
				}
			}
			list = append(list, attack{"an unknown parameter", method, plain + "?__proto__=1", "", "", nil},
				attack{"a query that is none", method, plain + "?%zz&;=", "", "", nil})
		}
	}
	slices.SortFunc(list, func(a, b attack) int { return strings.Compare(a.method+a.path+a.name, b.method+b.path+b.name) })
	return list
}

// target is the address of an operation with a value in one parameter.
func target(path, in, name, value string) string {
	if in == "path" {
		return strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	return path + "?" + url.Values{name: {value}}.Encode()
}

// watch keeps what the node reports as a defect.
type watch struct {
	slog.Handler
	defects chan string
}

// Handle implements slog.Handler.
func (w *watch) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		var b strings.Builder
		b.WriteString(r.Message)
		r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %s", a); return true })
		select {
		case w.defects <- b.String():
		default: // enough are known
		}
	}
	return nil
}

func (w *watch) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func TestAttackHostileRequestsAreRefusedInTheDocumentedShape(t *testing.T) {
	log := &watch{Handler: slog.DiscardHandler, defects: make(chan string, 100)}
	r := runLogged(t, load(t, t.TempDir(), listenWide+zones), slog.New(log))
	c := &http.Client{Timeout: time.Minute}
	defer c.CloseIdleConnections()
	list := attacks(t, r.document(c))
	if len(list) < 1000 {
		t.Fatalf("the document gives only %d requests", len(list))
	}
	r.attack(c, list[:len(list)/10]) // what is made once is made now
	c.CloseIdleConnections()
	memory, goroutines := heap(), runtime.NumGoroutine()
	r.attack(c, list)
	c.CloseIdleConnections()
	eventually(t, "the goroutines of requests end", func() bool { return runtime.NumGoroutine() <= goroutines+10 })
	if grown := heap() - memory; grown > 64<<20 {
		t.Errorf("after %d requests %d MiB more are in use", len(list), grown>>20)
	}
	for len(log.defects) > 0 {
		t.Errorf("the node reports: %.2000s", <-log.defects)
	}
}

// document returns the OpenAPI document as the node serves it.
func (r *running) document(c *http.Client) []byte {
	r.t.Helper()
	status, _, body := r.send(c, attack{method: http.MethodGet, path: "/api/v1/openapi.yaml"})
	if status != http.StatusOK {
		r.t.Fatalf("the document is not served: %d", status)
	}
	return body
}

// attack sends the requests and judges the answers.
func (r *running) attack(c *http.Client, list []attack) {
	r.t.Helper()
	for _, a := range list {
		status, media, body := r.send(c, a)
		if fault := judge(a, status, media, body); fault != "" {
			r.t.Errorf("%s %.100s with %s: %d %s: %s: %.300s", a.method, a.path, a.name, status, media, fault, body)
		}
	}
}

// send returns what the node answers; of streams that do not end only that they began.
func (r *running) send(c *http.Client, a attack) (status int, media string, body []byte) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, a.method, r.HTTPAddr()+a.path, strings.NewReader(a.body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token())
	maps.Copy(req.Header, a.header)
	if a.media != "" {
		req.Header.Set("Content-Type", a.media)
	}
	resp, err := c.Do(req)
	if err != nil {
		r.t.Fatalf("%s %.100s with %s: %v", a.method, a.path, a.name, err)
	}
	defer resp.Body.Close()
	media = resp.Header.Get("Content-Type")
	if media == "text/event-stream" {
		return resp.StatusCode, media, nil
	}
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		r.t.Errorf("%s %.100s with %s: the answer is cut: %v", a.method, a.path, a.name, err)
	}
	return resp.StatusCode, media, body
}

// absentPart is what the node of the test does not have, and an empty body may ask for.
var absentPart = regexp.MustCompile(`/lab|/capacity|/metering/(read|recover)$`)

// judge says what is wrong with an answer.
func judge(a attack, status int, media string, body []byte) string {
	switch {
	case status < 400:
		return "" // what is optional, or happens to be right
	case status >= 500 && status != http.StatusServiceUnavailable && !isSOAP(a, media): // SOAP 1.1 wants 500 for each fault
		return "nobody else is to blame"
	case status == http.StatusServiceUnavailable && !absentPart.MatchString(a.path):
		return "the node has this part"
	}
	if isSOAP(a, media) {
		if !bytes.Contains(body, []byte("<env:Fault>")) {
			return "the refusal is no SOAP fault"
		}
		return ""
	}
	var told map[string]any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&told); err != nil {
		return "the refusal is not JSON"
	}
	want := []string{"type", "title", "status", "detail", "kind", "instance"}
	switch {
	case media == "application/problem+json":
	case strings.HasPrefix(a.path, "/prometheus/"):
		want = []string{"status", "errorType", "error"}
	case !strings.HasPrefix(a.path, "/api/v1/") && !strings.HasPrefix(a.path, "/metrics"): // as InfluxDB
		want = []string{"code", "message"}
	default:
		return "the refusal is not a problem"
	}
	for _, field := range want {
		if _, ok := told[field]; !ok {
			return "the refusal has no " + field
		}
	}
	return ""
}

// isSOAP reports whether an answer is that of the web service.
func isSOAP(a attack, media string) bool {
	return strings.HasPrefix(a.path, "/api/v1/metering/soap") && strings.Contains(media, "xml")
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
