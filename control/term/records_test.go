package term

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/fault"
)

// shared is a log in memory.
type shared struct {
	first   uint64
	records [][]byte
	// lose has the next record added, and its writer told that it may be there or not.
	lose bool
	// full refuses records from then on.
	full bool
}

var errLostAnswer = errors.New("no answer came")

func (s *shared) Bounds(context.Context) (first, last uint64, err error) {
	return s.first + 1, s.first + uint64(len(s.records)), nil
}

func (s *shared) Scan(_ context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for i, data := range s.records {
		if sequence := s.first + uint64(i) + 1; sequence >= from {
			if err := deliver(sequence, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shared) AddBehind(_ context.Context, data []byte, last uint64) (uint64, error) {
	_, end, _ := s.Bounds(context.Background())
	switch {
	case s.full:
		return 0, fault.E("add", fault.Unavailable, "", errLostAnswer)
	case last != end:
		return 0, fault.E("add", fault.Conflict, "", errors.New("behind"))
	}
	if s.records = append(s.records, data); s.lose {
		s.lose = false
		return 0, fault.E("add", fault.Timeout, "", errLostAnswer)
	}
	return end + 1, nil
}

func (s *shared) Forget(_ context.Context, before uint64) error {
	s.records, s.first = s.records[before-1-s.first:], before-1
	return nil
}

func record(k string, data string) control.Record {
	return control.Record{Kind: "point", Key: k, Data: json.RawMessage(strconv.Quote(data))}
}

func loaded(t *testing.T, s *shared, name string) (*records, string) {
	t.Helper()
	j := newRecords(s, name, time.Now)
	state, err := j.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, r := range state.Records {
		words = append(words, r.Key+"="+strings.Trim(string(r.Data), `"`))
	}
	return j, strings.Join(words, " ")
}

func keep(t *testing.T, j *records, records ...control.Record) {
	t.Helper()
	if err := j.Keep(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}

func TestTheNextTermHasWhatTheOneBeforeHasKept(t *testing.T) {
	s := &shared{}
	j, _ := loaded(t, s, "r1")
	keep(t, j, record("a", "1"), record("b", "1"))
	keep(t, j, record("a", "2"), control.Record{Kind: "point", Key: "b"})
	if _, is := loaded(t, s, "r2"); is != "a=2" {
		t.Errorf("the state is %q", is)
	}
}

// A replica that was stopped while another one began its term writes nothing any more, and does again in a term of its own.
func TestAnEndedTermCannotWrite(t *testing.T) {
	s := &shared{}
	old, _ := loaded(t, s, "r1")
	keep(t, old, record("a", "1"))
	fresh, _ := loaded(t, s, "r2")
	for range 2 {
		if err := old.Keep(t.Context(), []control.Record{record("a", "old")}); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("an ended term has written: %v", err)
		}
	}
	keep(t, fresh, record("a", "2"))
	back, is := loaded(t, s, "r1")
	if is != "a=2" {
		t.Errorf("the state is %q", is)
	}
	keep(t, back, record("a", "3"))
	if err := fresh.Keep(t.Context(), []control.Record{record("a", "2")}); err == nil {
		t.Error("the term before the last one has written")
	}
}

func TestARecordWhoseAnswerWasLostDoesNotEndTheTerm(t *testing.T) {
	s := &shared{}
	j, _ := loaded(t, s, "r1")
	s.lose = true
	if err := j.Keep(t.Context(), []control.Record{record("a", "1")}); err == nil {
		t.Fatal("it is said to be kept")
	}
	keep(t, j, record("b", "1"))
	if _, is := loaded(t, s, "r2"); is != "a=1 b=1" {
		t.Errorf("the state is %q", is)
	}
}

// What is stored together counts only when all of it is there.
func TestPartsCountTogether(t *testing.T) {
	s := &shared{}
	j, _ := loaded(t, s, "r1")
	large := strings.Repeat("x", most/2)
	var records []control.Record
	for i := range 5 {
		records = append(records, record(fmt.Sprint("k", i), large))
	}
	before := len(s.records)
	keep(t, j, records...)
	if n := len(s.records) - before; n < 3 {
		t.Fatalf("%d parts", n)
	}
	s.records = s.records[:len(s.records)-1]
	next, is := loaded(t, s, "r2")
	if is != "" {
		t.Errorf("a part counts: %.40q", is)
	}
	keep(t, next, record("a", "1"))
	if _, is := loaded(t, s, "r3"); is != "a=1" {
		t.Errorf("then the state is %.40q", is)
	}
}

func TestTheLogIsWrittenAsAWholeBeforeItGrowsTooLarge(t *testing.T) {
	s := &shared{}
	j, _ := loaded(t, s, "r1")
	keep(t, j, record("a", "1"))
	large := strings.Repeat("x", most)
	for i := range 3 * settled / most {
		keep(t, j, record("b", large), record("n", fmt.Sprint(i)))
	}
	if s.first == 0 || len(s.records) > settled/most+5 {
		t.Errorf("%d records are left, %d were dropped", len(s.records), s.first)
	}
	if _, is := loaded(t, s, "r2"); !strings.HasPrefix(is, "a=1 b=x") || !strings.HasSuffix(is, fmt.Sprint("n=", 3*settled/most-1)) {
		t.Errorf("the state is %.20q", is)
	}
}

func TestADamagedLogIsSaidToBeAndBegunAnew(t *testing.T) {
	for name, damage := range map[string]func(*shared){
		"a record that cannot be read": func(s *shared) { s.records[1] = []byte("{") },
		"the beginning is missing":     func(s *shared) { s.records, s.first = s.records[1:], 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := &shared{}
			j, _ := loaded(t, s, "r1")
			keep(t, j, record("a", "1"))
			keep(t, j, record("a", "2"))
			damage(s)
			next := newRecords(s, "r2", time.Now)
			if _, err := next.Load(t.Context()); !fault.Is(err, fault.Corrupt) {
				t.Fatalf("it is read: %v", err)
			}
			if _, err := next.SetAside(t.Context()); err != nil {
				t.Fatal(err)
			}
			keep(t, next, record("b", "1"))
			if err := j.Keep(t.Context(), []control.Record{record("a", "3")}); err == nil {
				t.Error("the term before has written")
			}
			if _, is := loaded(t, s, "r3"); is != "b=1" {
				t.Errorf("then the state is %q", is)
			}
		})
	}
}

func TestWithoutAMajorityNothingIsKept(t *testing.T) {
	s := &shared{}
	j, _ := loaded(t, s, "r1")
	s.full = true
	if err := j.Keep(t.Context(), []control.Record{record("a", "1")}); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("it is said to be kept: %v", err)
	}
	s.full = false
	keep(t, j, record("b", "1"))
	if _, is := loaded(t, s, "r2"); is != "b=1" {
		t.Errorf("the state is %q", is)
	}
}
