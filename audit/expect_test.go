package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/audit"
)

func expect(t *testing.T, l *audit.Log, kept audit.Head, from string) {
	t.Helper()
	_, err := l.Expect(t.Context(), kept, from)
	must(t, err)
}

// What the owner of the machine does to the files, and then puts the anchor in order so that nothing shows there.
func TestAttackALogIsDeletedCutOrExchanged(t *testing.T) {
	const n = 10
	remove := func(t *testing.T, dir string) {
		files, err := filepath.Glob(filepath.Join(dir, "audit.*"))
		must(t, err)
		for _, f := range files {
			must(t, os.Remove(f))
		}
	}
	exchange := func(entries int) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			remove(t, dir)
			l := open(t, dir)
			for i := range entries {
				must(t, l.Append(t.Context(), entry(i+1000)))
			}
			must(t, l.Close())
		}
	}
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
		next  uint64
	}{
		"deleted":               {remove, "entry 1: it and all behind it are gone: the catalogue knows entries up to 10", n + 1},
		"cut, with the anchor":  {exchange(4), "entry 5: it and all behind it are gone: the catalogue knows entries up to 10", n + 1},
		"exchanged":             {exchange(n), "entry 10: it is another entry than the one that the catalogue knows", n + 1},
		"exchanged by a longer": {exchange(n + 5), "entry 10: it is another entry than the one that the catalogue knows", n + 6},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, n)
			kept := verify(t, dir).Head
			tt.spoil(t, dir)
			l := open(t, dir)
			if s := l.Status(); s.Damage != "" {
				t.Fatalf("the attack shows without knowing the head: %q", s.Damage)
			}
			expect(t, l, kept, "the catalogue")
			if s := l.Status(); s.Damage != tt.want || s.Clean {
				t.Errorf("the log says %q, want %q", s.Damage, tt.want)
			}
			must(t, l.Append(t.Context(), entry(1)))
			got, _, err := l.List(t.Context(), audit.Filter{Action: audit.Segment, Limit: 10})
			must(t, err)
			if len(got) != 1 || got[0].Seq != tt.next || !strings.Contains(string(got[0].Detail), tt.want) {
				t.Errorf("segments begin with %+v", got)
			}
			r, err := l.Verify(t.Context(), nil)
			must(t, err)
			if r.Whole() {
				t.Error("it is said to be whole")
			}
			must(t, l.Close())
			l = open(t, dir)
			expect(t, l, kept, "the catalogue")
			must(t, l.Append(t.Context(), entry(2)))
			if s := l.Status(); name != "exchanged" && name != "exchanged by a longer" && s.Segment != 2 {
				t.Errorf("after another start it is told again: %+v", s)
			}
		})
	}
}

func TestWhatIsKnownOfALogThatIsWholeIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	kept := verify(t, dir).Head
	l := open(t, dir)
	expect(t, l, audit.Head{}, "nobody")
	expect(t, l, kept, "the catalogue")
	must(t, l.Append(t.Context(), entry(6)))
	expect(t, l, kept, "the parent")
	l.Missing("there was one")
	r, err := l.Verify(t.Context(), nil)
	must(t, err)
	if s := l.Status(); s.Damage != "" || !r.Whole() {
		t.Errorf("status %+v, report %+v", s, r)
	}
}

func TestALogThatMustHaveBeenThereIsMissed(t *testing.T) {
	l := open(t, t.TempDir())
	l.Missing("the directory was in use before")
	must(t, l.Append(t.Context(), entry(1)))
	r, err := l.Verify(t.Context(), nil)
	must(t, err)
	if s := l.Status(); s.Damage != "entry 1: the log is gone: the directory was in use before" || r.Whole() || s.Segment != 2 {
		t.Errorf("status %+v, report %+v", s, r)
	}
}
