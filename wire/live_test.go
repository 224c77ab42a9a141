package wire_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/wire"
)

func exampleScan() *point.Scan {
	at := time.Date(2026, 1, 2, 3, 4, 5, 123_000, time.UTC)
	sample := func(name string, v point.Value, q point.Quality) point.Sample {
		return point.Sample{Point: point.Path("campus/b1/ahu1").Join(name), Time: at, Value: v, Quality: q}
	}
	return &point.Scan{
		Device: "campus/b1/ahu1", Time: at, Slot: at.Truncate(time.Second),
		Samples: []point.Sample{
			sample("supply_temp", point.FloatOf(18.25), point.Good), sample("fan", point.BoolOf(true), point.Good),
			sample("mode", point.Value{}, point.BadTimeout), sample("sub/alarm", point.TextOf(`</script>"`), point.Good),
			sample("ratio", point.FloatOf(math.NaN()), point.Uncertain),
		},
	}
}

func TestScanMessageIsTheDocumentedJSON(t *testing.T) {
	want := `{"device":"campus/b1/ahu1","time":"2026-01-02T03:04:05.000123Z","slot":"2026-01-02T03:04:05.000000Z",` +
		`"points":{"supply_temp":18.25,"fan":true,"mode":null,"sub/alarm":"\u003c/script\u003e\"","ratio":"NaN"},` +
		`"quality":{"mode":"bad(timeout)","ratio":"uncertain"}}`
	if got := string(wire.AppendScan(nil, exampleScan())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAMessageThatADeviceSentByItselfHasTheDevicesTimes(t *testing.T) {
	scan := exampleScan()
	scan.Slot, scan.Samples = time.Time{}, scan.Samples[:3]
	own := scan.Time.Add(-time.Hour)
	scan.Samples[0].Time, scan.Samples[2].Time = own, own
	want := `{"device":"campus/b1/ahu1","time":"2026-01-02T03:04:05.000123Z",` +
		`"points":{"supply_temp":18.25,"fan":true,"mode":null},"quality":{"mode":"bad(timeout)"},` +
		`"times":{"supply_temp":"2026-01-02T02:04:05.000123Z","mode":"2026-01-02T02:04:05.000123Z"}}`
	data := wire.AppendScan(nil, scan)
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	mode := wire.Selection{Patterns: []point.Pattern{"**/mode"}}
	filtered, err := mode.FilterScan(data, scan.Device)
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ParseScan(filtered)
	if err != nil || len(got.Times) != 1 || !got.TimeOf("mode").Equal(own) || !got.TimeOf("fan").Equal(scan.Time) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSampleMessageIsTheDocumentedJSON(t *testing.T) {
	s := exampleScan().Samples[0]
	want := `{"point":"campus/b1/ahu1/supply_temp","time":"2026-01-02T03:04:05.000123Z","value":18.25,"quality":"good"}`
	if got := string(wire.AppendSample(nil, &s)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnyTextGivesValidJSONThatReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		scan := &point.Scan{Device: "d", Samples: []point.Sample{{Point: point.Path("d").Join(text), Value: point.TextOf(text)}}}
		got, err := wire.ParseScan(wire.AppendScan(nil, scan))
		if err != nil {
			t.Fatal(err)
		}
		var value string
		if err := json.Unmarshal(got.Points[text], &value); err != nil || value != text {
			t.Fatalf("point %q reads back as %q, %v", text, value, err)
		}
	})
}

func TestFilterScanKeepsOnlySelectedPoints(t *testing.T) {
	data := wire.AppendScan(nil, exampleScan())
	for pattern, want := range map[string][]string{
		"":                                 {"supply_temp", "fan", "mode", "sub/alarm", "ratio"},
		"campus":                           {"supply_temp", "fan", "mode", "sub/alarm", "ratio"},
		"campus/b1/ahu1/mode":              {"mode"},
		"campus/b1/ahu1/sub":               {"sub/alarm"},
		"**/*temp":                         {"supply_temp"},
		"campus/*/ahu1/sub/**":             {"sub/alarm"},
		"campus/b1/ahu1/nothing":           {},
		"other":                            {},
		"other **/fan campus/b1/ahu1/mode": {"fan", "mode"},
		"other campus/b1":                  {"supply_temp", "fan", "mode", "sub/alarm", "ratio"},
	} {
		selection := wire.Selection{}
		for p := range strings.SplitSeq(pattern, " ") {
			selection.Patterns = append(selection.Patterns, point.Pattern(p))
		}
		out, err := selection.FilterScan(data, "campus/b1/ahu1")
		if err != nil {
			t.Fatal(err)
		}
		if out == nil {
			if len(want) != 0 {
				t.Errorf("pattern %q keeps nothing, want %q", pattern, want)
			}
			continue
		}
		scan, err := wire.ParseScan(out)
		if err != nil {
			t.Fatal(err)
		}
		if len(scan.Points) != len(want) {
			t.Errorf("pattern %q keeps %d points, want %q", pattern, len(scan.Points), want)
		}
		for _, name := range want {
			if _, ok := scan.Points[name]; !ok {
				t.Errorf("pattern %q drops %q", pattern, name)
			}
		}
		if !strings.Contains(string(out), `"slot":"2026-01-02T03:04:05.000000Z"`) {
			t.Errorf("pattern %q changes the time: %s", pattern, out)
		}
		if _, ok := scan.Quality["mode"]; ok && len(want) == 1 && want[0] != "mode" {
			t.Errorf("pattern %q keeps the quality of a point that it drops", pattern)
		}
	}
}

func TestASelectionKeepsWhatItsFilterLetsPass(t *testing.T) {
	data := wire.AppendScan(nil, exampleScan())
	s := wire.Selection{Patterns: []point.Pattern{"campus/b1"}, Keep: func(p point.Path) bool { return p == "campus/b1/ahu1/fan" }}
	out, err := s.FilterScan(data, "campus/b1/ahu1")
	if err != nil {
		t.Fatal(err)
	}
	scan, err := wire.ParseScan(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(scan.Points) != 1 || scan.Points["fan"] == nil {
		t.Errorf("it keeps %v, want the fan alone", scan.Points)
	}
}

func BenchmarkAppendScan(b *testing.B) {
	scan := &point.Scan{Device: "campus/building1/device1234", Time: time.Now(), Slot: time.Now()}
	for i := range 18 {
		scan.Samples = append(scan.Samples, point.Sample{Point: scan.Device.Join("point" + string(rune('a'+i))), Value: point.FloatOf(20.5 + float64(i)/8)})
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = wire.AppendScan(buf[:0], scan)
	}
}
