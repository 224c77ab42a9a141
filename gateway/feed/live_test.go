package feed

import (
	"encoding/json"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestValuesOfLiveMessagesAreExact(t *testing.T) {
	for text, want := range map[string]point.Value{
		"9007199254740993": point.IntOf(9007199254740993), // 2⁵³ + 1, which no float holds
		"-3":               point.IntOf(-3),
		"0.5":              point.FloatOf(0.5),
		"1e30":             point.FloatOf(1e30),
		"true":             point.BoolOf(true),
		`"on"`:             point.TextOf("on"),
		"null":             {},
	} {
		if got := valueOf(json.RawMessage(text)); got != want {
			t.Errorf("%s is read as %v, want %v", text, got, want)
		}
	}
}

func TestAGatewayListensToWhatItsPointsHaveInCommon(t *testing.T) {
	for _, c := range []struct {
		paths []point.Path
		want  string
	}{
		{[]point.Path{"a/b/c"}, "a/b/c"},
		{[]point.Path{"a/b/c", "a/b/d"}, "a/b"},
		{[]point.Path{"a/b/c", "a/bc/c"}, "a"},
		{[]point.Path{"a/b", "a/b/c"}, "a/b"},
		{[]point.Path{"a/b", "c/d"}, ""},
		{[]point.Path{"a/*b", "a/*b"}, ""},
		{nil, ""},
	} {
		if got := Common(c.paths); got != c.want {
			t.Errorf("%v have %q in common, want %q", c.paths, got, c.want)
		}
	}
}

func TestALiveValueIsShownAndItsPointCountsAsHeard(t *testing.T) {
	var shown []point.Sample
	f := New(Config{
		Points: []point.Path{"d/energy", "d/quiet"}, Show: func(s []point.Sample) { shown = append(shown, s...) }, Log: slog.New(slog.DiscardHandler),
	})
	scan, err := wire.ParseScan([]byte(`{"device":"d","time":"2026-03-04T05:06:07Z","points":{"energy":7,"other":1},"quality":{"energy":"bad(sensor)"}}`))
	if err != nil {
		t.Fatal(err)
	}
	f.take(scan)
	if len(shown) != 1 || shown[0].Point != "d/energy" || shown[0].Value != point.IntOf(7) || shown[0].Quality != point.BadSensor {
		t.Errorf("shown are %v", shown)
	}
	if quiet := f.unheard(); len(quiet) != 1 || quiet[0] != "d/quiet" {
		t.Errorf("%v were not heard", quiet)
	}
}
