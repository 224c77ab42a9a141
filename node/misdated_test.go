package node_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/point"
)

// Times of a clock that was never set make no days of their own, whichever way the readings come in.
func TestAttackATimeFarAwayMakesNoDay(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere+"devices: []\ningest: {clock_behind: 48h}\n")
	r := run(t, cfg)
	agent := join(t, r, cfg, "logger", identity.Grants{Record: []point.Pattern{"agent/**"}})
	began := time.Now().Add(-time.Minute)
	var samples []point.Sample
	for _, at := range []time.Time{
		time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), began.Add(time.Hour),
	} {
		samples = append(samples, point.Sample{Point: "agent/x", Time: at, Value: point.FloatOf(1)})
	}
	if err := agent.Record(wait(t), samples, ""); err != nil {
		t.Fatal(err)
	}
	in, err := r.SendSamples(wait(t), client.Body{Media: "application/json", Text: []byte(
		`[{"point":"http/x","time":"2009-01-01T00:00:00Z","value":1},{"point":"http/x","time":"2100-01-01T00:00:00Z","value":2}]`)})
	if err != nil || in.Accepted != 2 || in.Misdated != 2 {
		t.Fatalf("got %+v, %v", in, err)
	}
	var stored answer.Range
	eventually(t, "everything is stored", func() bool {
		stored, err = r.Range(wait(t), client.Span{Pattern: "**/x", From: began.Format(time.RFC3339), To: time.Now().Add(time.Minute).Format(time.RFC3339)}, 0, false)
		n := 0
		for _, s := range stored.Series {
			n += len(s.Samples)
		}
		return err == nil && n == 5
	})
	for _, series := range stored.Series {
		for _, s := range series.Samples {
			if s.Quality != "uncertain(clock)" {
				t.Errorf("%s at %v is %q", series.Point, s.Time(), s.Quality)
			}
		}
	}
	r.halt()
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if name := filepath.Base(path); strings.HasPrefix(name, "2009-") || strings.HasPrefix(name, "2100-") {
			t.Errorf("there is %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
