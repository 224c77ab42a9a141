package delivery_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/internal/xmlpull"
	"voltbus/meter/delivery"
	"voltbus/meter/message"
	"voltbus/meter/message/soap"
	"voltbus/meter/setting"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

// fixedLog is a log that does not grow.
type fixedLog struct{ entries [][]byte }

func (l *fixedLog) ID() string { return "log" }

func (l *fixedLog) Bounds(context.Context) (first, last uint64, err error) {
	return 1, uint64(len(l.entries)), nil
}

func (l *fixedLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for ; from <= uint64(len(l.entries)); from++ {
		if l.entries[from-1] == nil {
			continue
		}
		if err := deliver(from, l.entries[from-1]); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// add appends a block with a reading of each meter.
func (l *fixedLog) add(t *testing.T, before uint64, meters ...string) {
	t.Helper()
	b := &point.Block{Origin: "n~1#", Sequence: uint64(len(l.entries) + 1), Before: before, Created: time.Now()}
	for i, id := range meters {
		b.Points = append(b.Points, store.PathOf(store.ChannelKey{Meter: id, Channel: 1}))
		b.Append(uint32(i), &point.Sample{Point: b.Points[i], Time: time.Unix(int64(900*i), 0), Value: point.FloatOf(float64(i))})
	}
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	l.entries = append(l.entries, data)
}

// delivered runs a delivery until done says so, and returns its last state.
func delivered(t *testing.T, l *fixedLog, file, url string, done func(*delivery.Status) bool) delivery.Status {
	t.Helper()
	d, err := delivery.New(delivery.Config{
		Section: &setting.Concentrator{Bulk: 8, Age: time.Millisecond, Form: "soap", Kept: true, Parallel: 2, Timeout: 5 * time.Second, Systems: []setting.System{{URL: url}}},
		File:    file, Blocks: l, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	var run sync.WaitGroup
	run.Go(func() { _ = d.Run(ctx) })
	for ctx.Err() == nil {
		if s := d.Status(); done(&s) {
			break
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Errorf("in the end: %+v", d.Status())
		}
	}
	cancel()
	run.Wait()
	return d.Status()
}

// whole is a system of another maker: it refuses a message as a whole if one reading is of a meter that it does not know.
func whole(t *testing.T, took func(id string)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		in, err := soap.Read(bytes.NewReader(body), xmlpull.Limits{Depth: 16})
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("Content-Type", soap.V11.Media())
		for _, one := range in.Readings {
			if strings.HasPrefix(one.Meter, "x") {
				f := &soap.Fault{Code: "Sender", Reason: "meter " + one.Meter + " is not known"}
				w.WriteHeader(f.Status(soap.V11))
				_, _ = w.Write(f.Message(soap.V11))
				return
			}
		}
		for _, one := range in.Readings {
			took(one.Meter)
		}
		_, _ = w.Write(in.Answer(&message.Answer{Accepted: len(in.Readings)}))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestReadingsThatASystemRefusesWithTheWholeMessageAreFound(t *testing.T) {
	var mu sync.Mutex
	var took []string
	system := whole(t, func(id string) {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, id)
	})
	l := &fixedLog{}
	l.add(t, 0, "a", "b", "x1", "c", "d", "x2", "e", "f")
	l.add(t, 8, "g")
	got := delivered(t, l, filepath.Join(t.TempDir(), "d.json"), system.URL, func(s *delivery.Status) bool { return s.Sent+s.Refused == 9 })
	slices.Sort(took)
	if want := []string{"a", "b", "c", "d", "e", "f", "g"}; !slices.Equal(took, want) || got.Sent != 7 || got.Refused != 2 || got.Waiting != 0 {
		t.Errorf("took %v, %+v", took, got)
	}
	for _, r := range got.Refusals {
		if !strings.HasPrefix(r.Meter, "x") || !strings.Contains(r.Reason, "meter "+r.Meter+" is not known") {
			t.Errorf("refused: %+v", r)
		}
	}
}

func TestASystemThatTakesNothingAtAllRefusesNoReading(t *testing.T) {
	system := whole(t, func(string) {})
	l := &fixedLog{}
	l.add(t, 0, "x1", "x2", "x3")
	got := delivered(t, l, filepath.Join(t.TempDir(), "d.json"), system.URL, func(s *delivery.Status) bool { return s.Systems[0].Failed >= 2 })
	if got.Refused != 0 || got.Sent != 0 || got.Waiting != 3 || !strings.Contains(got.Systems[0].State.Why, "is not known") {
		t.Errorf("%+v", got)
	}
}

func TestBlocksThatTheLogDroppedAreCountedOnce(t *testing.T) {
	system := whole(t, func(string) {})
	l, file := &fixedLog{}, filepath.Join(t.TempDir(), "d.json")
	l.add(t, 0, "a", "b")
	delivered(t, l, file, system.URL, func(s *delivery.Status) bool { return s.Sent == 2 })
	l.add(t, 2, "c", "d", "e")
	l.entries[1] = nil
	l.add(t, 5, "f")
	for range 2 {
		got := delivered(t, l, file, system.URL, func(s *delivery.Status) bool { return s.Sent == 3 && s.Lost == 3 })
		if got.Sent != 3 || got.Lost != 3 {
			t.Errorf("%+v", got)
		}
	}
	if err := delivery.Check([]byte("{")); err == nil {
		t.Error("a damaged file passes")
	}
}
