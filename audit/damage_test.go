package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/audit"
	"voltbus/fault"
)

// copyLog copies a closed log.
func copyLog(t rapid.TB, from, to string) {
	for _, name := range []string{audit.File, audit.Anchor} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Any single changed byte, any change of order, any removal and any insertion is found.
func TestNothingCanBeChangedUnseen(t *testing.T) {
	const n = 40
	original := t.TempDir()
	fill(t, original, n)
	if r := verify(t, original); !r.Whole() || r.Entries != n {
		t.Fatalf("before anything was changed: %+v", r)
	}
	columns := []string{"seq", "segment", "time", "actor", "action", "subject", "outcome", "detail", "hash"}
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		copyLog(rt, original, dir)
		seq := rapid.IntRange(1, n).Draw(rt, "entry")
		other := rapid.IntRange(1, n).Filter(func(i int) bool { return i != seq }).Draw(rt, "other")
		column := rapid.SampledFrom(columns).Draw(rt, "column")
		switch how := rapid.SampledFrom([]string{"octet", "swap", "delete", "tail", "insert", "append"}).Draw(rt, "how"); how {
		case "octet":
			changeOctet(t, rt, dir, column, seq)
		case "swap":
			tamper(t, dir, `UPDATE entry SET seq = -1 WHERE seq = ?`, seq)
			tamper(t, dir, `UPDATE entry SET seq = ? WHERE seq = ?`, seq, other)
			tamper(t, dir, `UPDATE entry SET seq = ? WHERE seq = -1`, other)
		case "delete":
			tamper(t, dir, `DELETE FROM entry WHERE seq = ?`, seq)
		case "tail":
			tamper(t, dir, `DELETE FROM entry WHERE seq >= ?`, seq)
		case "insert":
			tamper(t, dir, `UPDATE entry SET seq = -seq - 1 WHERE seq >= ?`, seq)
			tamper(t, dir, `UPDATE entry SET seq = -seq WHERE seq < 0`)
			tamper(t, dir, `INSERT INTO entry SELECT ?, segment, time, actor, action, subject, outcome, detail, hash FROM entry WHERE seq = ?`, seq, other+1)
		case "append":
			tamper(t, dir, `INSERT INTO entry SELECT ?, segment, time, actor, action, subject, outcome, detail, hash FROM entry WHERE seq = ?`, n+1, seq)
		}
		if r := verify(t, dir); r.Whole() {
			rt.Fatalf("nothing was noticed: %+v", r)
		}
	})
}

// changeOctet changes one byte of a column, or one bit of a number.
func changeOctet(t *testing.T, rt *rapid.T, dir, column string, seq int) {
	t.Helper()
	switch column {
	case "seq", "segment", "time":
		bit := rapid.IntRange(0, 40).Draw(rt, "bit")
		if column == "seq" {
			bit = rapid.IntRange(7, 40).Draw(rt, "bit") // a number that is free
		}
		tamper(t, dir, fmt.Sprintf(`UPDATE entry SET %s = %s + ? WHERE seq = ?`, column, column), 1<<bit, seq)
	case "hash":
		at := rapid.IntRange(1, 32).Draw(rt, "octet")
		tamper(t, dir, `UPDATE entry SET hash = CAST(substr(hash, 1, ? - 1) || (CASE WHEN substr(hash, ?, 1) = x'41' THEN x'42' ELSE x'41' END) || substr(hash, ? + 1) AS BLOB) WHERE seq = ?`, at, at, at, seq)
	default:
		at := rapid.IntRange(1, 30).Draw(rt, "octet")
		tamper(t, dir, fmt.Sprintf(`UPDATE entry SET %[1]s = substr(%[1]s, 1, ? - 1) || (CASE WHEN substr(%[1]s, ?, 1) = 'x' THEN 'y' ELSE 'x' END) || substr(%[1]s, ? + 1) WHERE seq = ?`, column), at, at, at, seq)
	}
}

func TestTheFirstEntryThatDoesNotFitIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name, statement, want string
	}{
		{"a field", `UPDATE entry SET actor = 'person:eve' WHERE seq = 7`, "entry 7: its hash does not fit: it, or the end of the entry before it, was changed"},
		{"a removal", `DELETE FROM entry WHERE seq BETWEEN 4 AND 6`, "entry 4: it and all up to entry 6 are missing"},
		{"the beginning", `DELETE FROM entry WHERE seq < 3`, "entry 1: it and all up to entry 2 are missing"},
		{"the end", `DELETE FROM entry WHERE seq > 8`, "entry 9: the end of the log is cut off: the file audit.head knows entries up to 10"},
		{"everything", `DELETE FROM entry`, "entry 1: the end of the log is cut off: the file audit.head knows entries up to 10"},
		{"another segment", `UPDATE entry SET segment = 2 WHERE seq > 5`, "entry 6: the segment changes from 1 to 2 without an entry that says why"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 10)
			tamper(t, dir, tt.statement)
			r := verify(t, dir)
			if len(r.Problems) == 0 || r.Problems[0].String() != tt.want {
				t.Errorf("problems are %v, want %q first", r.Problems, tt.want)
			}
			l := open(t, dir)
			if s := l.Status(); s.Damage != strings.ReplaceAll(tt.want, "the file audit.head", "audit.head") {
				t.Errorf("the open log says %q", s.Damage)
			}
		})
	}
}

func TestADamagedChainGoesOnInANewSegmentThatSaysSoOnce(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 10)
	tamper(t, dir, `DELETE FROM entry WHERE seq > 8`)
	for range 3 { // a restart must not begin another segment
		l := open(t, dir)
		must(t, l.Append(t.Context(), entry(1)))
		r, err := l.Verify(t.Context(), nil)
		must(t, err)
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "begins segment 2, because of entry 9: the end of the log is cut off") ||
			!strings.Contains(r.Problems[0].Text, "the entries from 9 to 10 are missing") {
			t.Errorf("problems are %v", r.Problems)
		}
		if s := l.Status(); s.Segment != 2 || s.Damage == "" {
			t.Errorf("status is %+v", s)
		}
		must(t, l.Close())
	}
	got, _, err := open(t, dir).List(t.Context(), audit.Filter{Action: audit.Segment, Limit: 10})
	must(t, err)
	if len(got) != 1 || got[0].Seq != 11 || !strings.Contains(string(got[0].Detail), `"after":{"seq":10,`) {
		t.Errorf("segments begin with %+v", got)
	}
}

// What is damaged long before the end is found by following the whole chain.
func TestDamageThatIsFoundLaterBeginsASegmentToo(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for range 30 {
		batch := make([]audit.Entry, 100)
		for i := range batch {
			batch[i] = entry(i)
		}
		must(t, l.Append(t.Context(), batch...))
	}
	must(t, l.Close())
	tamper(t, dir, `UPDATE entry SET outcome = 'refused' WHERE seq = 17`)
	l = open(t, dir)
	if s := l.Status(); s.Damage != "" {
		t.Fatalf("Open has read all of a long log: %+v", s)
	}
	for range 2 {
		r, err := l.Verify(t.Context(), nil)
		must(t, err)
		if r.Whole() || r.Problems[0].Seq != 17 || r.Entries < 3000 {
			t.Errorf("report %+v", r)
		}
		must(t, l.Append(t.Context(), entry(1)))
	}
	if s := l.Status(); s.Segment != 2 || !strings.HasPrefix(s.Damage, "entry 17:") {
		t.Errorf("status is %+v", s)
	}
}

func TestAFileThatIsNoLogIsSetAside(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"no SQLite": func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, audit.File), []byte(strings.Repeat("nonsense ", 1000)), 0o600))
		},
		"of something else": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, audit.File)))
			tamper(t, dir, `CREATE TABLE other (x TEXT)`)
		},
		"gone": func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, audit.File))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 5)
			spoil(t, dir)
			l := open(t, dir)
			must(t, l.Append(t.Context(), entry(1)))
			r, err := l.Verify(t.Context(), nil)
			must(t, err)
			if r.Whole() || r.Entries != 2 || r.First != 6 || l.Status().Damage == "" {
				t.Errorf("report %+v, status %+v", r, l.Status())
			}
			aside, err := filepath.Glob(filepath.Join(dir, audit.File+".damaged-*"))
			must(t, err)
			if (len(aside) == 1) != (name != "gone") {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

func TestALogOfANewerProgramIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	tamper(t, dir, `PRAGMA user_version = 3`)
	_, err := audit.Open(t.Context(), dir, clock)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "newer program") {
		t.Error(err)
	}
}

func TestAnAnchorThatIsGoneOrNonsenseIsTold(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"gone":     os.Remove,
		"nonsense": func(file string) error { return os.WriteFile(file, []byte("{"), 0o600) },
	} {
		dir := t.TempDir()
		fill(t, dir, 5)
		must(t, spoil(filepath.Join(dir, audit.Anchor)))
		if r := verify(t, dir); r.Whole() {
			t.Errorf("%s: nothing was noticed", name)
		}
		l := open(t, dir)
		must(t, l.Append(t.Context(), entry(1)))
		if s := l.Status(); s.Damage == "" || s.Segment != 2 {
			t.Errorf("%s: status %+v", name, s)
		}
	}
}

// Who can write both files can make a new chain; a head that was kept elsewhere finds that.
func TestAHeadThatWasKeptElsewhereFindsAChainThatWasMadeAnew(t *testing.T) {
	dir, forged := t.TempDir(), t.TempDir()
	fill(t, dir, 5)
	kept := verify(t, dir).Head
	fill(t, forged, 4)
	l := open(t, forged)
	must(t, l.Append(t.Context(), entry(17)))
	must(t, l.Close())
	if r := verify(t, forged); !r.Whole() {
		t.Fatal(r)
	}
	again, err := audit.ParseHead(kept.String())
	must(t, err)
	r, err := audit.VerifyFile(t.Context(), filepath.Join(forged, audit.File), "", &again)
	must(t, err)
	if r.Whole() || r.Problems[0].Seq != 5 {
		t.Errorf("report %+v", r)
	}
	for _, wrong := range []string{"", "5", "x:" + kept.Hash.String(), "5:12", "5 " + kept.Hash.String()} {
		if _, err := audit.ParseHead(wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is read: %v", wrong, err)
		}
	}
}

func TestLookingAtALogLeavesItAsItIs(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	tamper(t, dir, `DELETE FROM entry WHERE seq > 3`)
	before, err := os.ReadFile(filepath.Join(dir, audit.Anchor))
	must(t, err)
	l := open(t, dir)
	_, err = l.Verify(t.Context(), nil)
	must(t, err)
	must(t, l.Close())
	after, err := os.ReadFile(filepath.Join(dir, audit.Anchor))
	must(t, err)
	if string(before) != string(after) || verify(t, dir).Entries != 3 {
		t.Errorf("the anchor was %s and is %s", before, after)
	}
}

const childDir = "AUDIT_TEST_CHILD"

// appendForEver is a process that appends until it is killed, and says what was acknowledged.
func appendForEver(dir string) {
	l, err := audit.Open(context.Background(), dir, clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = l.Run(context.Background()) }()
	for i := 0; ; i++ {
		if err := l.Append(context.Background(), entry(i), entry(i)); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(i)
	}
}

func TestAKilledProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	before := uint64(0)
	for round := range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		acknowledged := uint64(0)
		for lines.Scan() && acknowledged < 200 {
			if lines.Text() != fmt.Sprint(acknowledged) {
				t.Fatalf("the process says %q", lines.Text())
			}
			acknowledged++
		}
		must(t, cmd.Process.Kill())
		for lines.Scan() {
			acknowledged++
		}
		_ = cmd.Wait() // it was killed
		l := open(t, dir)
		r, err := l.Verify(t.Context(), nil)
		must(t, err)
		s := l.Status()
		if !r.Whole() || r.Entries < before+2*acknowledged || r.Entries%2 != 0 || s.Clean || s.Damage != "" {
			t.Errorf("round %d: %d pairs were acknowledged; %+v, %+v", round, acknowledged, r, s)
		}
		before = r.Entries
		must(t, l.Close())
	}
}
