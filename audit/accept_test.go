package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/audit"
	"voltbus/fault"
)

func TestDamageThatIsAcceptedIsToldByVerifyOnly(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"the end is cut off":          func(t *testing.T, dir string) { tamper(t, dir, `DELETE FROM entry WHERE seq > 8`) },
		"an entry is changed":         func(t *testing.T, dir string) { tamper(t, dir, `UPDATE entry SET actor = 'person:eve' WHERE seq = 7`) },
		"the file cannot be read":     func(t *testing.T, dir string) { write(t, dir, audit.File, strings.Repeat("nonsense", 1000)) },
		"the place of the end is bad": func(t *testing.T, dir string) { write(t, dir, audit.Anchor, "nonsense") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 10)
			damage(t, dir)
			l := open(t, dir)
			if l.Status().Damage == "" {
				t.Fatal("nothing was noticed")
			}
			if err := l.Accept(t.Context(), "person:ada", "  "); !fault.Is(err, fault.Invalid) {
				t.Errorf("without a reason: %v", err)
			}
			if err := l.Accept(t.Context(), "person:ada", "restored"); err != nil {
				t.Fatal(err)
			}
			if err := l.Accept(t.Context(), "person:ada", "again"); !fault.Is(err, fault.NotFound) {
				t.Errorf("a second time: %v", err)
			}
			check := func(when string, l *audit.Log) {
				t.Helper()
				r, err := l.Verify(t.Context(), nil)
				if err != nil || !r.Whole() || len(r.Problems) == 0 || l.Status().Damage != "" {
					t.Errorf("%s: the log says %q, and verify %+v, %v", when, l.Status().Damage, r.Problems, err)
				}
				for _, p := range r.Problems {
					if !strings.HasPrefix(p.Accepted, "by person:ada on ") || !strings.HasSuffix(p.Accepted, ": restored") {
						t.Errorf("%s: %v was accepted %q", when, p, p.Accepted)
					}
				}
			}
			check("at once", l)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open(t, dir)
			check("after a new start", l)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			last := verify(t, dir).Head.Seq
			tamper(t, dir, `UPDATE entry SET outcome = 'refused' WHERE seq = ?`, last)
			if r := verify(t, dir); r.Whole() {
				t.Errorf("damage behind what was accepted is not told: %+v", r.Problems)
			}
			if s := open(t, dir).Status(); s.Damage == "" {
				t.Error("the log does not tell of later damage")
			}
		})
	}
}

func TestAWholeLogHasNothingToAccept(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	l := open(t, dir)
	if err := l.Accept(t.Context(), "person:ada", "no reason"); !fault.Is(err, fault.NotFound) {
		t.Errorf("accepted: %v", err)
	}
	if r, err := l.Verify(t.Context(), nil); err != nil || r.Entries != 10 {
		t.Errorf("the log has %+v, %v", r, err)
	}
}

func TestAttackAnAgentCannotAcceptDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	tamper(t, dir, `UPDATE entry SET actor = 'person:eve' WHERE seq = 7`)
	l := open(t, dir)
	if err := l.Accept(t.Context(), "agent:eve", "nothing to see"); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Verify(t.Context(), nil); err != nil || r.Whole() || l.Status().Damage == "" {
		t.Errorf("the log says %q, and verify %+v, %v", l.Status().Damage, r.Problems, err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
