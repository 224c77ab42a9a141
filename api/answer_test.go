package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	listed "voltbus/operation/devices"
	"voltbus/operation/history"
	account "voltbus/operation/ledger"
	"voltbus/operation/nodes"
	"voltbus/operation/people"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
)

func TestPointsComeInPages(t *testing.T) {
	n := start(t)
	var got []string
	for p, err := range n.client.AllPoints(t.Context(), client.Filter{Pattern: "site", Limit: 3}) {
		must(t, err)
		got = append(got, p.Path)
	}
	if d := cmp.Diff([]string{hostile, "site/count", "site/on", "site/silent", "site/temp"}, got); d != "" {
		t.Error(d)
	}
	page, err := n.client.Points(t.Context(), client.Filter{Tags: map[string]string{"equip": "ahu"}, Unit: "degC", Search: "TEMP"})
	want := answer.Points{Points: []answer.Point{{
		Path: "site/temp", Kind: "float", Unit: "degC", Device: "site", Interval: 60, Tags: map[string]string{"equip": "ahu"},
	}}}
	if d := cmp.Diff(want, page); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestLatestHoldsEveryKindExactly(t *testing.T) {
	n := start(t)
	got, err := n.client.Latest(t.Context(), client.Span{Points: []string{"site/count", "site/silent", hostile, "site/on", "site/temp"}})
	must(t, err)
	at := noon().Add(59*time.Minute + 123*time.Microsecond)
	want := []point.Sample{
		{Point: "site/count", Time: at, Value: point.IntOf(1<<60 + 59)},
		{Point: hostile, Time: at, Value: point.TextOf(`</script>,"x"`)},
		{Point: "site/on", Time: at, Value: point.BoolOf(false)},
		{Point: "site/temp", Time: at, Value: point.FloatOf(59.0 / 3)},
	}
	var samples []point.Sample
	for _, s := range got.Samples {
		sample, err := client.Sample(s)
		must(t, err)
		samples = append(samples, sample)
	}
	if d := cmp.Diff(want, samples, cmp.AllowUnexported(point.Value{})); d != "" {
		t.Error(d)
	}
}

func TestTheClientPassesOnThatAPointDoesNotExist(t *testing.T) {
	n := start(t)
	span := client.Span{Points: []string{"site/tem"}}
	for name, ask := range map[string]func() error{
		"latest":    func() error { _, err := n.client.Latest(t.Context(), span); return err },
		"range":     func() error { _, err := n.client.Range(t.Context(), span, 0, false); return err },
		"plot":      func() error { _, err := n.client.Plot(t.Context(), span, 0); return err },
		"aggregate": func() error { _, err := n.client.Aggregate(t.Context(), span, client.Steps{}); return err },
		"export":    func() error { _, err := n.client.Export(t.Context(), span, "csv", io.Discard); return err },
	} {
		err := ask()
		if want := `site/tem: there is no such point; did you mean "site/temp"?`; !fault.Is(err, fault.NotFound) || err.Error() != want {
			t.Errorf("%s gives %v (%v), want %s", name, err, fault.KindOf(err), want)
		}
	}
}

// A range read over HTTP is what the store holds.
func TestRangeHoldsWhatTheStoreHolds(t *testing.T) {
	n := start(t)
	got, err := n.client.Range(t.Context(), client.Span{Pattern: "site/**", From: "2026-03-01T12:00:00Z", To: "now"}, 0, false)
	must(t, err)
	var samples []point.Sample
	for _, s := range got.Series {
		list, err := client.Samples(s)
		must(t, err)
		samples = append(samples, list...)
	}
	var want []point.Sample
	r := store.Range{Points: []point.Path{hostile, "site/count", "site/on", "site/temp"}, From: noon(), To: n.clock.now()}
	must(t, n.store.Read(t.Context(), r, func(run []point.Sample) error { want = append(want, run...); return nil }))
	if d := cmp.Diff(want, samples, cmp.AllowUnexported(point.Value{})); d != "" || len(want) != 240 {
		t.Error(len(want), d)
	}
}

func TestRangeSaysHowCompleteItIs(t *testing.T) {
	n := start(t)
	got, err := n.client.Range(t.Context(), client.Span{Points: []string{"site/temp", "site/on"}, From: "2026-03-01T12:00:00Z", To: "2026-03-01T13:00:00Z"}, 2, true)
	must(t, err)
	temp, on := got.Series[0], got.Series[1]
	if temp.Expected == nil || *temp.Expected != 60 || temp.Present != 59 || temp.Bad != 1 || !temp.Truncated || len(temp.Samples) != 2 {
		t.Errorf("with an interval it is %+v", temp)
	}
	if on.Expected != nil || on.Present != 59 || on.Bad != 1 {
		t.Errorf("without an interval it is %+v", on)
	}
	if got.Completeness == nil || *got.Completeness != 59.0/60 || got.Step != nil || temp.Unit != "degC" || temp.Kind != "float" {
		t.Errorf("the whole is %+v", got)
	}
}

func TestPlotSaysItsStep(t *testing.T) {
	n := start(t)
	span := client.Span{Points: []string{"site/temp"}, From: "2026-03-01T12:00:00Z", To: "2026-03-01T13:00:00Z"}
	all, err := n.client.Plot(t.Context(), span, 800)
	must(t, err)
	if all.Step == nil || *all.Step != 0 || len(all.Series[0].Samples) != 60 || all.Series[0].Samples[30].Quality != "bad(timeout)" {
		t.Errorf("a wide plot is %+v", all)
	}
	few, err := n.client.Plot(t.Context(), span, 10)
	must(t, err)
	if few.Step == nil || *few.Step < 360 || *few.Step > 361 || len(few.Series[0].Samples) > 40 {
		t.Errorf("a narrow plot has the step %v and %d samples", *few.Step, len(few.Series[0].Samples))
	}
}

func TestAggregateSummarises(t *testing.T) {
	n := start(t)
	got, err := n.client.Aggregate(t.Context(), client.Span{Points: []string{"site/count", hostile}, From: "2026-03-01T12:00:00Z", To: "now"}, client.Steps{Step: "1h"})
	must(t, err)
	b := got.Series[0].Buckets[0]
	if len(got.Series[0].Buckets) != 1 || b.Count != 59 || b.Bad != 1 || *b.Min != 1<<60 || !b.Start.Equal(noon()) || got.Step != 3600 {
		t.Errorf("numbers give %+v", got)
	}
	if b := got.Series[1].Buckets[0]; b.Count != 59 || b.Mean != nil || b.First != nil {
		t.Errorf("text gives %+v", b)
	}
}

func TestAnswersAreCompressedForThoseWhoCan(t *testing.T) {
	n := start(t)
	const path = "/api/v1/range?pattern=**&from=2026-03-01T12:00:00Z"
	plain := n.do("GET", path, "", n.bearer(), header("Accept-Encoding", "identity"))
	packed := n.do("GET", path, "", n.bearer(), header("Accept-Encoding", "br, gzip;q=0.5"))
	if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("headers are %v and %v", plain.Header, packed.Header)
	}
	r, err := gzip.NewReader(strings.NewReader(packed.body))
	must(t, err)
	b, err := io.ReadAll(r)
	must(t, err)
	if string(b) != plain.body || len(packed.body) > len(plain.body)/2 {
		t.Errorf("%d bytes are packed into %d and unpack to %d", len(plain.body), len(packed.body), len(b))
	}
	for _, refuses := range []string{"gzip;q=0", "gzip; q=0.0", "br"} {
		if got := n.do("GET", path, "", n.bearer(), header("Accept-Encoding", refuses)); got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%q is answered with %s", refuses, got.Header.Get("Content-Encoding"))
		}
	}
	if got := n.do("GET", "/api/v1/version", "", n.bearer(), header("Accept-Encoding", "gzip")); got.Header.Get("Content-Encoding") != "" {
		t.Error("a short answer is compressed")
	}
}

func TestExportIsCSVThatReadsBack(t *testing.T) {
	n := start(t)
	var file bytes.Buffer
	done, err := n.client.Export(t.Context(), client.Span{Pattern: "**", From: "2026-03-01T12:00:00Z"}, "csv", &file)
	must(t, err)
	if done.Bytes != int64(file.Len()) {
		t.Errorf("the size is %d of %d", done.Bytes, file.Len())
	}
	rows, err := csv.NewReader(&file).ReadAll()
	must(t, err)
	if d := cmp.Diff([]string{"point", "time", "value", "kind", "quality"}, rows[0]); d != "" || len(rows) != 241 {
		t.Error(len(rows), d)
	}
	if d := cmp.Diff([]string{hostile, "2026-03-01T12:00:00.000123Z", `</script>,"x"`, "text", "good"}, rows[1]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{hostile, "2026-03-01T12:30:00.000123Z", "", "none", "bad(timeout)"}, rows[31]); d != "" {
		t.Error(d)
	}
}

// broken is an engine whose export fails in the middle, or goes on for ever.
type broken struct {
	*query.Engine
	endless bool
	ended   chan error
}

func (b broken) Export(ctx context.Context, _ query.Request, emit func([]point.Sample) error) error {
	run := make([]point.Sample, 1000)
	for i := range run {
		run[i] = point.Sample{Point: "p", Value: point.IntOf(int64(i))}
	}
	for i := 0; b.endless || i < 100; i++ {
		err := ctx.Err()
		if err == nil {
			err = emit(run)
		}
		if err != nil {
			b.ended <- err
			return err
		}
	}
	return fault.E("store.Read", fault.Corrupt, "2026-03-01", errors.New("the file is damaged"))
}

func TestAnExportThatFailsIsNotTakenForWhole(t *testing.T) {
	n := start(t, withEngine(func(history.Engine) history.Engine { return broken{} }))
	_, err := n.client.Export(t.Context(), client.Span{Pattern: "**"}, "csv", io.Discard)
	if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "not complete") {
		t.Errorf("the reader gets %v", err)
	}
}

func TestAnExportEndsWhenItsReaderGoes(t *testing.T) {
	ended := make(chan error, 1)
	n := start(t, withEngine(func(history.Engine) history.Engine { return broken{endless: true, ended: ended} }))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := n.open(ctx, "GET", "/api/v1/export?pattern=**", "", n.bearer())
	must(t, err)
	_, err = io.CopyN(io.Discard, resp.Body, 1<<20)
	must(t, err)
	cancel()
	must(t, errors.Join(resp.Body.Close()))
	if err := <-ended; err == nil {
		t.Error("it ended without an error")
	}
}

// filer is an engine whose store writes Parquet.
type filer struct {
	*query.Engine
	err  error
	file string
}

func (f *filer) ExportParquet(_ context.Context, _ query.Request, file string) (int64, error) {
	f.file = file
	if f.err != nil {
		return 0, f.err
	}
	return 1, os.WriteFile(file, bytes.Repeat([]byte("PAR1"), 100_000), 0o600)
}

func TestAParquetFileIsSentWholeAndRemoved(t *testing.T) {
	f := &filer{}
	n := start(t, withEngine(func(history.Engine) history.Engine { return f }))
	var got bytes.Buffer
	done, err := n.client.Export(t.Context(), client.Span{Pattern: "**"}, "parquet", &got)
	must(t, err)
	if done.Bytes != 400_000 || !bytes.HasPrefix(got.Bytes(), []byte("PAR1PAR1")) {
		t.Errorf("got %d bytes", done.Bytes)
	}
	prepared := f.file
	f.err = fault.E("store", fault.Unavailable, "disk", errors.New("is full"))
	reply := n.get("/api/v1/export?pattern=**&format=parquet")
	if p := reply.problem(t); p.Subject != "disk" || reply.Header.Get("Content-Disposition") != "" {
		t.Errorf("a full disk gives %+v, %v", p, reply.Header)
	}
	n.server.Close() // which waits until the requests are over: what was prepared goes after the last byte
	if _, err := os.Stat(filepath.Dir(prepared)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was prepared is still there: %v", err)
	}
}

func TestSQLSendsRowsAsTheyCome(t *testing.T) {
	n := start(t)
	var columns []string
	var rows []string
	ask := func(statement string, limit int) (bool, error) {
		columns, rows = nil, nil
		return n.client.SQL(t.Context(), statement, limit,
			func(c []string) error { columns = c; return nil },
			func(r []json.RawMessage) error {
				b, err := json.Marshal(r)
				rows = append(rows, string(b))
				return err
			})
	}
	truncated, err := ask("SELECT 1", 0)
	must(t, err)
	if truncated || len(rows) != 10 || len(columns) != 6 || !strings.HasSuffix(rows[3], `,3,0.5,"2026-03-01T12:00:00.000000Z",true,null]`) {
		t.Errorf("got %v %v %v", columns, rows, truncated)
	}
	if truncated, err = ask("SELECT 1", 4); !truncated || len(rows) != 4 || err != nil {
		t.Errorf("with a limit of 4: %d rows, truncated %v, %v", len(rows), truncated, err)
	}
	if _, err := ask("late", 0); !fault.Is(err, fault.Corrupt) || len(rows) != 3 || err.Error() != "2026-03-01: the file is damaged" {
		t.Errorf("a late error comes as %v after %d rows", err, len(rows))
	}
	if _, err := ask("refused", 0); !fault.Is(err, fault.Refused) {
		t.Errorf("a refused statement gives %v", err)
	}
}

func TestFewStatementsRunAtOnce(t *testing.T) {
	n := start(t, func(c *api.Config) { c.StatementPatience = 10 * time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := n.client.SQL(ctx, "hang", 0, nil, nil)
		done <- err
	}()
	for { // until it runs
		_, err := n.client.SQL(t.Context(), "refused", 0, nil, nil)
		if fault.Is(err, fault.Unavailable) {
			break
		}
	}
	cancel()
	if err := <-done; !fault.Is(err, fault.Canceled) {
		t.Errorf("a statement that is given up returns %v", err)
	}
}

func TestMetricsCanBeScraped(t *testing.T) {
	n := start(t)
	got := n.get("/metrics")
	for _, want := range []string{
		`voltbus_samples_stored_total{origin="no\"de\\1\n"} 30` + "\n",
		"voltbus_log_bytes 1000\n", "voltbus_store_samples 240\n",
		`voltbus_devices{state="online"} 1` + "\n", `voltbus_devices{state="disabled"} 0` + "\n", `voltbus_devices{state="hung"} 1` + "\n",
		"voltbus_live_readers 0\n", "voltbus_device_lost_reports_total 4\n", "# TYPE go_memory_total_bytes gauge\n", "voltbus_uptime_seconds 0\n",
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for line := range strings.Lines(got.body) {
		if !strings.HasPrefix(line, "# ") && len(strings.Fields(line)) < 2 {
			t.Errorf("%q is no metric", line)
		}
	}
}

func TestTheClientSaysWhatIsWrong(t *testing.T) {
	n := start(t)
	stranger, err := client.New(n.url, strings.Repeat("a", 43), n.server.Client().Transport)
	must(t, err)
	if _, err := client.Do(t.Context(), stranger, nodes.Version, struct{}{}); !fault.Is(err, fault.Refused) {
		t.Errorf("a wrong token gives %v", err)
	}
	if h, err := stranger.Health(t.Context()); err != nil || h.Status != "ok" {
		t.Errorf("health gives %+v, %v", h, err)
	}
	n.state.health.Status = "failed"
	if h, err := n.client.Health(t.Context()); err != nil || h.Status != "failed" || len(h.Parts) != 1 {
		t.Errorf("health of a failed node gives %+v, %v", h, err)
	}
	if _, err := n.client.Range(t.Context(), client.Span{}, 0, false); !fault.Is(err, fault.Invalid) {
		t.Errorf("a range of nothing gives %v", err)
	}
	if s, err := client.Do(t.Context(), n.client, people.Session, struct{}{}); err != nil || s.User != "admin" {
		t.Errorf("session gives %+v, %v", s, err)
	}
	if d, err := client.Do(t.Context(), n.client, listed.List, struct{}{}); err != nil || d.Devices[0].Path != hostile {
		t.Errorf("devices give %+v, %v", d, err)
	}
	if l, err := client.Do(t.Context(), n.client, account.Get, account.Reach{}); err != nil || len(l.Gaps) != 1 {
		t.Errorf("the ledger gives %+v, %v", l, err)
	}
	n.server.Close()
	if _, err := client.Do(t.Context(), n.client, nodes.Version, struct{}{}); !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "check that it runs") {
		t.Errorf("a node that is gone gives %v", err)
	}
	for _, address := range []string{"", "localhost:8080", "ftp://x", "http://"} {
		if _, err := client.New(address, "", nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("the address %q gives %v", address, err)
		}
	}
}

func TestEscapedNamesSurviveTheQuery(t *testing.T) {
	n := start(t)
	got := n.get("/api/v1/range?from=2026-03-01T12:00:00Z&point=" + url.QueryEscape(hostile))
	var r answer.Range
	must(t, json.Unmarshal([]byte(got.body), &r))
	if r.Series[0].Point != hostile || len(r.Series[0].Samples) != 60 {
		t.Errorf("got %s", got.body)
	}
}
