package node_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/parent"
	"voltbus/point"
	"voltbus/store/duckdb/engine"
	"voltbus/testing/link"
)

// history records a sample a second at a node, so many of each point.
func history(t *testing.T, at member, base time.Time, count int, points ...string) {
	t.Helper()
	for _, p := range points {
		samples := make([]point.Sample, count)
		for i := range samples {
			samples[i] = point.Sample{Point: point.Path(p), Time: base.Add(time.Duration(i) * time.Second), Value: point.IntOf(int64(i))}
		}
		if err := at.Record(wait(t), samples); err != nil {
			t.Fatal(err)
		}
	}
	awaitTrue(t, "it is stored there", func() bool {
		for _, p := range points {
			r, err := at.Range(wait(t), client.Span{Points: []string{p}, From: "-1d", Local: true}, 0, false)
			if err != nil || len(r.Series[0].Samples) < count {
				return false
			}
		}
		return true
	})
}

// whole reports whether a series holds the values from first up to end, each once and in order.
func whole(s answer.Series, first, end int) bool {
	samples, err := client.Samples(s)
	if err != nil || len(samples) != end-first {
		return false
	}
	for i := range samples {
		if samples[i].Value != point.IntOf(int64(first+i)) {
			return false
		}
	}
	return true
}

func states(list []answer.Source) (out []string) {
	for _, s := range list {
		out = append(out, s.Node+" "+s.State)
	}
	return out
}

// unhurried asks again as long as a node was late, which the answer says: on a machine with much to do one
// may be.
func unhurried(t *testing.T, ask func() ([]answer.Source, error)) {
	t.Helper()
	awaitTrue(t, "nobody is late with an answer", func() bool {
		sources, err := ask()
		return err != nil || !slices.ContainsFunc(sources, func(s answer.Source) bool { return s.State == "late" })
	})
}

// rangeOf is a range of a node for which nobody was late.
func rangeOf(t *testing.T, at member, span client.Span, limit int, newest bool) (r answer.Range, err error) {
	t.Helper()
	unhurried(t, func() ([]answer.Source, error) {
		r, err = at.Range(wait(t), span, limit, newest)
		return r.Sources, err
	})
	return r, err
}

// latestOf are the newest samples of a node for which nobody was late.
func latestOf(t *testing.T, at member, span client.Span) (l answer.Latest, err error) {
	t.Helper()
	unhurried(t, func() ([]answer.Source, error) {
		l, err = at.Latest(wait(t), span)
		return l.Sources, err
	})
	return l, err
}

// summary is a summary of a node for which nobody was late.
func summary(t *testing.T, at member, span client.Span, how client.Steps) (a answer.Aggregate, err error) {
	t.Helper()
	unhurried(t, func() ([]answer.Source, error) {
		a, err = at.Aggregate(wait(t), span, how)
		return a.Sources, err
	})
	return a, err
}

func TestHistoryIsAnsweredWithWhatNodesBelowHaveNotSent(t *testing.T) {
	const count = 300
	c := plantChain(t, map[string]string{
		"campus": "uplink: {select: [\"plant/ahu/**\"], allow: [\"read **\"]}\n",
		"plant":  "uplink: {select: [\"ahu/**\"], allow: [\"read ahu/**\", \"read meter/**\"]}\n",
	}, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp", "meter/power", "door/lock")
	awaitTrue(t, "the region has what is sent", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	span := client.Span{Points: []string{"campus/plant/ahu/temp", "campus/plant/meter/power"}, From: "-1d"}
	r, err := rangeOf(t, c.region, span, 0, false)
	if err != nil || len(r.Series) != 2 || !whole(r.Series[0], 0, count) || !whole(r.Series[1], 0, count) {
		t.Fatalf("the region answers %+v, %v", r, err)
	}
	if got := states(r.Sources); !slices.Equal(got, []string{"campus asked", "plant asked"}) || r.Sources[0].Samples != count || r.Series[1].Present != count {
		t.Errorf("the sources are %+v, the series has %d", r.Sources, r.Series[1].Present)
	}
	for _, bound := range []struct {
		newest     bool
		first, end int
	}{{false, 0, 7}, {true, count - 7, count}} {
		r, err := rangeOf(t, c.region, span, 7, bound.newest)
		if err != nil || !whole(r.Series[0], bound.first, bound.end) || !whole(r.Series[1], bound.first, bound.end) || !r.Series[1].Truncated {
			t.Errorf("with a limit: %+v, %v", r, err)
		}
	}
	l, err := latestOf(t, c.region, client.Span{Points: span.Points})
	if err != nil || len(l.Samples) != 2 || string(l.Samples[1].Value) != "299" || l.Samples[1].Point != span.Points[1] {
		t.Errorf("the newest are %+v, %v", l, err)
	}
	r, err = rangeOf(t, c.region, client.Span{Points: []string{"campus/plant/door/lock"}, From: "-1d"}, 0, false)
	if err != nil || !slices.Contains(states(r.Sources), "plant refused") || r.Sources[len(r.Sources)-1].Missing != "read door/lock" {
		t.Errorf("what the plant does not let read: %+v, %v", r, err)
	}
	span.Local = true
	if _, err := c.region.Range(wait(t), span, 0, false); !fault.Is(err, fault.NotFound) {
		t.Errorf("the own store alone has a point that was not sent: %v", err)
	}
	if _, err := c.region.Range(wait(t), client.Span{Points: []string{"campus/plant/meter/none"}}, 0, false); !fault.Is(err, fault.NotFound) {
		t.Errorf("a point that no node knows: %v", err)
	}
	r, err = rangeOf(t, c.region, client.Span{Points: span.Points[:1], From: "-1d", To: base.Add(100 * time.Second).Format(time.RFC3339)}, 0, false)
	if err != nil || !whole(r.Series[0], 0, 100) || r.Sources[0].State != "stored" && r.Sources[0].Waiting == 0 {
		t.Errorf("a time that is stored here: %+v, %v", r.Sources, err)
	}
}

func TestANodeThatIsAwayIsNamedInTheAnswer(t *testing.T) {
	const count = 200
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp")
	awaitTrue(t, "campus has it", func() bool { n, _ := stored(c.campus.running, "plant"); return n >= count })
	awaitTrue(t, "the region has it", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	c.toRegion.Lead("")
	c.toRegion.Cut()
	history(t, c.plant, base.Add(count*time.Second), 1, "ahu/temp")
	awaitTrue(t, "the region knows that campus is away", func() bool { return !c.region.Subtree().Nodes()[0].Away.IsZero() })
	span := client.Span{Points: []string{"campus/plant/ahu/temp"}, From: "-1d"}
	r, err := c.region.Range(wait(t), span, 0, false)
	if err != nil || !whole(r.Series[0], 0, count) {
		t.Fatalf("the region answers with what it has: %+v, %v", r, err)
	}
	if got := states(r.Sources); !slices.Equal(got, []string{"campus unreachable"}) || r.Sources[0].Since == nil || r.Sources[0].Why == "" {
		t.Errorf("the sources are %+v", r.Sources)
	}
	l, err := c.region.Latest(wait(t), client.Span{})
	if err != nil || len(l.Samples) != 1 || !slices.Equal(states(l.Sources), []string{"campus unreachable"}) {
		t.Errorf("the newest: %+v, %v", l, err)
	}
	span.Local = true
	if r, err = c.region.Range(wait(t), span, 0, false); err != nil || r.Sources != nil {
		t.Errorf("the own store alone: %+v, %v", r.Sources, err)
	}
}

func TestALateNodeIsNamedInTheAnswerAndItsHistoryComesOnce(t *testing.T) {
	t.Parallel()
	const count = 200
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	c.toCampus.Hold(link.Up, true)
	history(t, c.plant, base, count, "ahu/temp")
	span := client.Span{Points: []string{"campus/plant/ahu/temp"}, From: "-1d"}
	r, err := answer.Range{}, error(nil)
	awaitTrue(t, "the campus says in time that the plant is late", func() bool {
		r, err = c.region.Range(wait(t), span, 0, false)
		return err != nil || slices.Equal(states(r.Sources), []string{"campus asked", "plant late"})
	})
	if err != nil || len(r.Series) != 1 || len(r.Series[0].Samples) != 0 {
		t.Fatalf("while nothing comes from the plant: %+v, %v", r, err)
	}
	c.toCampus.Hold(link.Up, false)
	awaitTrue(t, "its history is in the answer", func() bool { // who was late has little time for some seconds
		r, err = c.region.Range(wait(t), span, 0, false)
		return err == nil && len(r.Series) == 1 && whole(r.Series[0], 0, count)
	})
	awaitTrue(t, "the region has it", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	if r, err = rangeOf(t, c.region, span, 0, false); err != nil || !whole(r.Series[0], 0, count) {
		t.Errorf("when it is stored here, too: %+v, %v", r, err)
	}
}

func TestABacklogOfASlowUplinkIsInTheAnswer(t *testing.T) {
	const count = 5000
	c := plantChain(t, map[string]string{"plant": "uplink: {rate: 1KiB}\n"}, nil)
	base := time.Now().Add(-2 * time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp", "ahu/fan", "ahu/flow", "ahu/valve")
	span := client.Span{Points: []string{"campus/plant/ahu/fan", "campus/plant/ahu/valve"}, From: "-1d"}
	r, err := rangeOf(t, c.region, span, 0, false)
	if err != nil || len(r.Series) != 2 || !whole(r.Series[0], 0, count) || !whole(r.Series[1], 0, count) {
		t.Errorf("the region answers %+v, %v", r.Sources, err)
	}
	if !slices.Contains(states(r.Sources), "plant asked") || r.Sources[0].Samples == 0 {
		t.Errorf("the sources are %+v", r.Sources)
	}
	a, err := summary(t, c.region, span, client.Steps{Step: "1mo", Functions: "median"})
	if err != nil || a.Series[0].Present != count || a.Sources[0].Samples == 0 {
		t.Errorf("the region summarises %+v, %+v, %v", a.Series, a.Sources, err)
	}
}

// late records samples at a node whose times lie before what it recorded so far.
func late(t *testing.T, at member, p point.Path, base time.Time, count int) {
	t.Helper()
	for i := range count {
		s := point.Sample{Point: p, Time: base.Add(time.Duration(i)*time.Second + 500*time.Millisecond), Value: point.IntOf(int64(1000 + i))}
		if err := at.Record(wait(t), []point.Sample{s}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryQuestionHasWhatTheSlowLinkHolds(t *testing.T) {
	t.Parallel()
	const count = 300
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-2 * time.Hour).UTC().Truncate(time.Hour)
	history(t, c.plant, base, count, "ahu/temp")
	awaitTrue(t, "the region has it", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	c.toRegion.Hold(link.Up, true) // what campus sends now does not come
	late(t, c.plant, "ahu/temp", base, 50)
	awaitTrue(t, "campus has it", func() bool { n, _ := stored(c.campus.running, "plant"); return n >= count+50 })
	span := client.Span{Points: []string{"campus/plant/ahu/temp"}, From: base.Format(time.RFC3339), To: base.Add(time.Hour).Format(time.RFC3339)}
	a, err := c.region.Aggregate(wait(t), span, client.Steps{Step: "1h", Functions: "count,median"})
	if err != nil || a.Series[0].Present != count || !slices.Equal(states(a.Sources), []string{"campus stored"}) && !slices.Equal(states(a.Sources), []string{"campus late"}) {
		t.Fatalf("while nothing comes: %+v, %v", a, err)
	}
	c.toRegion.Hold(link.Up, false)
	span.To = "now" // the newest sample here is older: campus is asked
	a, err = summary(t, c.region, span, client.Steps{Step: "1d", Zone: "Europe/Berlin", Functions: "count,median,p90"})
	there, err2 := c.plant.Aggregate(wait(t), client.Span{Points: []string{"ahu/temp"}, From: span.From}, client.Steps{Step: "1d", Zone: "Europe/Berlin", Functions: "count,median,p90"})
	if err != nil || err2 != nil || a.Series[0].Present != count+50 || !slices.EqualFunc(a.Series[0].Buckets, there.Series[0].Buckets, sameFigures) {
		t.Errorf("the region summarises %+v, the plant %+v, %v, %v", a.Series, there.Series, err, err2)
	}
	var p answer.Range
	unhurried(t, func() ([]answer.Source, error) {
		p, err = c.region.Plot(wait(t), span, 1000)
		return p.Sources, err
	})
	if err != nil || len(p.Series[0].Samples) != count+50 || len(p.Sources) == 0 {
		t.Errorf("the plot has %d samples, %+v, %v", len(p.Series[0].Samples), p.Sources, err)
	}
	sameInAllFormats(t, c.region, span, count+50)
	known := client.Body{Media: "text/csv", Text: []byte("point,time,value\nahu/temp," + base.Add(time.Hour).Format(time.RFC3339) + ",1\n")}
	if _, err := c.plant.SendSamples(wait(t), known); err != nil { // so that it stands in the catalogues
		t.Fatal(err)
	}
	awaitTrue(t, "a panel of Grafana has all of them, and that one", func() bool { return panel(t, c.region, span) == fmt.Sprint(count+51) })
}

// sameInAllFormats checks that files of all formats hold the same samples, so many.
func sameInAllFormats(t *testing.T, at member, span client.Span, count int) {
	t.Helper()
	want := map[string][]string{}
	for format, rows := range map[string]func(*testing.T, []byte) []string{"csv": rowsOfCSV, "arrow": rowsOfArrow, "parquet": rowsOfParquet} {
		var file bytes.Buffer
		done, err := at.Export(wait(t), span, format, &file)
		if err != nil || len(done.Sources) == 0 || slices.ContainsFunc(done.Sources, func(s answer.Source) bool { return s.State != "asked" }) {
			t.Fatalf("the export to %s: %+v, %v", format, done, err)
		}
		if want[format] = rows(t, file.Bytes()); len(want[format]) != count {
			t.Errorf("the export to %s has %d samples, want %d", format, len(want[format]), count)
		}
	}
	for _, format := range []string{"arrow", "parquet"} {
		if diff := cmp.Diff(want["csv"], want[format]); diff != "" {
			t.Errorf("%s differs from csv: %s", format, diff)
		}
	}
}

// cell is a sample in a file, of whatever format.
func cell(p string, at time.Time, value any) string {
	return fmt.Sprint(p, " ", at.UTC().Format(time.RFC3339Nano), " ", value)
}

func rowsOfCSV(t *testing.T, file []byte) (out []string) {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		at, err := time.Parse(time.RFC3339Nano, r[1])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, cell(r[0], at, r[2]))
	}
	return out
}

func rowsOfArrow(t *testing.T, file []byte) (out []string) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		batch := r.RecordBatch()
		points, times := batch.Column(0).(*array.String), batch.Column(1).(*array.Timestamp)
		for i := range int(batch.NumRows()) {
			out = append(out, cell(points.Value(i), time.UnixMicro(int64(times.Value(i))), batch.Column(2).(*array.Float64).Value(i)))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

func rowsOfParquet(t *testing.T, file []byte) (out []string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "export.parquet")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Query(wait(t), "SELECT point, time, value FROM read_parquet($1)", func(ch *engine.Chunk) error {
		points, times, values := ch.Texts(0), engine.Numbers[int64](ch, 1), engine.Numbers[float64](ch, 2)
		for i := range ch.Rows {
			out = append(out, cell(points.At(i), engine.Time(times[i]), values[i]))
		}
		return nil
	}, name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// panel returns how many samples of a point a question in PromQL counts.
func panel(t *testing.T, at member, span client.Span) string {
	t.Helper()
	token, err := identity.ReadToken(filepath.Join(at.cfg.Node.Data, identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	asked := url.Values{"query": {`count_over_time(voltbus_point{path="` + span.Points[0] + `"}[1d])`}}
	r, err := http.NewRequestWithContext(wait(t), http.MethodGet, at.HTTPAddr()+"/prometheus/api/v1/query?"+asked.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var told struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&told); err != nil {
		t.Fatalf("a panel of Grafana: %s, %v", resp.Status, err)
	}
	if len(told.Data.Result) == 0 {
		return "no" // the point is not in the catalogue yet
	}
	return fmt.Sprint(told.Data.Result[0].Value[1])
}

func sameFigures(a, b answer.Bucket) bool {
	return a.Count == b.Count && cmp.Equal(a.Values, b.Values) // of a day without samples they are null
}

func TestAChildWithoutAPrefixIsAskedForWhatItMayRecord(t *testing.T) {
	const count = 100
	top, house := newMember(t, "top", ""), newMember(t, "house", "uplink: {select: [\"site/sent/**\"], allow: [\"read **\"]}\n")
	invited, err := client.Do(wait(t), top.Client, children.Invite, client.NewInvitation{Approved: true, Grants: identity.Grants{Record: []point.Pattern{"site/**"}}, Addresses: []string{top.BusAddr()}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), house.Client, parent.Join, parent.Code{Code: invited.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "they are connected", func() bool { b := top.Subtree().Nodes(); return len(b) == 1 && b[0].Away.IsZero() })
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	history(t, house, base, count, "site/kept/temp", "site/sent/temp")
	awaitTrue(t, "the top has what is sent", func() bool { n, _ := stored(top.running, "house"); return n >= count })
	span := client.Span{Points: []string{"site/kept/temp", "site/sent/temp"}, From: "-1d"}
	r, err := rangeOf(t, top, span, 0, false)
	if err != nil || len(r.Series) != 2 || !whole(r.Series[0], 0, count) || !whole(r.Series[1], 0, count) {
		t.Errorf("the top answers %+v, %v", r, err)
	}
	l, err := latestOf(t, top, client.Span{Points: span.Points[:1]})
	if err != nil || len(l.Samples) != 1 || string(l.Samples[0].Value) != "99" {
		t.Errorf("the newest: %+v, %v", l, err)
	}
}

func newMember(t *testing.T, name, extra string) member {
	t.Helper()
	cfg := nodeOf(t, t.TempDir(), name, listenAnywhere+extra)
	return member{run(t, cfg), cfg}
}

func TestAChildWithoutAStoreAnswersWhatIsNowFromItsLog(t *testing.T) {
	c := plantChain(t, map[string]string{
		"campus": "store: {engine: none}\n",
		"plant":  "store: {engine: none}\nuplink: {select: [\"ahu/**\"], allow: [\"read **\"]}\n",
	}, nil)
	now := time.Now().UTC().Truncate(time.Second)
	for i := range 300 { // more blocks than are looked at first
		samples := []point.Sample{{Point: "meter/power", Time: now.Add(time.Duration(i) * time.Millisecond), Value: point.IntOf(int64(i))}}
		if i == 0 {
			samples = append(samples, point.Sample{Point: "door/lock", Time: now, Value: point.IntOf(7)}, point.Sample{Point: "ahu/temp", Time: now, Value: point.IntOf(8)})
		}
		c.plant.record(samples)
	}
	points := []string{"campus/plant/meter/power", "campus/plant/door/lock", "campus/plant/ahu/temp"}
	l, err := latestOf(t, c.region, client.Span{Points: points})
	if err != nil || len(l.Samples) != 3 || string(l.Samples[0].Value) != "299" || string(l.Samples[1].Value) != "7" || string(l.Samples[2].Value) != "8" {
		t.Fatalf("the region answers %+v, %v", l.Samples, err)
	}
	if slices.ContainsFunc(l.Sources, func(s answer.Source) bool { return s.State == "failed" }) {
		t.Errorf("the sources are %+v", l.Sources)
	}
	r, err := rangeOf(t, c.region, client.Span{Points: points[:1], From: "-1h"}, 0, false)
	if err != nil || !whole(r.Series[0], 0, 300) {
		t.Errorf("the region's range is %+v, %v", r, err)
	}
}
