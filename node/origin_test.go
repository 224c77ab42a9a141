package node_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/point"
	"voltbus/wire"
)

func (r *running) origins() map[string]answer.Origin {
	r.t.Helper()
	all := map[string]answer.Origin{}
	for _, o := range r.ledger().Origins {
		all[o.Origin] = o
	}
	return all
}

func (r *running) settled(n uint64) answer.Origin {
	r.t.Helper()
	eventually(r.t, "all is stored", func() bool { return r.ledger().Origins[0].Stored == n })
	return r.ledger().Origins[0]
}

func keptOrigin(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "data", "origin"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestADirectoryHasAnOriginThatStaysWhenTheNodeIsRenamed(t *testing.T) {
	dir := t.TempDir()
	first := run(t, load(t, dir, listenAnywhere))
	first.record(numbers("p", 0, 10))
	o := first.settled(10)
	if !regexp.MustCompile(`~[a-z0-9]{6}$`).MatchString(o.Origin) || !o.Own || o.Origin != keptOrigin(t, dir) {
		t.Errorf("the origin is %+v, kept is %q", o, keptOrigin(t, dir))
	}
	first.halt()
	cfg := load(t, dir, listenAnywhere)
	cfg.Node.Name = "renamed"
	second := run(t, cfg)
	second.record(numbers("p", 10, 10))
	if again := second.settled(20); again.Origin != o.Origin || again.Missing+again.Repeated != 0 || !again.Balanced || len(second.origins()) != 1 {
		t.Errorf("renamed, the ledger is %+v", second.origins())
	}
}

func TestADirectoryFromBeforeKeepsItsBareName(t *testing.T) {
	for name, cfg := range map[string]string{"known to the store": "", "known to the log": "store: {engine: none}\n"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := filepath.Join(dir, "data")
			if err := os.Mkdir(data, 0o700); err != nil {
				t.Fatal(err)
			}
			before := load(t, dir, listenAnywhere+cfg)
			if err := os.WriteFile(filepath.Join(data, "origin"), []byte(before.Node.Name), 0o600); err != nil {
				t.Fatal(err)
			}
			first := run(t, before)
			first.record(numbers("p", 0, 10))
			if cfg == "" {
				first.settled(10)
			}
			first.halt()
			if err := os.Remove(filepath.Join(data, "origin")); err != nil {
				t.Fatal(err)
			}
			second := run(t, load(t, dir, listenAnywhere))
			second.record(numbers("p", 10, 10))
			o := second.settled(20)
			if o.Origin != before.Node.Name || o.Missing+o.Repeated != 0 || !o.Balanced || keptOrigin(t, dir) != before.Node.Name {
				t.Errorf("the ledger is %+v, kept is %q", second.origins(), keptOrigin(t, dir))
			}
		})
	}
}

func TestANewDiskUnderAnOldNameIsAnotherOrigin(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	first := run(t, cfg)
	first.record(numbers("p", 0, 10))
	before := first.settled(10)
	first.halt()
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	second := run(t, cfg)
	second.record(numbers("p", 0, 3))
	if after := second.settled(3); after.Origin == before.Origin || after.Missing != 0 {
		t.Errorf("with a new disk the origin %q is %+v", before.Origin, after)
	}
}

func TestANewLogGoesOnBehindWhatTheStoreHas(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	first := run(t, cfg)
	first.record(numbers("p", 0, 10))
	before := first.settled(10)
	first.halt()
	if err := os.RemoveAll(filepath.Join(dir, "data", "log")); err != nil {
		t.Fatal(err)
	}
	second := run(t, cfg)
	second.record(numbers("p", 10, 10))
	if after := second.settled(20); after.Origin != before.Origin || after.Missing+after.Repeated != 0 || !after.Balanced {
		t.Errorf("the ledger is %+v", after)
	}
}

func TestAnOriginThatCannotBeReadStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "origin"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := open(load(t, dir, listenAnywhere))
	if err == nil {
		_ = n.Close()
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "write into it what voltbus ledger showed") {
		t.Errorf("the error is %q", err)
	}
}

func TestTheLedgerListsOriginsOfOtherNodesAndKeepsThemApart(t *testing.T) {
	dir := t.TempDir()
	away := run(t, load(t, dir, listenAnywhere+"store: {engine: none}\n"))
	away.record(numbers("p", 0, 5))
	b := &point.Block{
		Origin: "child~000000", First: 4, Sequence: 9, Before: 30, Left: 7, Refused: 2, Lost: "dropped", Points: []point.Path{"child/p"},
	}
	for _, s := range numbers("child/p", 0, 10) {
		b.Append(0, &s)
	}
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wait, err := away.Forward(t.Context(), b, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := answer.Origin{Origin: "child~000000", Produced: 49, Acknowledged: 47, Refused: 2, Balanced: true}
	if got := away.origins()["child~000000"]; got != want {
		t.Errorf("without a store the ledger has %+v, want %+v", got, want)
	}
	away.halt()

	back := run(t, load(t, dir, listenAnywhere))
	back.record(numbers("p", 5, 5)) // behind the block of another origin
	if own := back.settled(10); !own.Own || own.Missing+own.Repeated != 0 || !own.Balanced {
		t.Errorf("the own account is %+v", own)
	}
	want.Stored, want.Missing, want.Left = 10, 30, 7
	l := back.ledger()
	if len(l.Origins) != 2 || l.Origins[1] != want {
		t.Errorf("the ledger has %+v, want %+v", l.Origins, want)
	}
	if len(l.Gaps) != 1 || l.Gaps[0].Reason != "dropped" || l.Log.DroppedSamples != 0 {
		t.Errorf("another log's loss is shown as %+v, %+v", l.Gaps, l.Log)
	}
	if n := back.stored("child/p"); n != 10 {
		t.Errorf("%d samples of the child are stored, want 10", n)
	}
}
