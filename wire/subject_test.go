package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/wire"
)

func TestSubjectEscapesWhatTheBusCannotCarry(t *testing.T) {
	for path, want := range map[point.Path]string{
		"campus/b1/ahu1":      "live.scan.campus.b1.ahu1",
		"a b/c.d/*/>":         "live.scan.a%20b.c%2Ed.%2A.%3E",
		"a//b":                "live.scan.a.%00.b",
		"/":                   "live.scan.%00.%00",
		"100%":                "live.scan.100%25",
		"Zürich/温度":           "live.scan.Zürich.温度",
		"<img src=x onerror>": "live.scan.<img%20src=x%20onerror%3E",
	} {
		if got := wire.Subject(wire.ScanPrefix, path); got != want {
			t.Errorf("Subject(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestEverySubjectLeadsBackToItsPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := point.Path(rapid.StringOfN(rapid.SampledFrom([]rune("ab/. *>%\u00a0é温<\"'$")), 1, 60, point.MaxPath).Draw(t, "path"))
		subject := wire.Subject(wire.ScanPrefix, path)
		rest := strings.TrimPrefix(subject, wire.ScanPrefix)
		if strings.ContainsAny(rest, " *>\t\r\n") {
			t.Fatalf("subject %q holds a character that the bus refuses", subject)
		}
		for token := range strings.SplitSeq(rest, ".") {
			if token == "" {
				t.Fatalf("subject %q has an empty token", subject)
			}
		}
		back, err := wire.ParseSubject(wire.ScanPrefix, subject)
		if err != nil || back != path {
			t.Fatalf("ParseSubject(%q) = %q, %v; want %q", subject, back, err, path)
		}
	})
}

func TestABreadthFirstSubjectBeginsWithTheLastSegment(t *testing.T) {
	for path, want := range map[point.Path]string{
		"campus/b1/ahu1": "live.breadth.scan.ahu1.b1.campus",
		"a b/c.d":        "live.breadth.scan.c%2Ed.a%20b",
		"a//b":           "live.breadth.scan.b.%00.a",
		"site":           "live.breadth.scan.site",
	} {
		got := string(wire.AppendBreadthSubject([]byte(wire.BreadthScanPrefix), path))
		if got != want {
			t.Errorf("the subject of %q is %q, want %q", path, got, want)
		}
		if back, err := wire.ParseBreadthSubject(wire.BreadthScanPrefix, got); err != nil || back != path {
			t.Errorf("%q leads back to %q, %v; want %q", got, back, err, path)
		}
	}
}

func TestTwoPathsNeverShareASubject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.StringOfN(rapid.SampledFrom([]rune("a%20E2./")), 1, 12, -1)
		a, b := point.Path(gen.Draw(t, "a")), point.Path(gen.Draw(t, "b"))
		if a != b && wire.Subject("", a) == wire.Subject("", b) {
			t.Fatalf("%q and %q share the subject %q", a, b, wire.Subject("", a))
		}
	})
}

func TestParseSubjectRefusesForeignSubjects(t *testing.T) {
	for _, subject := range []string{"", "live.scan.", "live.scan", "other.a", "live.scan.a..b", "live.scan.a%2", "live.scan.%zz", "live.scan.*"} {
		if path, err := wire.ParseSubject(wire.ScanPrefix, subject); err == nil {
			t.Errorf("ParseSubject(%q) = %q, want an error", subject, path)
		}
	}
}

func TestScanSubjectsCoverThePrefixWhatIsBelowAndItsAncestors(t *testing.T) {
	for patterns, want := range map[string][]string{
		"":              {"live.scan.>"},
		"**/temp":       {"live.scan.>"},
		"a*":            {"live.scan.>"},
		"a/b":           {"live.scan.a", "live.scan.a.b", "live.scan.a.b.>"},
		"a/b c/x*/temp": {"live.scan.a", "live.scan.a.b%20c", "live.scan.a.b%20c.>"},
		// Of several patterns no subject is below another: a scan would be delivered twice.
		"a a/b a/b/c":  {"live.scan.a", "live.scan.a.>"},
		"a/b ab/c":     {"live.scan.a", "live.scan.a.b", "live.scan.a.b.>", "live.scan.ab", "live.scan.ab.c", "live.scan.ab.c.>"},
		"a/b **/temp":  {"live.scan.>"},
		"a/b a/b/* a/": {"live.scan.a", "live.scan.a.%00", "live.scan.a.%00.>", "live.scan.a.b", "live.scan.a.b.>"},
	} {
		s := wire.Selection{}
		for p := range strings.SplitSeq(patterns, " ") {
			s.Patterns = append(s.Patterns, point.Pattern(p))
		}
		if patterns == "a/b c/x*/temp" {
			s.Patterns = []point.Pattern{"a/b c/x*/temp"}
		}
		if diff := cmp.Diff(want, s.ScanSubjects()); diff != "" {
			t.Errorf("the subjects of %q: %s", patterns, diff)
		}
	}
}

func TestOneSubjectOfASelectionLeadsToEachScanThatHoldsItsPoints(t *testing.T) {
	segment := rapid.StringMatching(`[ab]{1,2}`)
	path := rapid.Map(rapid.SliceOfN(segment, 1, 4), func(s []string) point.Path { return point.Path(strings.Join(s, "/")) })
	pattern := rapid.Map(rapid.SliceOfN(rapid.OneOf(segment, rapid.SampledFrom([]string{"*", "**", "a*"})), 1, 4),
		func(s []string) point.Pattern { return point.Pattern(strings.Join(s, "/")) })
	rapid.Check(t, func(t *rapid.T) {
		s := wire.Selection{Patterns: rapid.SliceOfN(pattern, 1, 4).Draw(t, "patterns")}
		device := path.Draw(t, "device")
		subject := wire.Subject(wire.ScanPrefix, device)
		ways := 0
		for _, listened := range s.ScanSubjects() {
			base, below := strings.CutSuffix(listened, ">")
			if listened == subject || (below && strings.HasPrefix(subject, base)) {
				ways++
			}
		}
		if ways > 1 {
			t.Fatalf("a scan of %s comes by %d ways for %q", device, ways, s.Patterns)
		}
		if p := device.Join(string(path.Draw(t, "name"))); s.Selects(p) && ways == 0 {
			t.Fatalf("%s is wanted by %q, but no subject leads to it", p, s.Patterns)
		}
	})
}

func TestASubjectCoversWhatItMatches(t *testing.T) {
	for _, tt := range []struct {
		wide, narrow string
		want         bool
	}{
		{"a.b", "a.b", true},
		{"a.*", "a.b", true},
		{"a.*", "a.*", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a.>", true},
		{"a.>", "a.*.c", true},
		{">", "a", true},
		{"a.*", "a.>", false},
		{"a.>", "a", false},
		{"a.*", "a.b.c", false},
		{"a.b", "a.*", false},
		{"a.b.c", "a.b", false},
		{"a.*.c", "a.>", false},
	} {
		if got := wire.Covers(tt.wide, tt.narrow); got != tt.want {
			t.Errorf("%s covers %s: %v, want %v", tt.wide, tt.narrow, got, tt.want)
		}
	}
}
