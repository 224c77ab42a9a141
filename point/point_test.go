package point_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/point"
)

func TestPathsAreRefusedWithTheReason(t *testing.T) {
	for path, want := range map[point.Path]string{
		"campus/b1/ahu": "", "a b/*/>/<x>": "", "Zürich/温度": "", "/": "", " ": "",
		"": "at least one character", "a\nb": "control characters", "a\x7f": "control characters",
		"a\xff": "valid UTF-8",
		"..":    "the segment . or ..", "campus/in/../out": "the segment . or ..", "./a": "the segment . or ..", "a/.": "the segment . or ..",
		"a/..": "the segment . or ..", "a/...": "", "a.b/.c/d./..e/f..": "", "a..b/...": "",
		point.Path(strings.Repeat("x", 512)):     "",
		point.Path(strings.Repeat("x", 513)):     "at most 512 bytes",
		point.Path(strings.Repeat("é", 256)):     "",
		point.Path("\x00"):                       "control characters",
		point.Path("é" + strings.Repeat("x", 9)): "",
	} {
		err := path.Validate()
		if (want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("Validate(%q) = %v, want %q", path, err, want)
		}
	}
}

func TestAPathIsRefusedWhereverTheControlCharacterStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		octets := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("a/~ \x7f\x1f\x20é\x00")), 1, 40, -1).Draw(t, "path"))
		want := strings.ContainsFunc(string(octets), func(r rune) bool { return r < 0x20 || r == 0x7f })
		err := point.Path(octets).Validate()
		if got := err != nil; got != want {
			t.Fatalf("%q is refused: %v, %v", octets, got, err)
		}
	})
}

func TestAPathIsItsParentJoinedWithItsName(t *testing.T) {
	for _, p := range []point.Path{"a", "a/b", "a/b/c", "a/", "/a", "a//b"} {
		if got := p.Parent().Join(p.Name()); got != p && p != "/a" {
			t.Errorf("%q: parent %q joined with name %q is %q", p, p.Parent(), p.Name(), got)
		}
	}
}

func TestPatternsSelect(t *testing.T) {
	for _, tt := range []struct {
		pattern point.Pattern
		yes, no []point.Path
	}{
		{"", []point.Path{"a", "a/b"}, nil},
		{"a/b", []point.Path{"a/b", "a/b/c"}, []point.Path{"a", "a/bc", "x/a/b"}},
		{"a/*/c", []point.Path{"a/b/c", "a//c"}, []point.Path{"a/c", "a/b/b/c", "a/b/c/d"}},
		{"a/**", []point.Path{"a/b", "a/b/c", "a"}, []point.Path{"ab"}},
		{"**/temp", []point.Path{"temp", "a/temp", "a/b/temp"}, []point.Path{"a/temps", "temp/a"}},
		{"a/**/x/**/z", []point.Path{"a/x/z", "a/b/x/c/z", "a/x/x/z"}, []point.Path{"a/z", "a/x"}},
		{"a/z*1/t*p", []point.Path{"a/zone1/temp", "a/z1/tp"}, []point.Path{"a/zone2/temp", "a/zone1/temps"}},
		{"*", []point.Path{"a"}, []point.Path{"a/b"}},
	} {
		for _, p := range tt.yes {
			if !tt.pattern.Match(p) {
				t.Errorf("%q does not select %q", tt.pattern, p)
			}
		}
		for _, p := range tt.no {
			if tt.pattern.Match(p) {
				t.Errorf("%q selects %q", tt.pattern, p)
			}
		}
	}
}

// reference is the meaning of a pattern with stars, as a regular expression.
func reference(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^/")
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment == "**" {
			b.WriteString("([^/]*/)*")
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(segment), `\*`, "[^/]*") + "/")
	}
	return regexp.MustCompile(b.String() + "$")
}

func TestPatternsMeanWhatTheReferenceSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SampledFrom([]string{"**", "*", "a", "a*", "*b", "ab", "a*b*"}), 1, 5).Draw(t, "pattern")
		pattern := strings.Join(segments, "/")
		if !strings.Contains(pattern, "*") {
			t.Skip("a literal also selects what is below it")
		}
		path := strings.Join(rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 3, -1), 1, 6).Draw(t, "path"), "/")
		if path == "" {
			t.Skip("no point has an empty path")
		}
		want := reference(pattern).MatchString("/" + path + "/")
		if got := point.Pattern(pattern).Match(point.Path(path)); got != want {
			t.Fatalf("%q selects %q: %v, want %v", pattern, path, got, want)
		}
		if prefix := point.Pattern(pattern).Prefix(); want && prefix != "" && !point.Pattern(prefix).Match(point.Path(path)) {
			t.Fatalf("%q selects %q, which is not below the prefix %q", pattern, path, prefix)
		}
	})
}

func TestQuotedTextIsJSONAndSafeInAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("<>&\"\\\u2028\u2029\n\t\x00é")))).Draw(t, "s")
		quoted := point.AppendQuoted(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s {
			t.Fatalf("%q is quoted as %s, which reads %q, %v", s, quoted, back, err)
		}
		if strings.ContainsAny(string(quoted), "<>&\u2028\u2029\n") {
			t.Fatalf("%s is not safe in a page", quoted)
		}
	})
	if got := string(point.AppendQuoted(nil, "a\xffb")); got != `"a\ufffdb"` {
		t.Errorf("bytes that are not UTF-8 become %s", got)
	}
}

func TestValuesAreWrittenAsJSON(t *testing.T) {
	for want, v := range map[string]point.Value{
		"null": {}, "1.5": point.FloatOf(1.5), "1e+21": point.FloatOf(1e21), "-0": point.FloatOf(math.Copysign(0, -1)),
		`"NaN"`: point.FloatOf(math.NaN()), `"+Inf"`: point.FloatOf(math.Inf(1)), `"-Inf"`: point.FloatOf(math.Inf(-1)),
		"-9223372036854775808": point.IntOf(math.MinInt64), "true": point.BoolOf(true), `"x"`: point.TextOf("x"),
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%v is written as %s, %v; want %s", v, got, err, want)
		}
	}
}

func TestNumbersAreWrittenShortAndReadBackTheSame(t *testing.T) {
	for want, f := range map[string]float64{
		"0.1": 0.1, "-12.345": -12.345, "100000000": 1e8, "12345678.5": 12345678.5, "0.001": 0.001,
		"0.0001": 0.0001, "1e-07": 1e-7, "21.05": 21.05, "-0.5": -0.5, "10.846182823181152": 10.846182823181152,
	} {
		if got := point.FloatOf(f).String(); got != want {
			t.Errorf("%v is written as %s, want %s", f, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(
			rapid.Float64(),
			rapid.Map(rapid.Int64Range(-1e13, 1e13), func(n int64) float64 { return float64(n) / 1000 }),
			rapid.Map(rapid.Int64Range(-1e15, 1e15), func(n int64) float64 { return float64(n) / 10_000 }),
		).Draw(t, "f")
		text := point.FloatOf(f).String()
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(back) != math.Float64bits(f) {
			t.Fatalf("%v is written as %s, which reads %v, %v", f, text, back, err)
		}
		if shortest := strconv.FormatFloat(f, 'f', -1, 64); !strings.Contains(text, "e") && text != shortest {
			t.Fatalf("%v is written as %s, want %s", f, text, shortest)
		}
	})
}

func TestValuesConvertOnlyWhereNothingIsInvented(t *testing.T) {
	for _, tt := range []struct {
		v        point.Value
		number   float64
		isNumber bool
		integer  int64
		isInt    bool
	}{
		{point.FloatOf(2.9), 2.9, true, 2, true},
		{point.FloatOf(math.NaN()), math.NaN(), true, 0, false},
		{point.FloatOf(1e30), 1e30, true, 0, false},
		{point.IntOf(-3), -3, true, -3, true},
		{point.BoolOf(true), 1, true, 1, true},
		{point.TextOf("5"), 0, false, 0, false},
		{point.Value{}, 0, false, 0, false},
	} {
		number, isNumber := tt.v.Number()
		integer, isInt := tt.v.Int()
		same := number == tt.number || (math.IsNaN(number) && math.IsNaN(tt.number))
		if !same || isNumber != tt.isNumber || integer != tt.integer || isInt != tt.isInt {
			t.Errorf("%v: number %v %v, int %v %v", tt.v, number, isNumber, integer, isInt)
		}
		if again := point.ValueOf(tt.v.Kind(), tt.v.Bits(), tt.v.Text()); again != tt.v {
			t.Errorf("%v does not survive its parts: %v", tt.v, again)
		}
	}
}

func TestNamesOfKindsAndQualitiesReadBack(t *testing.T) {
	for k := point.None; k <= point.Text; k++ {
		if got, ok := point.ParseKind(k.String()); !ok || got != k {
			t.Errorf("kind %v reads back as %v, %v", k, got, ok)
		}
	}
	for q := range 256 {
		quality := point.Quality(q)
		if got, ok := point.ParseQuality(quality.String()); ok && got != quality {
			t.Errorf("quality %v reads back as %v", quality, got)
		}
		if quality.IsGood() && quality.IsBad() {
			t.Errorf("quality %v is good and bad", quality)
		}
	}
	if _, ok := point.ParseQuality("fine"); ok {
		t.Error("an unknown quality is accepted")
	}
}

func TestABlockReturnsTheSamplesItWasGiven(t *testing.T) {
	b := &point.Block{Points: []point.Path{"a", "b"}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)
	want := []point.Sample{
		{Point: "b", Time: at, Value: point.TextOf("x")},
		{Point: "a", Time: at.Add(-time.Hour), Value: point.FloatOf(1), Quality: point.Uncertain},
		{Point: "b", Time: at, Value: point.TextOf("y")},
		{Point: "a", Time: at, Quality: point.Bad},
	}
	for round := range 2 {
		for i := range want {
			b.Append(map[point.Path]uint32{"a": 0, "b": 1}[want[i].Point], &want[i])
		}
		for i := range want {
			if got := b.Sample(i); got != want[i] {
				t.Errorf("round %d, sample %d is %+v, want %+v", round, i, got, want[i])
			}
		}
		b.Reset()
		if b.Len() != 0 || len(b.Points) != 0 || len(b.Texts) != 0 {
			t.Errorf("after Reset the block holds %d samples", b.Len())
		}
		b.Points = append(b.Points, "a", "b")
	}
}
