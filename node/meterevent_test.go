package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/metering"
	parentop "voltbus/operation/parent"
	"voltbus/operation/tokens"
	"voltbus/point"
)

// report sends events, and returns what became of them.
func (r *running) report(list ...answer.MeterEventIn) answer.MeterTaken {
	r.t.Helper()
	taken, err := client.Do(context.Background(), r.Client, metering.RecordEvents, metering.Reports{Events: list})
	if err != nil {
		r.t.Fatal(err)
	}
	return taken
}

func lastGasp(id string, at time.Time) answer.MeterEventIn {
	return answer.MeterEventIn{Meter: id, At: at.Format(time.RFC3339Nano), Kind: "last-gasp"}
}

// happened waits until so many events meet a question, and returns them.
func (r *running) happened(q metering.Happened, n int) (list []answer.MeterEvent) {
	r.t.Helper()
	q.Limit = 10_000
	eventually(r.t, fmt.Sprintf("%d events are stored", n), func() bool {
		list = nil
		for q.After = 0; ; q.After = int(list[len(list)-1].Number) {
			got, err := client.Do(context.Background(), r.Client, metering.ListEvents, q)
			if err != nil {
				r.t.Fatal(err)
			}
			if list = append(list, got.Events...); len(got.Events) < q.Limit {
				return len(list) == n
			}
		}
	})
	return list
}

func TestEventsOfMetersArriveInEveryFormAndAreThereOnce(t *testing.T) {
	r, token := meteringNode(t, "meters")
	start := someDay(t)
	late := lastGasp("m1", start.Add(time.Minute))
	late.Detail = "phase 1"
	taken := r.report(lastGasp("m1", start.Add(time.Hour)), late, lastGasp("nobody", start), lastGasp("m1", time.Now().AddDate(1, 0, 0)), answer.MeterEventIn{Meter: "m1", At: late.At, Kind: "earthquake"})
	if taken.Accepted != 2 || len(taken.Refused) != 3 {
		t.Fatalf("taken: %+v", taken)
	}
	for i, want := range []string{"no meter is registered", "lies in the future", `event kind "earthquake"`} {
		if got := taken.Refused[i]; got.Index != i+2 || !strings.Contains(got.Reason, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	cim := `<EndDeviceEvents xmlns="http://iec.ch/TC57/2011/EndDeviceEvents#"><EndDeviceEvent><createdDateTime>` + start.Add(2*time.Hour).Format(time.RFC3339) +
		`</createdDateTime><Assets><Names><name>m2</name></Names></Assets><EndDeviceEventType ref="3.26.0.216"/></EndDeviceEvent></EndDeviceEvents>`
	soaps := `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><RecordEvents xmlns="urn:voltbus:metering:1"><event meter="m2" code="3.12.0.257" at="` +
		start.Add(3*time.Hour).Format(time.RFC3339) + `" detail="cover"/></RecordEvents></Body></Envelope>`
	again, err := json.Marshal(map[string]any{"events": []answer.MeterEventIn{late}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, m := range [][3]string{{"messages", "application/xml", cim}, {"soap", "text/xml", soaps}, {"events", "application/json", string(again)}} {
			if status, got := r.deliver(token, m[0], m[1], m[2]); status != 200 || !strings.Contains(got, "1") || strings.Contains(got, "refused index") {
				t.Errorf("%s: %d %s", m[0], status, got)
			}
		}
	}
	list := r.happened(metering.Happened{}, 4)
	for i, want := range []string{"m2 tamper 3.12.0.257 cover", "m2 restoration 3.26.0.216 ", "m1 last-gasp  ", "m1 last-gasp  phase 1"} {
		if e := list[i]; fmt.Sprint(e.Meter, " ", e.Kind, " ", e.Code, " ", e.Detail) != want {
			t.Errorf("%d: %+v, want %s", i, e, want)
		}
	}
	r.happened(metering.Happened{Meter: "m1"}, 2)
	r.happened(metering.Happened{Kinds: []string{"tamper", "restoration"}, From: start.Format(time.RFC3339), To: start.Add(2 * time.Hour).Format(time.RFC3339)}, 1)
	if _, err := client.Do(t.Context(), r.Client, metering.ListEvents, metering.Happened{Kinds: []string{"x"}, Limit: 1}); err == nil {
		t.Error("a kind that is none is asked for")
	}
	eventually(t, "the accounts balance", func() bool {
		for _, o := range r.ledger().Origins {
			if !o.Balanced {
				return false
			}
		}
		return true
	})
}

func TestAttackATokenForOneMeterRecordsNoEventOfAnother(t *testing.T) {
	r, token := meteringNode(t, "meters/m1")
	at := someDay(t).Format(time.RFC3339)
	status, got := r.deliver(token, "events", "application/json", `{"events":[{"meter":"m1","at":"`+at+`","kind":"tamper"},{"meter":"m2","at":"`+at+`","kind":"tamper"}]}`)
	if status != 200 || got != `{"accepted":1,"refused":[{"index":1,"reason":"this token may not record events of this meter"}]}` {
		t.Errorf("%d %s", status, got)
	}
	c, err := client.New(r.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), c, metering.ListEvents, metering.Happened{Limit: 1}); err == nil {
		t.Error("a token for recording lists events")
	}
}

// backlog has a concentrator take n readings of m1, each second of a day.
func (r *running) backlog(start time.Time, n int) {
	r.t.Helper()
	const part = 20_000
	for from := 0; from < n; from += part {
		var list []answer.MeterReadingIn
		for i := from; i < min(from+part, n); i++ {
			value := float64(i*7919%104729) / 1000
			list = append(list, answer.MeterReadingIn{Meter: "m1", Channel: 1, End: start.Add(time.Duration(i) * time.Second).Format(time.RFC3339), Value: &value})
		}
		taken, err := client.Do(r.t.Context(), r.Client, metering.Record, metering.Bulk{Readings: list})
		if err != nil || taken.Accepted != len(list) {
			r.t.Fatalf("taken: %d, %v", taken.Accepted, err)
		}
	}
}

func TestALastGaspOvertakesTheBacklogOfAConcentrator(t *testing.T) {
	mds, token := meteringNode(t, "meters")
	const readings, bulk = 120_000, 1000
	var open atomic.Bool
	var through, failed atomic.Int64
	told := make(chan struct{}) // closed when the events are through
	var once sync.Once
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events := strings.HasSuffix(r.URL.Path, "/events")
		if !open.Load() {
			failed.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if !events && through.Add(1) > readings/bulk/4 { // most of the backlog waits for the event: behind it in line, it would never come
			select {
			case <-told:
			case <-r.Context().Done():
				return
			}
		}
		q, err := http.NewRequestWithContext(r.Context(), r.Method, mds.HTTPAddr()+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		q.Header = r.Header
		got, err := http.DefaultClient.Do(q)
		if err != nil {
			return // the concentrator ended
		}
		defer got.Body.Close()
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.StatusCode)
		_, _ = io.Copy(w, got.Body)
		if events {
			once.Do(func() { close(told) })
		}
	}))
	defer proxy.Close()
	c := run(t, load(t, t.TempDir(), concentratorOf(fmt.Sprintf("form: json\n    bulk: %d\n    age: 50ms", bulk), fmt.Sprintf("url: %q, token_file: %q", proxy.URL, tokenFile(t, token)))))
	start := someDay(t)
	c.backlog(start, readings)
	c.report(lastGasp("m1", start), lastGasp("nobody", start))
	eventually(t, "both lanes find nobody", func() bool { return failed.Load() >= 4 && concentration(t, c).Events.Waiting > 0 })
	open.Store(true)
	mds.happened(metering.Happened{Meter: "m1"}, 1)
	eventually(t, "all is answered", func() bool { got := concentration(t, c); return got.Waiting == 0 && got.Events.Waiting == 0 })
	got := concentration(t, c)
	if got.Sent != readings || got.Lost != 0 || got.Events.Sent != 1 || got.Events.Refused != 1 || got.Refusals[0].Event != "last-gasp" || got.Refusals[0].Meter != "nobody" {
		t.Errorf("in the end: %+v", got)
	}
}

func TestALastGaspOvertakesTheBacklogOnTheUplink(t *testing.T) {
	t.Parallel()
	parent := run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere+meteringConfig))
	child := run(t, nodeOf(t, t.TempDir(), "plant", listenAnywhere+"uplink: {rate: 40kB}\nmetering: {role: concentrator, concentrator: {bulk: 1000, age: 50ms}}\ndevices: []\n"))
	ctx := t.Context()
	m := smartMeter("m1")
	m.Channels[0].Interval, m.Channels[0].ReadingType = 1, "0.0.0.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"
	if got, err := client.Do(ctx, parent.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{m}}); err != nil || got.Added != 1 {
		t.Fatal(got, err)
	}
	start := someDay(t).Add(time.Second)
	const readings = 80_000 // of 86,400 seconds
	child.backlog(start, readings)
	child.report(lastGasp("m1", start), lastGasp("unknown", start))
	invited, err := client.Do(wait(t), parent.Client, children.Invite, client.NewInvitation{
		Approved: true, Prefix: "campus/plant", Addresses: []string{parent.BusAddr()}, Grants: identity.Grants{Record: []point.Pattern{"meters/**"}},
	}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), child.Client, parentop.Join, parentop.Code{Code: invited.Code}); err != nil {
		t.Fatal(err)
	}
	list := parent.happened(metering.Happened{}, 2) // also of a meter that is not registered: it was acknowledged
	missing, err := client.Do(ctx, parent.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 1})
	if err != nil || missing.Received >= readings {
		t.Errorf("with the event %d of %d readings are there, %v", missing.Received, readings, err)
	}
	if !strings.HasPrefix(list[0].Who, "node:") {
		t.Errorf("who sent it: %+v", list[0])
	}
	missingOf(t, parent.Client, "2026-03-03", readings)
	eventually(t, "the child knows it", func() bool { got := concentration(t, child); return got.Waiting == 0 && got.Events.Waiting == 0 })
}

// stormSize is how many meters lose their supply at once: 50,000, or VOLTBUS_STORM of them.
func stormSize(t *testing.T) int {
	t.Helper()
	n := 50_000
	if text := os.Getenv("VOLTBUS_STORM"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n%10_000 != 0 {
			t.Fatalf("VOLTBUS_STORM=%s: write a multiple of 10000", text)
		}
	}
	return n
}

func TestAStormOfLastGaspsBesideReadingsLosesNothing(t *testing.T) {
	mds := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	const part, readings = 1000, 96
	meters := stormSize(t)
	var list []answer.MeterEntry
	for i := range meters {
		list = append(list, smartMeter(fmt.Sprintf("s%d", i)))
	}
	for from := 0; from < meters; from += 10_000 {
		if _, err := client.Do(t.Context(), mds.Client, metering.Register, metering.Registration{Meters: list[from : from+10_000]}); err != nil {
			t.Fatal(err)
		}
	}
	start := someDay(t)
	began := time.Now()
	var calls sync.WaitGroup
	for w := range 5 {
		calls.Go(func() {
			for from := w * part; from < meters; from += 5 * part {
				var storm []answer.MeterEventIn
				for i := from; i < from+part; i++ {
					storm = append(storm, lastGasp(fmt.Sprintf("s%d", i), start.Add(time.Duration(i)*time.Millisecond)))
				}
				if taken := mds.report(storm...); taken.Accepted != part {
					t.Errorf("taken: %+v", taken)
				}
			}
		})
	}
	calls.Go(func() {
		for i := range 100 {
			taken, err := client.Do(context.Background(), mds.Client, metering.Record, metering.Bulk{Readings: meterReadings(fmt.Sprintf("s%d", i), start, make([]float64, readings)...)})
			if err != nil || taken.Accepted != readings {
				t.Errorf("readings: %+v, %v", taken, err)
			}
		}
	})
	calls.Wait()
	t.Logf("%d last gasps acknowledged, beside %d readings, in %v", meters, 100*readings, time.Since(began))
	seen := map[string]bool{}
	for _, e := range mds.happened(metering.Happened{Kinds: []string{"last-gasp"}}, meters) {
		seen[e.Meter] = true
	}
	t.Logf("all are stored and listed after %v", time.Since(began))
	if len(seen) != meters {
		t.Errorf("events of %d meters", len(seen))
	}
	missingOf(t, mds.Client, "2026-03-03", 100*readings)
}

func TestEventsThatWereAcknowledgedOutliveAKillAndAreThereOnce(t *testing.T) {
	dir, start := t.TempDir(), someDay(t)
	mdsText := listenAnywhere + meteringConfig
	acknowledged, next := 0, 0
	for round := range 3 {
		r, kill := concentratorProcess(t, dir, mdsText)
		if round == 0 {
			if _, err := client.Do(t.Context(), r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
				t.Fatal(err)
			}
		}
		enough := make(chan struct{})
		var sending sync.WaitGroup
		sending.Go(func() {
			for n := 0; ; n++ {
				if n == 20 {
					close(enough)
				}
				list := []answer.MeterEventIn{lastGasp("m1", start.Add(time.Duration(next)*time.Second)), lastGasp("m1", start.Add(time.Duration(next)*time.Second))}
				if _, err := client.Do(context.Background(), r.Client, metering.RecordEvents, metering.Reports{Events: list}); err != nil {
					return // killed: it may be stored or not, and goes again
				}
				next++
				acknowledged = next
			}
		})
		<-enough
		kill()
		sending.Wait()
	}
	r, kill := concentratorProcess(t, dir, mdsText)
	defer kill()
	r.report(lastGasp("m1", start.Add(time.Duration(next)*time.Second)))
	list := r.happened(metering.Happened{}, acknowledged+1)
	for i, e := range list {
		if want := start.Add(time.Duration(acknowledged-i) * time.Second); !e.At.Equal(want) {
			t.Fatalf("%d: %v, want %v", i, e.At, want)
		}
	}
}

func TestAConcentratorThatIsKilledSendsEventsAgainAndTheyAreThereOnce(t *testing.T) {
	mds, token := meteringNode(t, "meters")
	way := newBetween(t, mds.HTTPAddr())
	dir, start, next := t.TempDir(), someDay(t), 0
	text := concentratorOf("bulk: 4\n    age: 20ms", fmt.Sprintf("url: %q, token_file: %q", way.URL, tokenFile(t, token)))
	send := func(r *running, n int) {
		for range n {
			r.report(lastGasp("m1", start.Add(time.Duration(next)*time.Second)))
			next++
		}
	}
	for round := range 4 {
		way.drops.Store(round%2 == 0)  // killed between the commit and the send
		way.silent.Store(round%2 == 1) // killed between the commit of the system and the answer
		for len(way.came) > 0 {
			<-way.came
		}
		r, kill := concentratorProcess(t, dir, text)
		send(r, 5)
		<-way.came
		kill()
	}
	way.drops.Store(false)
	way.silent.Store(false)
	r, kill := concentratorProcess(t, dir, text)
	defer kill()
	send(r, 5)
	mds.happened(metering.Happened{}, next)
	eventually(t, "all is answered", func() bool { return concentration(t, r).Events.Waiting == 0 })
	if got := concentration(t, r); got.Events.Sent != uint64(next) || got.Events.Refused != 0 || got.Events.Lost != 0 {
		t.Errorf("of %d: %+v", next, got.Events)
	}
}

func TestATokenOfAConcentratorReportsEvents(t *testing.T) {
	c := run(t, load(t, t.TempDir(), listenAnywhere+"metering: {role: concentrator, concentrator: {only_listed: true, meters: [{id: m1}]}}\ndevices: []\n"))
	issued, err := client.Do(t.Context(), c.Client, tokens.Issue, tokens.Recorder{Name: "m1", Under: "meters"})
	if err != nil {
		t.Fatal(err)
	}
	at := someDay(t).Format(time.RFC3339)
	status, got := c.deliver(issued.Token, "events", "application/json", `{"events":[{"meter":"m1","at":"`+at+`","kind":"tamper"},{"meter":"m2","at":"`+at+`","kind":"tamper"},{"meter":"a/b","at":"`+at+`","kind":"tamper"}]}`)
	if status != 200 || !strings.Contains(got, `"accepted":1`) || !strings.Contains(got, "is not listed") || !strings.Contains(got, "no id of a meter") {
		t.Errorf("%d %s", status, got)
	}
	if got := concentration(t, c); got.Events.Waiting == 0 {
		t.Errorf("nothing waits for a parent: %+v", got)
	}
}
