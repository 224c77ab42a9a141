package storage_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"voltbus/alarm"
	"voltbus/alarm/storage"
	"voltbus/fault"
	"voltbus/internal/fulldisk"
	"voltbus/internal/sqlite"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// opened opens the file of a directory until the test ends.
func opened(t *testing.T, dir string) *storage.Storage {
	t.Helper()
	s, err := storage.Open(context.Background(), dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// hot is an alarm and its transition, minutes after noon.
func hot(path point.Path, minutes int, event alarm.Event) (alarm.Alarm, alarm.Transition) {
	at, id := noon.Add(time.Duration(minutes)*time.Minute), alarm.IDOf("hot", path)
	a := alarm.Alarm{ID: id, Rule: "hot", Point: path, Priority: alarm.Critical, Text: "<b>too hot</b>", Active: true, Since: at, Value: "85", Count: 1}
	return a, alarm.Transition{
		Alarm: id, Rule: "hot", Point: path, Event: event, From: alarm.Normal, To: alarm.Unacknowledged, At: at, By: "ada", Note: "a\nnote",
		Priority: alarm.Critical, Text: a.Text, Value: "85", First: true,
	}
}

func saved(t *testing.T, s *storage.Storage, at uint64, c alarm.Changes) {
	t.Helper()
	if err := s.Save(t.Context(), &c, storage.Position{Log: "log", Sequence: at}); err != nil {
		t.Fatal(err)
	}
}

// numbers returns the numbers of the transitions that a query finds.
func numbers(t *testing.T, s *storage.Storage, q storage.Query) (list []int64) {
	t.Helper()
	if err := s.History(t.Context(), q, func(e *storage.Entry) { list = append(list, e.Number) }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestStatesHistoryAndPositionAreThereAfterOpeningAgain(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	if list, at, err := s.Load(t.Context()); err != nil || len(list) != 0 || at != (storage.Position{}) {
		t.Errorf("a new file has %v at %v, %v", list, at, err)
	}
	a, opening := hot("b/temp", 0, alarm.EventOpened)
	b, other := hot("b/other", 1, alarm.EventOpened)
	saved(t, s, 7, alarm.Changes{Kept: []alarm.Alarm{a, b}, Transitions: []alarm.Transition{opening, other}})
	_, returning := hot("b/other", 2, alarm.EventReturned)
	saved(t, s, 9, alarm.Changes{Gone: []alarm.ID{b.ID}, Transitions: []alarm.Transition{returning}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = opened(t, dir)
	list, at, err := s.Load(t.Context())
	if diff := cmp.Diff([]alarm.Alarm{a}, list); diff != "" || err != nil || at.Sequence != 9 || at.Log != "log" {
		t.Errorf("states at %v, %v: %s", at, err, diff)
	}
	var newest []storage.Entry
	if err := s.History(t.Context(), storage.Query{}, func(e *storage.Entry) { newest = append(newest, *e) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]storage.Entry{{Number: 3, Transition: returning}, {Number: 2, Transition: other}, {Number: 1, Transition: opening}}, newest); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		q    storage.Query
		want []int64
	}{
		"of an alarm":    {storage.Query{Alarm: a.ID}, []int64{1}},
		"of a rule":      {storage.Query{Rule: "hot", Limit: 2}, []int64{3, 2}},
		"of a point":     {storage.Query{Point: "b/other"}, []int64{3, 2}},
		"of a time":      {storage.Query{From: noon.Add(time.Minute), To: noon.Add(2 * time.Minute)}, []int64{2}},
		"the next page":  {storage.Query{Before: 2}, []int64{1}},
		"a hostile name": {storage.Query{Rule: "hot' OR '1'='1"}, nil},
	} {
		if diff := cmp.Diff(c.want, numbers(t, s, c.q)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestADamagedFileIsSetAsideAndOneOfOthersStays(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, storage.File)
	if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, dir)
	if list, _, err := s.Load(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a new file has %v, %v", list, err)
	}
	aside, err := filepath.Glob(file + ".*")
	if err != nil || len(aside) == 0 {
		t.Errorf("nothing was set aside: %v", err)
	}
	newer := filepath.Join(t.TempDir(), storage.File)
	db, err := sqlite.Open(newer, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE alarm (id TEXT); PRAGMA application_id = 0x5642414C; PRAGMA user_version = 9`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(t.Context(), filepath.Dir(newer), noon); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("a file of a newer program: %v", err)
	}
}

func TestAFullDiskTakesNothingHalfAndWorksAgainWithRoom(t *testing.T) {
	dir := fulldisk.Mount(t, "1m")
	s, err := storage.Open(t.Context(), dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, opening := hot("b/temp", 0, alarm.EventOpened)
	saved(t, s, 1, alarm.Changes{Kept: []alarm.Alarm{a}, Transitions: []alarm.Transition{opening}})
	ballast := fulldisk.Fill(t, dir)
	_, more := hot("b/temp", 1, alarm.EventReturned)
	more.Note = strings.Repeat("x", 1000)
	flood := alarm.Changes{Gone: []alarm.ID{a.ID}, Transitions: make([]alarm.Transition, 2000)}
	for i := range flood.Transitions {
		flood.Transitions[i] = more
	}
	if err := s.Save(t.Context(), &flood, storage.Position{Log: "log", Sequence: 2}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("on a full disk: %v", err)
	}
	if list, at, err := s.Load(t.Context()); err != nil || len(list) != 1 || at.Sequence != 1 || len(numbers(t, s, storage.Query{})) != 1 {
		t.Errorf("half of it was written: %v at %v, %v", list, at, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	flood.Transitions = flood.Transitions[:10]
	saved(t, s, 2, flood)
	if got := len(numbers(t, s, storage.Query{})); got != 11 {
		t.Errorf("with room again there are %d transitions", got)
	}
}
