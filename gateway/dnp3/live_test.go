package dnp3

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/wire"
)

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
		if got := common(c.paths); got != c.want {
			t.Errorf("%v have %q in common, want %q", c.paths, got, c.want)
		}
	}
}

func TestALiveCounterIsShownExactlyWithTheDevicesTime(t *testing.T) {
	m, problems := ParseMapping("map.yaml", []byte("points: [{point: d/energy, type: counter, index: 3, class: 1}, {point: d/quiet, type: counter, index: 4}]"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, err := New(m, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	scan, err := wire.ParseScan([]byte(`{"device":"d","time":"2026-03-04T05:06:07Z","points":{"energy":9007199254740993,"other":1},"times":{"energy":"2026-03-04T05:06:01Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	g.take(scan)
	var got object.Point
	g.device.Update(func(tx *outstation.Tx) { got, _ = tx.Get(object.KindCounter, 3) })
	at, _ := got.Time.Time()
	if got.Value.Uint() != 1 || !at.Equal(time.Date(2026, 3, 4, 5, 6, 1, 0, time.UTC)) { // 2⁵³ + 1 rolls over to 1
		t.Errorf("the counter is %v at %v", got.Value, at)
	}
	if quiet := g.unheard(); len(quiet) != 1 || quiet[0] != "d/quiet" {
		t.Errorf("%v were not heard", quiet)
	}
}
