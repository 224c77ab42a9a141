package audit_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"voltbus/audit"
	"voltbus/fault"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		appendForEver(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *audit.Log {
	t.Helper()
	l, err := audit.Open(context.Background(), dir, clock)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func entry(i int) audit.Entry {
	return audit.Entry{
		Actor: "person:ada", Action: "person.set", Subject: fmt.Sprintf("p%d", i), Outcome: "ok",
		Detail: json.RawMessage(fmt.Sprintf(`{"role":"viewer","n":%d}`, i)),
	}
}

// fill makes a log of n entries and closes it.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	l := open(t, dir)
	for i := range n {
		must(t, l.Append(context.Background(), entry(i)))
	}
	must(t, l.Close())
}

func verify(t testing.TB, dir string) audit.Report {
	t.Helper()
	r, err := audit.VerifyFile(context.Background(), filepath.Join(dir, audit.File), "", nil)
	must(t, err)
	return r
}

// tamper changes the file as somebody with an editor would.
func tamper(t testing.TB, dir, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, audit.File))
	must(t, err)
	_, err = db.ExecContext(context.Background(), statement, args...)
	must(t, err)
	must(t, db.Close())
}

func TestEntriesComeBackAsTheyWereWritten(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	want := []audit.Entry{
		{Actor: "person:ada", Action: "config.apply", Subject: "voltbus.yaml", Outcome: "ok", Detail: json.RawMessage(`{ "a" : "<b>" }`)},
		{Actor: "node", Action: "node.start", Outcome: "ok", Time: clock().Add(time.Hour + 7)},
	}
	must(t, l.Append(t.Context(), want...))
	must(t, l.Close())
	again := open(t, dir)
	got, next, err := again.List(t.Context(), audit.Filter{Limit: 10})
	must(t, err)
	want[0].Seq, want[0].Time, want[0].Detail = 1, clock(), json.RawMessage(`{"a":"<b>"}`)
	want[1].Seq, want[1].Time = 2, clock().Add(time.Hour)
	for i := range want {
		want[i].Segment, want[i].Hash = 1, got[1-i].Hash
	}
	if diff := cmp.Diff([]audit.Entry{want[1], want[0]}, got); diff != "" || next != 0 {
		t.Error("next", next, diff)
	}
	if s := again.Status(); s.Head.Seq != 2 || s.Head.Hash != got[0].Hash || !s.Clean || s.Damage != "" {
		t.Errorf("status is %+v", s)
	}
}

func TestAnEntryThatIsBadlyDescribedIsKeptAllTheSame(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	must(t, l.Append(t.Context(), audit.Entry{
		Actor: "token:\xff\x00x", Action: "refused", Subject: strings.Repeat("ü", audit.MaxText), Outcome: "no", Detail: json.RawMessage("{oops\xff"),
	}, audit.Entry{Actor: "node", Action: "big", Detail: json.RawMessage(`"` + strings.Repeat("x", audit.MaxDetail) + `"`)}))
	got, _, err := l.List(t.Context(), audit.Filter{Limit: 10})
	must(t, err)
	if e := got[1]; e.Actor != "token:\uFFFD\uFFFDx" || len(e.Subject) > audit.MaxText || !strings.HasSuffix(e.Subject, "ü…") ||
		string(e.Detail) != `{"octets":6,"begins":"{oops�"}` {
		t.Errorf("kept %+v", e)
	}
	if e := got[0]; !json.Valid(e.Detail) || !strings.Contains(string(e.Detail), fmt.Sprintf(`"octets":%d`, audit.MaxDetail+2)) {
		t.Errorf("kept %.200s", e.Detail)
	}
	if err := l.Append(t.Context(), audit.Entry{Action: "x"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an entry of nobody: %v", err)
	}
	must(t, l.Close())
	if r := verify(t, dir); !r.Whole() {
		t.Error(r.Problems)
	}
}

func TestManyWritersShareTransactionsAndAllIsThere(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	const writers, each = 32, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := l.Append(context.Background(), audit.Entry{Actor: fmt.Sprintf("agent:%d", w), Action: "command", Subject: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, l.Close())
	l = open(t, dir)
	r, err := l.Verify(t.Context(), nil)
	must(t, err)
	if !r.Whole() || r.Entries != writers*each {
		t.Errorf("report %+v", r)
	}
	next := map[string]int{}
	must(t, l.Export(t.Context(), audit.Filter{}, func(e *audit.Entry) error {
		if e.Subject != fmt.Sprint(next[e.Actor]) {
			t.Errorf("entry %d: %s wrote %s, want %d: the order of a writer is lost", e.Seq, e.Actor, e.Subject, next[e.Actor])
		}
		next[e.Actor]++
		return nil
	}))
}

func TestWhatIsOfferedIsWrittenByRun(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for i := range audit.Burst {
		l.Offer(entry(i))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	must(t, l.Append(t.Context(), entry(0)))
	cancel()
	must(t, <-done)
	if r := verify(t, dir); !r.Whole() || r.Entries != audit.Burst+1 || l.Status().Lost > 0 {
		t.Errorf("report %+v", r)
	}
}

func TestEntriesAreListedNewestFirstInPagesAndByFilters(t *testing.T) {
	l := open(t, t.TempDir())
	for i := range 10 {
		must(t, l.Append(t.Context(), audit.Entry{
			Actor: []string{"person:ada", "agent:boiler"}[i%2], Action: []string{"person.set", "person.remove", "command"}[i%3],
			Subject: fmt.Sprintf("site/ahu%d/fan", i), Outcome: "ok", Time: clock().Add(time.Duration(i) * time.Second),
			Detail: json.RawMessage(fmt.Sprintf(`{"Note":"N%d"}`, i)),
		}))
	}
	tests := []struct {
		name   string
		filter audit.Filter
		want   []uint64
	}{
		{"all", audit.Filter{}, []uint64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"an actor", audit.Filter{Actor: "agent:*"}, []uint64{10, 8, 6, 4, 2}},
		{"actions of a kind", audit.Filter{Action: "person.*"}, []uint64{10, 8, 7, 5, 4, 2, 1}},
		{"an action", audit.Filter{Action: "command"}, []uint64{9, 6, 3}},
		{"what was done below a path", audit.Filter{Subject: "site/ahu3"}, []uint64{4}},
		{"a time", audit.Filter{From: clock().Add(2 * time.Second), To: clock().Add(4 * time.Second)}, []uint64{4, 3}},
		{"a text anywhere", audit.Filter{Text: "n7"}, []uint64{8}},
		{"before", audit.Filter{Before: 3}, []uint64{2, 1}},
		{"nothing", audit.Filter{Actor: "person:bob"}, nil},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 3, 100} {
			var got []uint64
			for f := tt.filter; ; {
				f.Limit = limit
				page, next, err := l.List(t.Context(), f)
				must(t, err)
				for i := range page {
					got = append(got, page[i].Seq)
				}
				if f.Before = next; next == 0 {
					break
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s in pages of %d: %s", tt.name, limit, diff)
			}
		}
	}
	if _, _, err := l.List(t.Context(), audit.Filter{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a page of nothing: %v", err)
	}
}

func TestALogThatIsClosedSaysSo(t *testing.T) {
	l := open(t, t.TempDir())
	must(t, l.Close())
	if err := l.Append(t.Context(), entry(1)); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	l.Offer(entry(1))
	if l.Status().Lost != 1 {
		t.Error("an entry disappeared without being counted")
	}
}

// Entries that are alike, that alternate and that are not are written by different statements.
func TestEveryEntryIsKeptAsItWasWritten(t *testing.T) {
	l, random := open(t, t.TempDir()), rand.New(rand.NewPCG(3, 4))
	var want []audit.Entry
	for range 12 {
		var batch []audit.Entry
		for len(batch) < 300 {
			kinds := 1 + random.IntN(3) // that follow each other in turn
			for i := range random.IntN(100) {
				k := i % kinds
				batch = append(batch, audit.Entry{
					Actor: fmt.Sprintf("agent:%d", k), Action: fmt.Sprintf("do.%d", k), Outcome: fmt.Sprintf("out %d", k),
					Subject: fmt.Sprintf("s%d", len(want)+len(batch)), Detail: json.RawMessage(fmt.Sprintf(`{"n":%d}`, len(batch))),
					Time: clock().Add(time.Duration(len(batch)) * time.Microsecond),
				})
			}
		}
		must(t, l.Append(t.Context(), batch...))
		want = append(want, batch...)
	}
	got, _, err := l.List(t.Context(), audit.Filter{Limit: 10_000})
	must(t, err)
	slices.Reverse(got)
	for i := range got {
		if got[i].Seq != uint64(i+1) || got[i].Segment != 1 {
			t.Fatalf("entry %d has number %d in segment %d", i+1, got[i].Seq, got[i].Segment)
		}
		got[i].Seq, got[i].Segment, got[i].Hash = 0, 0, audit.Hash{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the entries are not those that were written (-want +got):\n%.2000s", diff)
	}
	if r, err := l.Verify(t.Context(), nil); err != nil || !r.Whole() {
		t.Errorf("the chain is %+v, %v", r, err)
	}
}
