package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/intake"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/ingest/admission"
	"voltbus/point"
)

// tape keeps what is recorded. It is safe for concurrent use.
type tape struct {
	mu      sync.Mutex
	samples []point.Sample
	err     error
	wait    chan struct{} // if not nil: recording begins when it is closed
	entered chan struct{} // if not nil: gets an entry for each call
}

func (t *tape) Record(ctx context.Context, samples []point.Sample) error {
	if t.entered != nil {
		t.entered <- struct{}{}
	}
	if t.wait != nil {
		select {
		case <-t.wait:
		case <-ctx.Done():
			return fault.E("tape", fault.KindOf(ctx.Err()), "", ctx.Err())
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	t.samples = append(t.samples, samples...)
	return nil
}

func (t *tape) lines() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.samples {
		s := &t.samples[i]
		list = append(list, fmt.Sprint(s.Point, " ", s.Value, " @", s.Time.Sub(noon())))
	}
	return list
}

// startIngest starts a node that records on the tape. Its clock says 13:00.
func startIngest(t *testing.T, change ...func(*api.Config)) (*node, *tape) {
	t.Helper()
	rec := &tape{}
	n := start(t, append([]func(*api.Config){func(c *api.Config) {
		list, ok := c.Points.(*catalog.Catalog)
		if !ok {
			t.Fatal("the fixture has another catalogue")
		}
		c.Admission, c.Repeats = admission.New(list, rec, 0), list.Repeats(0)
	}}, change...)...)
	return n, rec
}

func (n *node) send(path, media, body string, options ...option) reply {
	n.t.Helper()
	return n.do("POST", path, body, append([]option{n.bearer(), header("Content-Type", media)}, options...)...)
}

const samplesPath = "/api/v1/samples"

func TestReadingsAreRecordedInEachFormat(t *testing.T) {
	tests := []struct{ media, body string }{
		{"application/json", `[{"point":"a/b/v","value":1.5}]`},
		{"application/json; charset=utf-8", `{"series":[{"point":"a/b/v","samples":[["2026-03-01T13:00:00Z",1.5]]}]}`},
		{"application/senml+json", `[{"n":"a/b/v","v":1.5}]`},
		{"application/senml+cbor", "\x81\xa2\x00\x65a/b/v\x02\xf9\x3e\x00"},
		{"text/csv", "time,a/b/v\n2026-03-01T13:00:00Z,1.5\n"},
		{"text/plain", "a,t=b v=1.5"},
	}
	schema := schemas(t)("Ingested")
	for _, tt := range tests {
		t.Run(tt.media, func(t *testing.T) {
			n, rec := startIngest(t)
			got := n.send(samplesPath, tt.media, tt.body)
			if got.StatusCode != http.StatusOK || got.body != `{"accepted":1,"refused":0,"errors":[]}` {
				t.Fatalf("status %d: %s", got.StatusCode, got.body)
			}
			if d := cmp.Diff([]string{"a/b/v 1.5 @1h0m0s"}, rec.lines()); d != "" {
				t.Error(d)
			}
			var value any
			must(t, json.Unmarshal([]byte(got.body), &value))
			must(t, schema.Validate(value))
			if p := n.get("/api/v1/points?pattern=a/b/v&tag=source=ingest"); !strings.Contains(p.body, `"a/b/v"`) {
				t.Errorf("the point is not listed: %s", p.body)
			}
		})
	}
}

func TestOptionsOfTheQuery(t *testing.T) {
	n, rec := startIngest(t)
	got := n.send(samplesPath+"?precision=s&under=/site/&layout={tag:t}/{field}", "text/plain", "m,t=x v=1 1772366401")
	if d := cmp.Diff([]string{"site/x/v 1 @1s"}, rec.lines()); d != "" {
		t.Error(d, got.body)
	}
	for _, query := range []string{"precision=fortnight", "layout={x}", "under=%00", "nonsense=1"} {
		if p := n.send(samplesPath+"?"+query, "text/plain", "m v=1").problem(t); p.Status != http.StatusBadRequest {
			t.Errorf("%s gives %+v", query, p)
		}
	}
}

func TestARefusedPartIsTold(t *testing.T) {
	n, rec := startIngest(t)
	got := n.send(samplesPath, "text/plain", "a v=1\nb v=x\nsite temp=1\nc v=2")
	var in answer.Ingested
	must(t, json.Unmarshal([]byte(got.body), &in))
	want := answer.Ingested{Accepted: 2, Refused: 2, Errors: []answer.IngestError{
		{Line: 2, Point: "b", Kind: "invalid", Detail: in.Errors[0].Detail},
		{Line: 3, Point: "site/temp", Kind: "refused", Detail: in.Errors[1].Detail},
	}}
	if d := cmp.Diff(want, in); d != "" || got.StatusCode != http.StatusMultiStatus || len(rec.lines()) != 2 {
		t.Errorf("status %d: %s, recorded %v", got.StatusCode, d, rec.lines())
	}
	p := n.send(samplesPath, "text/plain", "b v=x").problem(t)
	if p.Status != http.StatusUnprocessableEntity || p.Ingested == nil || p.Ingested.Refused != 1 || len(p.Ingested.Errors) != 1 {
		t.Errorf("nothing recorded gives %+v", p)
	}
}

func compressed(t testing.TB, how, body string) string {
	t.Helper()
	var b bytes.Buffer
	if how == "zstd" {
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		must(t, err)
		_, err = w.Write([]byte(body))
		must(t, errors.Join(err, w.Close()))
		return b.String()
	}
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(body))
	must(t, errors.Join(err, w.Close()))
	return b.String()
}

func TestBodiesMayBeCompressedWithinBounds(t *testing.T) {
	n, rec := startIngest(t)
	for i, how := range []string{"gzip", "zstd", "gzip", "zstd"} {
		got := n.send(samplesPath, "text/plain", compressed(t, how, "a v=1"), header("Content-Encoding", how))
		if got.StatusCode != http.StatusOK || len(rec.lines()) != i+1 {
			t.Errorf("%s: status %d: %s", how, got.StatusCode, got.body)
		}
		bomb := compressed(t, how, strings.Repeat("#", 33<<20))
		if p := n.send(samplesPath, "text/plain", bomb, header("Content-Encoding", how)).problem(t); p.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d bytes that become 33 MiB with %s give %+v", len(bomb), how, p)
		}
		whole := compressed(t, how, "a v=1")
		for _, damaged := range []string{whole[:len(whole)-5], "no " + how} {
			if p := n.send(samplesPath, "text/plain", damaged, header("Content-Encoding", how)).problem(t); p.Status != http.StatusBadRequest {
				t.Errorf("%q with %s gives %+v", damaged, how, p)
			}
		}
	}
	if p := n.send(samplesPath, "text/plain", "a v=1", header("Content-Encoding", "br")).problem(t); p.Status != http.StatusUnsupportedMediaType {
		t.Errorf("another encoding gives %+v", p)
	}
}

func TestBodiesThatAreWrongAsAWhole(t *testing.T) {
	n, rec := startIngest(t)
	tests := []struct {
		name, media, body string
		status            int
	}{
		{"no media type that is known", "application/x-www-form-urlencoded", "a v=1", 415},
		{"JSON that is cut", "application/json", `[{"point":"a","value":1}`, 400},
		{"JSON that is deep", "application/json", strings.Repeat("[", 10_000), 400},
		{"CBOR that is cut", "application/senml+cbor", "\x9f\xa2", 400},
		{"CSV without a header", "text/csv", "1,2,3", 400},
		{"a body that is too large", "text/plain", strings.Repeat("#", 33<<20), 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if p := n.send(samplesPath, tt.media, tt.body).problem(t); p.Status != tt.status || p.Detail == "" {
				t.Errorf("got %+v", p)
			}
		})
	}
	if len(rec.lines()) > 0 {
		t.Errorf("recorded %v", rec.lines())
	}
}

func TestWhoMayRecord(t *testing.T) {
	n, _ := startIngest(t)
	token := func(role identity.Role) string {
		secret, err := n.logins.Issue(context.Background(), identity.User{Name: role.String() + "x", Role: role})
		must(t, err)
		return secret
	}
	issued := n.do("POST", "/api/v1/tokens", `{"name":"meter","under":"site/meter"}`, n.bearer())
	var made answer.IssuedToken
	must(t, json.Unmarshal([]byte(issued.body), &made))
	tests := []struct {
		name, authorization, point string
		status                     int
	}{
		{"nobody", "", "x", 401},
		{"a wrong token", "Bearer " + strings.Repeat("x", 43), "x", 401},
		{"a viewer", "Bearer " + token(identity.Viewer), "x", 403},
		{"an operator", "Bearer " + token(identity.Operator), "x", 200},
		{"a token for recording, where it may", "Bearer " + made.Token, "site/meter/x", 200},
		{"a token for recording as InfluxDB knows it", "Token " + made.Token, "site/meter/x", 200},
		{"a token for recording elsewhere", "Bearer " + made.Token, "site/meterx", 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := n.do("POST", samplesPath, `[{"point":"`+tt.point+`","value":1}]`, header("Authorization", tt.authorization))
			if got.StatusCode != tt.status {
				t.Errorf("status %d: %s", got.StatusCode, got.body)
			}
		})
	}
	for _, path := range []string{"/api/v1/points", "/api/v1/ledger", "/metrics"} {
		if got := n.do("GET", path, "", header("Authorization", "Bearer "+made.Token)); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("the token for recording gets %d for %s", got.StatusCode, path)
		}
	}
	if got := n.get("/api/v1/tokens"); !strings.Contains(got.body, `"under":"site/meter"`) || strings.Contains(got.body, made.Token) {
		t.Errorf("the list is %s", got.body)
	}
	if got := n.do("DELETE", "/api/v1/tokens/meter", "", n.bearer()); got.StatusCode != http.StatusNoContent {
		t.Errorf("revoking gives %d %s", got.StatusCode, got.body)
	}
	if got := n.do("POST", samplesPath, `[]`, header("Authorization", "Bearer "+made.Token)); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the revoked token gets %d", got.StatusCode)
	}
}

func TestACookieRecordsOnlyFromTheOwnPage(t *testing.T) {
	n, _ := startIngest(t)
	login := n.do("POST", "/api/v1/session", `{"token":"`+n.token+`"}`)
	cookie := header("Cookie", login.Cookies()[0].String())
	if p := n.do("POST", samplesPath, `[]`, cookie).problem(t); p.Status != http.StatusForbidden {
		t.Errorf("without the header it gives %+v", p)
	}
	if got := n.do("POST", samplesPath, `[]`, cookie, header("X-Voltbus", "1")); got.StatusCode != http.StatusOK {
		t.Errorf("with it %d %s", got.StatusCode, got.body)
	}
}

func TestANodeThatCannotRecordSaysWhenToTryAgain(t *testing.T) {
	n, rec := startIngest(t)
	rec.err = fault.E("recorder", fault.Unavailable, "", errors.New("the disk is full"))
	got := n.send(samplesPath, "text/plain", "a v=1")
	if p := got.problem(t); p.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || p.Detail != "the disk is full" {
		t.Errorf("got %+v", p)
	}
}

func TestRatesAreBoundedPerUser(t *testing.T) {
	n, _ := startIngest(t, func(c *api.Config) { c.Rates = intake.Rates{Requests: 2, Samples: 3} })
	other, err := n.logins.Issue(context.Background(), identity.User{Name: "other", Role: identity.Operator})
	must(t, err)
	body := `[{"point":"a","value":1}]`
	for range 4 {
		if got := n.send(samplesPath, "application/json", body); got.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", got.StatusCode, got.body)
		}
	}
	got := n.send(samplesPath, "application/json", body)
	if p := got.problem(t); p.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "1" {
		t.Errorf("too many requests: %+v, %q", p, got.Header)
	}
	if got := n.send(samplesPath, "application/json", body, header("Authorization", "Bearer "+other)); got.StatusCode != http.StatusOK {
		t.Errorf("another user: %d", got.StatusCode)
	}
	n.clock.advance(time.Minute)
	many := "[" + strings.Repeat(body[1:len(body)-1]+",", 35) + body[1:len(body)-1] + "]"
	if got := n.send(samplesPath, "application/json", many); got.StatusCode != http.StatusOK {
		t.Errorf("a large body: %d %s", got.StatusCode, got.body)
	}
	if got := n.send(samplesPath, "application/json", body); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "11" {
		t.Errorf("after 36 samples of 3 a second: %d, %q", got.StatusCode, got.Header)
	}
	n.clock.advance(11 * time.Second)
	if got := n.send(samplesPath, "application/json", body); got.StatusCode != http.StatusOK {
		t.Errorf("as long after as it was told to wait: %d", got.StatusCode)
	}
}

func TestARepeatedWriteGetsTheFirstAnswer(t *testing.T) {
	n, rec := startIngest(t)
	key := header("Idempotency-Key", "k1")
	first := n.send(samplesPath, "text/plain", "a v=1\nb v=x", key)
	n.clock.advance(time.Hour)
	again := n.send(samplesPath, "text/plain", "a v=1\nb v=x", key)
	if again.StatusCode != first.StatusCode || again.body != first.body || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %d %s, then %d %s", first.StatusCode, first.body, again.StatusCode, again.body)
	}
	if len(rec.lines()) != 1 {
		t.Errorf("recorded %v", rec.lines())
	}
	if p := n.send(samplesPath, "text/plain", "a v=2", key).problem(t); p.Status != http.StatusUnprocessableEntity || p.Kind != "conflict" {
		t.Errorf("another body gives %+v", p)
	}
	if p := n.send(samplesPath, "text/plain", "a v=2", header("Idempotency-Key", strings.Repeat("x", 256))).problem(t); p.Status != http.StatusBadRequest {
		t.Errorf("a key that is too long gives %+v", p)
	}
	n.clock.advance(24 * time.Hour)
	if got := n.send(samplesPath, "text/plain", "a v=1\nb v=x", key); got.Header.Get("Idempotency-Replayed") != "" || len(rec.lines()) != 2 {
		t.Errorf("a day later: %d %s, recorded %v", got.StatusCode, got.body, rec.lines())
	}
}

func TestMetricsCountWhatWasSentOverHTTP(t *testing.T) {
	n, _ := startIngest(t)
	key := header("Idempotency-Key", "k1")
	for range 2 {
		n.send(samplesPath, "text/plain", "a v=1\nb v=x", key)
	}
	n.send("/api/v2/write?bucket=c", "text/plain", "a v=1\nb v=2")
	got := n.get("/metrics")
	for _, line := range []string{
		"voltbus_ingest_accepted_total 3\n", "voltbus_ingest_refused_total 1\n", "voltbus_ingest_bytes_total 33\n", "voltbus_ingest_replayed_total 1\n",
	} {
		if !strings.Contains(got.body, line) {
			t.Errorf("%q is not among the metrics", line)
		}
	}
}

func TestAWriteThatFailedIsDoneAgainWithItsFirstTime(t *testing.T) {
	n, rec := startIngest(t)
	key := header("Idempotency-Key", "k1")
	rec.err = fault.E("recorder", fault.Unavailable, "", errors.New("the disk is full"))
	if got := n.send(samplesPath, "text/plain", "a v=1", key); got.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("status %d", got.StatusCode)
	}
	rec.err = nil
	n.clock.advance(time.Minute)
	got := n.send(samplesPath, "text/plain", "a v=1", key)
	if d := cmp.Diff([]string{"a/v 1 @1h0m0s"}, rec.lines()); d != "" || got.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s", got.StatusCode, d)
	}
}

func TestTheSecondOfTwoWritesAtOnceWaitsForTheFirst(t *testing.T) {
	n, rec := startIngest(t)
	rec.wait, rec.entered = make(chan struct{}), make(chan struct{}, 2)
	key := header("Idempotency-Key", "k1")
	answers := make(chan reply, 2)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { answers <- n.send(samplesPath, "text/plain", "a v=1", key) })
	}
	<-rec.entered
	close(rec.wait)
	group.Wait()
	one, two := <-answers, <-answers
	if one.body != two.body || one.StatusCode != http.StatusOK || len(rec.lines()) != 1 {
		t.Errorf("%s and %s, recorded %v", one.body, two.body, rec.lines())
	}
}
