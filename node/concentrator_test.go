package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
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
