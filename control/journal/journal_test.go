package journal_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
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
	db, err := sql.Open("sqlite", filepath.Join(dir, journal.File))
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

func TestAStateOfTheVersionBeforeIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, dir)
	kept := []control.Record{{Kind: "answer", Key: "3:ann1", Data: json.RawMessage(`{"requester":"ann"}`)}}
	if err := j.Keep(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	set(t, dir, `PRAGMA user_version = 1`)
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
