package delivery_test

import (
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter/delivery"
	"voltbus/meter/setting"
)

func TestSendingAgainGoesOnWhereItStopped(t *testing.T) {
	var mu sync.Mutex
	took := map[string]int{}
	system := whole(t, func(id string) {
		mu.Lock()
		defer mu.Unlock()
		took[id] = 1 // a bulk may end within a block, which goes again
	})
	var requests, bad atomic.Int64 // bad is the request that fails
	var under atomic.Pointer[delivery.Delivery]
	span := delivery.Span{From: time.Unix(-1, 0), To: time.Unix(900, 0)} // of each block the first two
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == bad.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		if d := under.Load(); d != nil {
			if _, err := d.SendAgain(t.Context(), span); !fault.Is(err, fault.Conflict) {
				t.Errorf("a second one at once: %v", err)
			}
		}
		system.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(gate.Close)
	l, file := &fixedLog{}, filepath.Join(t.TempDir(), "d.json")
	want := map[string]int{}
	for i := range 10 {
		id := string(rune('a' + i))
		l.add(t, uint64(3*i), id+"1", id+"2", id+"3")
		want[id+"1"], want[id+"2"] = 1, 1
	}
	section := &setting.Concentrator{Bulk: 5, Age: time.Millisecond, Form: "soap", Kept: true, Parallel: 1, Timeout: 5 * time.Second, Systems: []setting.System{{URL: gate.URL}}}
	c := delivery.Config{Section: section, File: file, Blocks: l, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	never, err := delivery.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := never.SendAgain(t.Context(), span); err != nil || got.Sent > 0 || got.More {
		t.Errorf("what waits is not sent again: %+v, %v", got, err)
	}
	delivered(t, l, file, gate.URL, func(s *delivery.Status) bool { return s.Sent == 30 })
	mu.Lock()
	clear(took)
	mu.Unlock()
	d, err := delivery.New(c)
	if err != nil {
		t.Fatal(err)
	}
	under.Store(d)
	bad.Store(requests.Load() + 2)
	got, err := d.SendAgain(t.Context(), span)
	if err != nil || got.Sent != 5 || !got.More || got.Trouble == "" || got.Place != 2 {
		t.Fatalf("until the system is away: %+v, %v", got, err)
	}
	d.Retry(0)
	span.After = got.Place
	if got, err = d.SendAgain(t.Context(), span); err != nil || got.More || got.Trouble != "" || got.Place != 10 {
		t.Fatalf("the rest: %+v, %v", got, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !maps.Equal(took, want) {
		t.Errorf("sent again: %v", took)
	}
	if s := d.Status(); s.Sent != 30 || s.Refused != 0 {
		t.Errorf("what was counted changed: %+v", s)
	}
}
