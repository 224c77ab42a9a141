package node_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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

// tokenFile writes a secret for a concentrator, and returns the name of the file.
func tokenFile(t *testing.T, secret string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mds.token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// concentratorOf is the configuration of a concentrator of systems.
func concentratorOf(settings string, systems ...string) string {
	text := listenAnywhere + "metering:\n  role: concentrator\n  concentrator:\n    " + settings + "\n    systems:\n"
	for _, s := range systems {
		text += "      - {" + s + "}\n"
	}
	return text + "devices: []\n"
}

// single hands one reading to a node.
func (r *running) single(id string, end time.Time, value float64) {
	r.t.Helper()
	taken, err := client.Do(r.t.Context(), r.Client, metering.Record, metering.Bulk{Readings: []answer.MeterReadingIn{{Meter: id, Channel: 1, End: end.Format(time.RFC3339), Value: &value}}})
	if err != nil || taken.Accepted != 1 {
		r.t.Fatalf("taken: %+v, %v", taken, err)
	}
}

func TestAConcentratorHandsReadingsOnInBulks(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"soap", "soap12", "json", "csv"} {
		t.Run(form, func(t *testing.T) {
			mds, token := meteringNode(t, "meters")
			c := run(t, load(t, t.TempDir(), concentratorOf("form: "+form+"\n    bulk: 10\n    age: 50ms", fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, token)))))
			start := someDay(t)
			for i := range 25 {
				c.single("m1", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
			}
			missingOf(t, mds.Client, "2026-03-03", 25)
			issued, err := client.Do(t.Context(), c.Client, tokens.Issue, tokens.Recorder{Name: "m2", Under: "meters/m2"})
			if err != nil {
				t.Fatal(err)
			}
			if status, got := c.deliver(issued.Token, "messages", "text/csv", "meter,channel,end,value\nm2,1,"+start.Add(15*time.Minute).Format(time.RFC3339)+",1\nm1,1,"+start.Format(time.RFC3339)+",1\n"); status != 200 || got != `{"accepted":1,"refused":[{"index":1,"reason":"this token may not record readings of this meter"}]}` {
				t.Errorf("a table: %d %s", status, got)
			}
			missingOf(t, mds.Client, "2026-03-03", 26)
		})
	}
}

// concentration returns what a concentrator says of itself.
func concentration(t *testing.T, r *running) answer.MeterConcentrator {
	t.Helper()
	got, err := client.Do(t.Context(), r.Client, metering.Concentrators, metering.Nothing{})
	if err != nil || len(got.Concentrators) != 1 {
		t.Fatalf("concentrators: %+v, %v", got, err)
	}
	return got.Concentrators[0]
}

func TestAConcentratorCountsWhatASystemRefusedAndSaysWhy(t *testing.T) {
	mds, token := meteringNode(t, "meters")
	c := run(t, load(t, t.TempDir(), concentratorOf("bulk: 4\n    age: 50ms", fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, token)))))
	start := someDay(t)
	for i := range 10 {
		id := "m1"
		if i%3 == 1 {
			id = "stranger"
		}
		c.single(id, start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
	}
	missingOf(t, mds.Client, "2026-03-03", 7)
	eventually(t, "all is answered", func() bool { return concentration(t, c).Waiting == 0 })
	got := concentration(t, c)
	if got.Taken != 10 || got.Sent != 7 || got.Refused != 3 || len(got.Refusals) != 3 || got.Refusals[0].Meter != "stranger" || !strings.Contains(got.Refusals[0].Reason, "no meter is registered") {
		t.Errorf("counted: %+v", got)
	}
	found := false
	for _, one := range c.Node.Health(t.Context()).Concerns {
		found = found || strings.Contains(one.Sentence, "3 readings of meters refused")
	}
	if !found {
		t.Errorf("health does not say it: %+v", c.Node.Health(t.Context()).Concerns)
	}
}

func TestReadingsWaitForASystemThatIsAwayAndGoOnceToAnother(t *testing.T) {
	t.Parallel()
	mds, token := meteringNode(t, "meters")
	var broken atomic.Int64
	var open atomic.Bool // what stands in for a system passes requests on
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !open.Load() {
			switch broken.Add(1) % 4 {
			case 0:
				w.WriteHeader(http.StatusServiceUnavailable)
			case 1:
				_, _ = io.WriteString(w, "<html>it works</html>")
			case 2:
				w.Header().Set("Content-Type", "text/xml")
				_, _ = io.WriteString(w, `<a><b></a>`)
			default:
				w.Header().Set("Content-Type", "text/xml")
				_, _ = io.WriteString(w, `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><RecordReadingsResponse xmlns="urn:voltbus:metering:1"><accepted>1000</accepted></RecordReadingsResponse></Body></Envelope>`)
			}
			return
		}
		q, err := http.NewRequestWithContext(r.Context(), r.Method, mds.HTTPAddr()+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		q.Header = r.Header
		got, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Error(err)
			return
		}
		defer got.Body.Close()
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.StatusCode)
		_, _ = io.Copy(w, got.Body)
	}))
	defer proxy.Close()
	first := fmt.Sprintf("url: %q, token_file: %q", proxy.URL, tokenFile(t, token))
	wrong := fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, "no-token"))
	dir := t.TempDir()
	c := run(t, load(t, dir, concentratorOf("bulk: 4\n    age: 20ms", first, wrong)))
	start := someDay(t)
	for i := range 30 {
		c.single("m1", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
	}
	eventually(t, "each failed in all ways", func() bool { return broken.Load() >= 4 })
	got := concentration(t, c)
	if got.Sent != 0 || got.Refused != 0 || got.Waiting != 30 || got.Systems[0].State != "failing" || !strings.Contains(got.Systems[1].Reason, "refuses the token") {
		t.Fatalf("while nobody takes them: %+v", got)
	}
	c.halt()
	c = run(t, load(t, dir, concentratorOf("bulk: 4\n    age: 20ms", first, wrong)))
	eventually(t, "they wait also after a restart", func() bool { return concentration(t, c).Waiting == 30 })
	open.Store(true)
	missingOf(t, mds.Client, "2026-03-03", 30)
	eventually(t, "all is answered", func() bool { return concentration(t, c).Waiting == 0 })
	if got := concentration(t, c); got.Sent != 30 || got.Refused != 0 || got.Lost != 0 || got.Taken != 30 {
		t.Errorf("in the end: %+v", got)
	}
	fresh := fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, token))
	c.halt()
	c = run(t, load(t, dir, concentratorOf("bulk: 1\n    age: 20ms", first, fresh)))
	for i := range 10 {
		c.single("m2", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
	}
	missingOf(t, mds.Client, "2026-03-03", 40)
	eventually(t, "all is answered", func() bool { return concentration(t, c).Waiting == 0 })
	if got := concentration(t, c); got.Sent != 40 || got.Systems[0].Requests != 5 || got.Systems[1].Requests != 5 {
		t.Errorf("they do not take turns: %+v", got)
	}
}

func TestTwoConcentratorsOfOneMeterStoreNothingTwice(t *testing.T) {
	mds, token := meteringNode(t, "meters")
	system := fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, token))
	one := run(t, load(t, t.TempDir(), concentratorOf("age: 20ms", system)))
	two := run(t, load(t, t.TempDir(), concentratorOf("age: 20ms\n    kept: false", system)))
	start := someDay(t)
	for i := range 20 {
		at := start.Add(time.Duration(i+1) * 15 * time.Minute)
		one.single("m1", at, float64(i))
		two.single("m1", at, float64(i))
	}
	for _, c := range []*running{one, two} {
		eventually(t, "all is answered", func() bool { got := concentration(t, c); return got.Sent == 20 && got.Refused == 0 })
	}
	missingOf(t, mds.Client, "2026-03-03", 20)
	got, err := client.Do(t.Context(), mds.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(24 * time.Hour).Format(time.RFC3339), Versions: true,
	})
	if err != nil || len(got.Readings) != 20 {
		t.Errorf("%d versions, %v", len(got.Readings), err)
	}
}

func TestAConcentratorHandsReadingsToItsParentWhateverItsPrefix(t *testing.T) {
	parent := run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere+meteringConfig))
	child := run(t, nodeOf(t, t.TempDir(), "plant", listenAnywhere+"metering: {role: concentrator, concentrator: {bulk: 10, age: 50ms}}\ndevices: []\n"))
	ctx := t.Context()
	if _, err := client.Do(ctx, parent.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	invited, err := client.Do(wait(t), parent.Client, children.Invite, client.NewInvitation{
		Approved: true, Prefix: "campus/plant", Addresses: []string{parent.BusAddr()}, Grants: identity.Grants{Record: []point.Pattern{"meters/**"}},
	}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), child.Client, parentop.Join, parentop.Code{Code: invited.Code}); err != nil {
		t.Fatal(err)
	}
	start := someDay(t)
	for i := range 25 {
		child.single("m1", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
	}
	missingOf(t, parent.Client, "2026-03-03", 25)
	eventually(t, "the child knows it", func() bool { got := concentration(t, child); return got.Taken > 0 && got.Sent == got.Taken })
}

func TestAConcentratorHandsOnReadingsThatHaveAReadingTypeOnly(t *testing.T) {
	for _, form := range []string{"soap", "json", "csv", "cim"} {
		t.Run(form, func(t *testing.T) {
			mds, token := meteringNode(t, "meters")
			c := run(t, load(t, t.TempDir(), concentratorOf("form: "+form+"\n    age: 20ms", fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, token)))))
			issued, err := client.Do(t.Context(), c.Client, tokens.Issue, tokens.Recorder{Name: "m1", Under: "meters/m1"})
			if err != nil {
				t.Fatal(err)
			}
			at := someDay(t).Add(15 * time.Minute).Format(time.RFC3339)
			cim := `<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#"><MeterReading><Meter><Names><name>m1</name></Names></Meter><Readings><timeStamp>` + at +
				`</timeStamp><value>1</value><ReadingType ref="0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"/></Readings></MeterReading></MeterReadings>`
			if status, got := c.deliver(issued.Token, "messages", "application/xml", cim); status != 200 || got != `{"accepted":1,"refused":[]}` {
				t.Fatalf("the concentrator: %d %s", status, got)
			}
			missingOf(t, mds.Client, "2026-03-03", 1)
		})
	}
}
