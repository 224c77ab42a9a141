package openadr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/regulation/openadr"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// vtn answers as the OpenAPI document of OpenADR 3.0.1 has it, and refuses what that does not have.
type vtn struct {
	*httptest.Server

	t      *testing.T
	mu     sync.Mutex
	events []map[string]any
	tokens int    // that were given
	valid  string // the token that counts
	sub    map[string]any
}

const secret = "s3cret"

func newVTN(t *testing.T) *vtn {
	v := &vtn{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openadr3/3.0.1/auth/token", v.auth)
	mux.HandleFunc("GET /openadr3/3.0.1/programs", v.guarded(func(w http.ResponseWriter, r *http.Request) {
		v.page(w, r, []map[string]any{{"id": "p-1", "objectType": "PROGRAM", "programName": "tariff"}, {"id": "p-2", "objectType": "PROGRAM", "programName": "other"}})
	}))
	mux.HandleFunc("GET /openadr3/3.0.1/events", v.guarded(func(w http.ResponseWriter, r *http.Request) {
		var some []map[string]any
		for _, e := range v.events {
			if p := r.URL.Query().Get("programID"); p == "" || p == e["programID"] {
				some = append(some, e)
			}
		}
		v.page(w, r, some)
	}))
	mux.HandleFunc("POST /openadr3/3.0.1/subscriptions", v.guarded(func(w http.ResponseWriter, r *http.Request) {
		d := json.NewDecoder(r.Body)
		if err := d.Decode(&v.sub); err != nil || r.Header.Get("Content-Type") != "application/json" {
			problem(w, http.StatusBadRequest, "no subscription")
			return
		}
		v.sub["id"] = "s-1"
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(v.sub)
	}))
	mux.HandleFunc("DELETE /openadr3/3.0.1/subscriptions/s-1", v.guarded(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(v.sub)
		v.sub = nil
	}))
	v.Server = httptest.NewServer(mux)
	t.Cleanup(v.Close)
	return v
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "title": http.StatusText(status), "detail": detail})
}

func (v *vtn) auth(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.ParseForm() != nil || r.PostForm.Get("grant_type") != "client_credentials" || r.PostForm.Get("client_id") != "ven" || r.PostForm.Get("client_secret") != secret {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error": "invalid_client", "error_description": "unknown client"}`))
		return
	}
	v.tokens++
	v.valid = fmt.Sprintf("token-%d", v.tokens)
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": v.valid, "token_type": "Bearer", "expires_in": 3600, "scope": "read_all"})
}

func (v *vtn) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+v.valid {
			problem(w, http.StatusUnauthorized, "the token has ended")
			return
		}
		for name := range r.URL.Query() {
			if name != "skip" && name != "limit" && name != "programID" {
				problem(w, http.StatusBadRequest, "no parameter "+name)
				return
			}
		}
		next(w, r)
	}
}

// page gives at most 50 objects, as limit may not be more.
func (v *vtn) page(w http.ResponseWriter, r *http.Request, all []map[string]any) {
	skip, errSkip := strconv.Atoi(r.URL.Query().Get("skip"))
	limit, errLimit := strconv.Atoi(r.URL.Query().Get("limit"))
	if errSkip != nil || errLimit != nil || limit > 50 {
		problem(w, http.StatusBadRequest, "skip or limit")
		return
	}
	end := min(len(all), skip+limit)
	_ = json.NewEncoder(w).Encode(append([]map[string]any{}, all[min(skip, end):end]...))
}

func (v *vtn) client(t *testing.T) *openadr.Client {
	t.Helper()
	c, err := openadr.New(openadr.Config{URL: v.URL + "/openadr3/3.0.1", ID: "ven", Secret: secret})
	must(t, err)
	return c
}

// prices is an event with hourly prices.
func prices(id string, start time.Time, priority any, values ...float64) map[string]any {
	var intervals []map[string]any
	for i, v := range values {
		intervals = append(intervals, map[string]any{"id": i, "payloads": []map[string]any{{"type": "PRICE", "values": []float64{v}}}})
	}
	return map[string]any{
		"id": id, "programID": "p-1", "priority": priority, "modificationDateTime": start,
		"payloadDescriptors": []map[string]any{{"objectType": "EVENT_PAYLOAD_DESCRIPTOR", "payloadType": "PRICE", "units": "KWH", "currency": "EUR"}},
		"intervalPeriod":     map[string]any{"start": start, "duration": "PT1H"}, "intervals": intervals,
	}
}

func TestProgramsAndEventsComeInPagesWithATokenThatIsRenewed(t *testing.T) {
	v := newVTN(t)
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 120 {
		v.events = append(v.events, prices(fmt.Sprintf("e-%d", i), begin, nil, float64(i)))
	}
	c := v.client(t)
	programs, err := c.Programs(t.Context(), "tariff")
	must(t, err)
	if len(programs) != 1 || programs[0].ID != "p-1" {
		t.Errorf("%+v", programs)
	}
	events, err := c.Events(t.Context(), "p-1")
	must(t, err)
	if len(events) != 120 || events[119].ID != "e-119" || v.tokens != 1 {
		t.Errorf("%d events, %d tokens", len(events), v.tokens)
	}
	v.valid = "another one" // the server has forgotten what it gave
	_, err = c.Events(t.Context(), "")
	must(t, err)
	if v.tokens != 2 {
		t.Errorf("%d tokens were given", v.tokens)
	}
}

func TestWhatIsWrongIsTold(t *testing.T) {
	v := newVTN(t)
	wrong, err := openadr.New(openadr.Config{URL: v.URL + "/openadr3/3.0.1", ID: "ven", Secret: "no"})
	must(t, err)
	if _, err := wrong.Programs(t.Context(), ""); !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "unknown client") {
		t.Error(err)
	}
	if strings.Contains(fmt.Sprint(wrong.Programs(t.Context(), "")), secret) {
		t.Error("the secret is in the error")
	}
	for _, url := range []string{"", "vtn.example", "ftp://vtn.example/x", "http://vtn.example/openadr3"} {
		if _, err := openadr.New(openadr.Config{URL: url}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
	v.Close()
	if _, err := v.client(t).Programs(t.Context(), ""); !fault.Is(err, fault.Unreachable) {
		t.Error(err)
	}
}

func TestACallbackFetchesAtOnceAndOthersAreRefused(t *testing.T) {
	v := newVTN(t)
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	v.events = append(v.events, prices("day", begin, nil, 0.2, 0.3))
	ctx, cancel := context.WithCancel(t.Context())
	courses := make(chan *openadr.Course)
	w := openadr.NewWatch(openadr.Watch{Client: v.client(t), Program: "tariff", Payload: openadr.Price, Poll: time.Hour, Bearer: "b", Changed: func(c *openadr.Course) { courses <- c }})
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	if got, ok := (<-courses).At(begin.Add(90 * time.Minute)); !ok || got != 0.3 {
		t.Errorf("%g %t", got, ok)
	}
	s, err := w.Client.Subscribe(ctx, "ven", "p-1", "https://here.example/told", "b")
	must(t, err)
	operations, _ := json.Marshal(v.sub["objectOperations"])
	if s.ID != "s-1" || string(operations) != `[{"bearerToken":"b","callbackUrl":"https://here.example/told","objects":["EVENT"],"operations":["CREATE","UPDATE","DELETE"]}]` {
		t.Errorf("%+v %s", s, operations)
	}
	told := func(method, bearer string) int {
		out := httptest.NewRecorder()
		in := httptest.NewRequestWithContext(ctx, method, "/told", strings.NewReader("{}"))
		in.Header.Set("Authorization", bearer)
		w.ServeHTTP(out, in)
		return out.Code
	}
	if told(http.MethodPost, "Bearer x") != http.StatusUnauthorized || told(http.MethodGet, "Bearer b") != http.StatusMethodNotAllowed {
		t.Error("a stranger may call back")
	}
	for echo, want := range map[string]int{"q1-_w": http.StatusOK, "<script>": http.StatusMethodNotAllowed} {
		out := httptest.NewRecorder()
		w.ServeHTTP(out, httptest.NewRequestWithContext(ctx, http.MethodGet, "/told?echo="+url.QueryEscape(echo), nil))
		if out.Code != want || want == http.StatusOK && out.Body.String() != echo {
			t.Errorf("%q: %d %s", echo, out.Code, out.Body)
		}
	}
	v.mu.Lock()
	v.events = append(v.events, prices("now", begin.Add(time.Hour), 0, 0.9))
	v.mu.Unlock()
	if told(http.MethodPost, "Bearer b") != http.StatusOK {
		t.Error("the server may not call back")
	}
	if got, _ := (<-courses).At(begin.Add(90 * time.Minute)); got != 0.9 {
		t.Errorf("the event of higher priority does not count: %g", got)
	}
	must(t, w.Client.Unsubscribe(ctx, s.ID))
	cancel()
	must(t, <-done)
}

// course makes the course of events in JSON.
func course(t *testing.T, text string) (*openadr.Course, error) {
	t.Helper()
	var events []openadr.Event
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		return nil, err
	}
	return openadr.NewCourse(events, openadr.Emissions, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
}

func TestIntervalsBecomeACourse(t *testing.T) {
	c, err := course(t, `[
{"id": "base", "intervalPeriod": {"start": "2026-07-01T00:00:00Z", "duration": "P9999Y"}, "intervals": [{"id": 0, "payloads": [{"type": "GHG", "values": [400]}]}]},
{"id": "day", "priority": 3, "payloadDescriptors": [{"payloadType": "GHG", "units": "GHG_PER_KWH"}], "intervalPeriod": {"start": "2026-07-01T10:00:00+02:00", "duration": "PT30M"},
 "intervals": [{"id": 0, "payloads": [{"type": "GHG", "values": [100]}, {"type": "PRICE", "values": [7]}]}, {"id": 1, "payloads": [{"type": "GHG", "values": [150.5]}]},
 {"id": 2, "intervalPeriod": {"start": "2026-07-01T20:00:00Z"}, "payloads": [{"type": "GHG", "values": [600]}]}]},
{"id": "now", "priority": 1, "intervalPeriod": {"start": "0001-01-01T00:00:00Z", "duration": "PT15M"}, "intervals": [{"id": 0, "payloads": [{"type": "GHG", "values": [50]}]}]}]`)
	must(t, err)
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for at, want := range map[time.Duration]float64{
		0: 400, 8 * time.Hour: 100, 8*time.Hour + 30*time.Minute: 150.5, 9 * time.Hour: 400, 12 * time.Hour: 50,
		12*time.Hour + 15*time.Minute: 400, 20*time.Hour + 29*time.Minute: 600, 20*time.Hour + 30*time.Minute: 400,
	} {
		if got, ok := c.At(begin.Add(at)); !ok || got != want {
			t.Errorf("at %s: %g, want %g", at, got, want)
		}
	}
	if _, ok := c.At(begin.Add(-time.Second)); ok || c.Unit != "GHG_PER_KWH" {
		t.Errorf("there is a value before the begin, or the unit is %q", c.Unit)
	}
	s := c.Signal(begin.Add(-time.Hour), 10*time.Hour, 30*time.Minute)
	if len(s.Values) != 20 || !math.IsNaN(s.Values[1]) || s.Values[2] != 400 || s.Values[18] != 100 {
		t.Errorf("%v", s.Values)
	}
	r, err := openadr.Regulate(s, 100, 500)
	must(t, err)
	if !math.IsNaN(r.Values[0]) || r.Values[2] != 0.5 || r.Values[18] != -1 {
		t.Errorf("%v", r.Values)
	}
	if _, err := openadr.Regulate(s, 5, 5); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestEventsThatSayNothingAreTold(t *testing.T) {
	for want, text := range map[string]string{
		"has no time":             `[{"id": "x", "intervals": [{"id": 4, "payloads": []}]}]`,
		"one number is expected":  `[{"id": "x", "intervalPeriod": {"start": "2026-07-01T00:00:00Z"}, "intervals": [{"id": 4, "payloads": [{"type": "GHG", "values": ["low"]}]}]}]`,
		"no duration of ISO 8601": `[{"id": "x", "intervalPeriod": {"start": "2026-07-01T00:00:00Z", "duration": "an hour"}, "intervals": []}]`,
		"lasts -1h":               `[{"id": "x", "intervalPeriod": {"start": "2026-07-01T00:00:00Z", "duration": "-PT1H"}, "intervals": [{"id": 4, "payloads": []}]}]`,
	} {
		if _, err := course(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
