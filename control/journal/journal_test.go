package journal_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/control/journal"
	"voltbus/fault"
)

func opened(t *testing.T, dir string) (*journal.Journal, control.State) {
	t.Helper()
	j := journal.Open(dir, time.Now)
	state, err := j.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return j, state
}

func set(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, journal.File))
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cut returns a directory with the file as it is on disk while a journal is open, as a power cut leaves it.
func cut(t *testing.T, dir string) string {
	t.Helper()
	after := t.TempDir()
	for _, name := range []string{journal.File, journal.File + "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(after, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return after
}

// older checks what the program before finds.
func older(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, journal.File))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var version, turns int
	var text string
	err = db.QueryRowContext(t.Context(), `SELECT user_version, (SELECT count(*) FROM turn), (SELECT group_concat(key || data, ' ') FROM record)
		FROM pragma_user_version`).Scan(&version, &turns, &text)
	if err != nil || version != 2 || turns != 0 || text != `site/d0{"n":1} site/d1{"n":2}` {
		t.Errorf("the file has version %d, %d turns and %q, %v", version, turns, text, err)
	}
}

// The program before reads the rows of one table, from a file of its own version.
func TestAFileThatWasClosedIsOneOfTheProgramBefore(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	keep(t, j, records(0, 3, `{"n":1}`))
	keep(t, j, append(records(1, 2, `{"n":2}`), control.Record{Kind: "point", Key: "site/d2"}))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, dir)
	again, state := opened(t, dir)
	older(t, cut(t, dir)) // nothing was kept yet
	if len(state.Records) != 2 {
		t.Errorf("the state is %+v", state.Records)
	}
	keep(t, again, records(5, 6, `{"n":3}`))
	if _, left := opened(t, cut(t, dir)); len(left.Records) != 3 {
		t.Errorf("after a power cut the state is %+v", left.Records)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAStateOfTheVersionBeforeIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	kept := []control.Record{{Kind: "answer", Key: "3:ann1", Data: json.RawMessage(`{"requester":"ann"}`)}}
	set(t, dir, `INSERT INTO record VALUES ('answer', '3:ann1', '{"requester":"ann"}'); DROP TABLE turn; PRAGMA user_version = 1`)
	for range 2 { // it is of this version the second time
		again, state := opened(t, dir)
		if len(state.Records) != 1 || string(state.Records[0].Data) != string(kept[0].Data) {
			t.Errorf("the state is %+v", state.Records)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStateOfANewerProgramIsRefused(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	set(t, dir, `PRAGMA user_version = 99`)
	if _, err := journal.Open(dir, time.Now).Load(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("a newer version gives %v", err)
	}
}

func records(from, to int, data string) []control.Record {
	list := make([]control.Record, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, control.Record{Kind: "point", Key: "site/d" + strconv.Itoa(i), Data: json.RawMessage(data)})
	}
	return list
}

func keep(t *testing.T, j *journal.Journal, list []control.Record) {
	t.Helper()
	if err := j.Keep(t.Context(), list); err != nil {
		t.Fatal(err)
	}
}

// Several times what stands over the records is kept, at random, and a map says what the state has to be.
func TestWhatWasKeptLastCountsHoweverMuchThereIs(t *testing.T) {
	dir, random, want := t.TempDir(), rand.New(rand.NewPCG(1, 2)), map[string]string{}
	j, _ := opened(t, dir)
	for n := range 120 {
		var list []control.Record
		for _, i := range random.Perm(3000)[:1+random.IntN(200)] {
			r := control.Record{Kind: "point", Key: fmt.Sprintf("é\"%d", i)}
			if delete(want, r.Key); random.IntN(4) > 0 {
				r.Data = fmt.Appendf(nil, `{"n":%d,"text":%q}`, n, strings.Repeat("x", random.IntN(2000)))
				want[r.Key] = string(r.Data)
			}
			list = append(list, r)
		}
		if keep(t, j, list); n%17 > 0 {
			continue
		}
		open, err := j.Load(t.Context())
		left := dir
		if err == nil && n%2 > 0 {
			left = cut(t, dir)
		}
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		dir = left
		var read control.State
		j, read = opened(t, dir)
		for _, state := range []control.State{open, read} {
			got := map[string]string{}
			for _, r := range state.Records {
				got[r.Key] = string(r.Data)
			}
			if len(got) != len(state.Records) || !maps.Equal(got, want) {
				t.Fatalf("after %d times the state has %d records, %d different, and should have %d", n+1, len(state.Records), len(got), len(want))
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheFileDoesNotGrowWithWhatIsReplaced(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	list := records(0, 2000, `{"text":"`+strings.Repeat("x", 500)+`"}`)
	for range 24 { // 24 MB
		keep(t, j, list)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, journal.File))
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(16 << 20); info.Size() > most {
		t.Errorf("the file has %d bytes, more than %d", info.Size(), most)
	}
}

func TestATurnThatCannotBeReadIsDamage(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	keep(t, j, records(0, 3, `{}`))
	dir = cut(t, dir)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	set(t, dir, `UPDATE turn SET data = CAST('[{"kind":' AS BLOB)`)
	if _, err := journal.Open(dir, time.Now).Load(t.Context()); !fault.Is(err, fault.Corrupt) {
		t.Errorf("half a turn gives %v", err)
	}
}

func TestWhatCouldNotBeKeptChangesNothing(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	list := records(0, 1000, `{"text":"`+strings.Repeat("x", 500)+`"}`)
	keep(t, j, list)
	for range 12 { // the first turn leaves
		keep(t, j, records(1000, 2000, `{"text":"`+strings.Repeat("y", 500)+`"}`))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Keep(ended, records(0, 2000, `{"n":2}`)); err == nil {
		t.Fatal("what nobody waits for any more is kept")
	}
	state, err := j.Load(t.Context())
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range state.Records {
		if r := &state.Records[i]; strings.Contains(string(r.Data), `"n"`) {
			t.Fatalf("%s is %s, which could not be kept", r.Key, r.Data)
		}
	}
	if len(state.Records) != 2000 {
		t.Errorf("the state has %d records, and should have 2000", len(state.Records))
	}
}
