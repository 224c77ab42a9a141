package api_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	"voltbus/point"
)

// places are the paths at which an API says how complete an hour of one point is.
var places = map[string]string{
	"range":              "/range?",
	"range with a limit": "/range?limit=1&",
	"plot":               "/plot?pixels=10&",
	"columns":            "/plot?pixels=20&format=columns&",
	"aggregate":          "/aggregate?step=20m&",
	"one step":           "/aggregate?step=1d&",
}

// shares is what an answer says of the completeness of one point.
type shares struct {
	Completeness *float64 `json:"completeness"`
	Series       []struct {
		Expected *int64 `json:"expected"`
		Present  int64  `json:"present"`
		Extra    *int64 `json:"extra"`
		Bad      int64  `json:"bad"`
	} `json:"series"`
}

// What the answers about one point say: the page's tests read them and compare the words.
const placesFile = "../web/src/testdata/places.json"

// The point reports twice as often as it should for a quarter of an hour, is silent, reports early and late, and then as
// it should. Whoever divides what is present and not extra by what is expected gets what the answer itself, and the heat
// map, call its completeness.
func TestAnswersCarryWhatTheirCompletenessIsMadeOf(t *testing.T) {
	n := start(t)
	n.uneven(t)
	const span = "from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z"
	all := map[string]shares{}
	var heat answer.Completeness
	must(t, json.Unmarshal([]byte(n.get("/api/v1/completeness?steps=1&pattern=uneven/m&"+span).body), &heat))
	want := *heat.Rows[0].Coverage[0]
	if want < 0.7 || want > 0.8 {
		t.Fatalf("a quarter is missing, and the heat map says %v", want)
	}
	for place, path := range places {
		reply := n.get("/api/v1" + path + "point=uneven/m&" + span)
		var got shares
		must(t, json.Unmarshal([]byte(reply.body), &got))
		if len(got.Series) != 1 || got.Series[0].Extra == nil || got.Completeness == nil {
			t.Fatalf("%s: status %d, %+v", place, reply.StatusCode, got)
		}
		s := got.Series[0]
		if there := float64(s.Present-*s.Extra) / float64(*s.Expected); there != *got.Completeness || math.Abs(there-want) > 0.01 {
			t.Errorf("%s: %d present less %d extra of %d are %.4f; it says %.4f, the heat map %.4f", place, s.Present, *s.Extra, *s.Expected, there, *got.Completeness, want)
		}
		all[place] = got
	}
	file, err := filepath.Abs(placesFile)
	must(t, err)
	text, err := json.MarshalIndent(all, "", "  ")
	must(t, err)
	if os.Getenv("UPDATE_DOCS") != "" {
		must(t, os.WriteFile(file, append(text, '\n'), 0o644)) //nolint:gosec // not secret
	}
	kept, err := os.ReadFile(file)
	must(t, err)
	if d := cmp.Diff(string(kept), string(text)+"\n"); d != "" {
		t.Error("the answers with which the page is tested are others now; UPDATE_DOCS=1 writes them anew", d)
	}
}

// uneven records an hour of a point that should report each ten seconds.
func (n *node) uneven(t *testing.T) {
	t.Helper()
	must(t, n.catalog.Upsert(context.Background(), []point.Info{{Path: "uneven/m", Kind: point.Float, Interval: 10 * time.Second, Device: "uneven"}}))
	b := &point.Block{Origin: "n", Sequence: 2, Created: noon(), Points: []point.Path{"uneven/m"}}
	for i := range 720 {
		quarter, at := i/180, time.Duration(i)*5*time.Second
		if quarter == 1 || quarter > 1 && i%2 == 1 {
			continue
		}
		if quarter == 2 {
			at += time.Duration(i*i%29) * time.Second / 6
		}
		b.Append(0, &point.Sample{Time: noon().Add(at), Value: point.FloatOf(float64(i))})
	}
	_, err := n.store.Append(context.Background(), []*point.Block{b})
	must(t, err)
}
