package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/wire"
)

func TestWhatLiesAtAPlaceIsFoundInSubjects(t *testing.T) {
	for _, c := range []struct {
		name     string
		subjects []string
		from, to point.Path
		want     []string
	}{
		{"everything, below a place", []string{"live.scan.>"}, "b1", "b1", []string{"live.scan.b1.>", "live.scan.b1"}},
		{"everything of all kinds", []string{">"}, "", "", []string{"live.scan.>", "live.point.>", "msg.*.>"}},
		{"a wider place", []string{"live.scan.campus.>"}, "campus/b1", "", []string{"live.scan.>"}},
		{"the place itself", []string{"live.scan.campus.b1"}, "campus/b1", "x", []string{"live.scan.x"}},
		{"the place itself, where it is everything", []string{"live.scan.campus.b1"}, "campus/b1", "", nil},
		{"a device above the place", []string{"live.scan.campus"}, "campus/b1", "", nil},
		{"another place", []string{"live.scan.campus.b2.>"}, "campus/b1", "", nil},
		{"a name that begins alike", []string{"live.scan.campus.b10.>"}, "campus/b1", "", nil},
		{"wildcards within the place", []string{"live.point.*.*.temp"}, "campus/b1", "", []string{"live.point.temp"}},
		{"wildcards of both kinds of live messages", []string{"live.*.b1.>"}, "b1", "", []string{"live.scan.>", "live.point.>"}},
		{"free messages of one sender", []string{"msg.plant%2Fmeter.b1.x"}, "b1", "", []string{"msg.plant%2Fmeter.x"}},
		{"requests, answers and news are none", []string{"rpc.node.>", "_INBOX.>", "news.a.b", "up.*.*"}, "", "", nil},
		{"strange names", []string{"live.scan.a%20b.>"}, "a b", "c.d", []string{"live.scan.c%2Ed.>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Within(c.subjects, c.from, c.to)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// patterns draws subjects, and paths subjects without wildcards.
func patterns() (pattern, literal *rapid.Generator[string]) {
	token := rapid.SampledFrom([]string{"a", "b", "c"})
	wild := rapid.SampledFrom([]string{"a", "b", "c", "*"})
	head := rapid.SampledFrom([]string{"live.scan", "live.point", "msg.x", "msg.*"})
	pattern = rapid.Custom(func(t *rapid.T) string {
		s := head.Draw(t, "head") + "." + strings.Join(rapid.SliceOfN(wild, 1, 4).Draw(t, "tokens"), ".")
		if rapid.Bool().Draw(t, "deep") {
			s += ".>"
		}
		return s
	})
	literal = rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(head.Draw(t, "head"), "*", "y") + "." + strings.Join(rapid.SliceOfN(token, 1, 5).Draw(t, "tokens"), ".")
	})
	return pattern, literal
}

func TestFewerSubjectsMatchAllThatTheGivenOnesMatch(t *testing.T) {
	pattern, literal := patterns()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(pattern, 0, 30).Draw(t, "given")
		most := rapid.IntRange(3, 12).Draw(t, "most")
		got := Reduce(given, most)
		if len(got) > most {
			t.Fatalf("%d subjects of at most %d: %v", len(got), most, got)
		}
		for range 20 {
			if s := literal.Draw(t, "subject"); matches(given, s) && !matches(got, s) {
				t.Fatalf("%v match %s, and %v do not", given, s, got)
			}
		}
		for _, a := range got {
			for _, b := range got {
				if a != b && wire.Covers(a, b) {
					t.Fatalf("%s covers %s", a, b)
				}
			}
		}
	})
}

func TestWhatLiesAtAPlaceMatchesThereWhatMatchedBefore(t *testing.T) {
	pattern, literal := patterns()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(pattern, 1, 5).Draw(t, "given")
		from := point.Path(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(t, "from"), "/"))
		to := point.Path(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"z", "b"}), 0, 2).Draw(t, "to"), "/"))
		got := Within(given, from, to)
		rest := strings.Split(literal.Draw(t, "subject"), ".")
		name := func(at point.Path) string {
			return strings.Join(slices.Concat(rest[:2], place(at), rest[2:]), ".")
		}
		if before, after := matches(given, name(from)), matches(got, name(to)); before != after {
			t.Fatalf("%s matches %v: %v; %s matches %v: %v", name(from), given, before, name(to), got, after)
		}
	})
}

func TestTenThousandSubscriptionsBecomeFewSubjects(t *testing.T) {
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf("live.scan.campus.b%d.device%d", i%40, i))
	}
	got := Reduce(many, MaxSubjects)
	if len(got) != 40 || got[0] != "live.scan.campus.b0.>" {
		t.Errorf("%d subjects, such as %v", len(got), got[:1])
	}
}
