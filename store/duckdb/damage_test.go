package duckdb_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// noiseSamples is the size of a block of noise.
const noiseSamples = 100_000

// noise makes a block that cannot be compressed.
func noise(sequence uint64) *point.Block {
	random := rand.New(rand.NewPCG(sequence, 0))
	b := &point.Block{Origin: "a", Sequence: sequence, Before: (sequence - 1) * noiseSamples, Points: []point.Path{"p"}}
	start := noon().Add(time.Duration(sequence*noiseSamples) * time.Millisecond)
	for i := range noiseSamples {
		v := math.Float64frombits(random.Uint64()&^(1<<62) | 1)
		b.Append(0, &point.Sample{Time: start.Add(time.Duration(i) * time.Millisecond), Value: point.FloatOf(v)})
	}
	return b
}

// wantNoise checks that blocks 1 to last are there.
func wantNoise(t *testing.T, s store.Store, last uint64) {
	t.Helper()
	n := uint64(0)
	r := store.Range{Points: []point.Path{"p"}, From: noon(), To: noon().AddDate(1, 0, 0)}
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		n += uint64(len(run))
		return nil
	})
	if err != nil || n != last*noiseSamples {
		t.Errorf("%d samples were read, want %d; error %v", n, last*noiseSamples, err)
	}
}

// threeDays makes a store with two closed days of 3 samples each and an open one of 3.
func threeDays(t *testing.T, dir string) *duckdb.Store {
	t.Helper()
	s := open(t, duckdb.Options{Dir: dir})
	for i := range 3 {
		appendBlocks(t, s, block(uint64(i+1), noon().AddDate(0, 0, i-2), 3))
	}
	maintain(t, s, noon())
	if got := stats(t, s); got.Closed != 2 || got.Open != 1 {
		t.Fatalf("%d days are closed and %d open, want 2 and 1", got.Closed, got.Open)
	}
	return s
}

func closeStore(t *testing.T, s *duckdb.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// spoil changes the bytes of a file.
func spoil(t *testing.T, name string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

var spoilerTable = map[string]func([]byte) []byte{
	"truncated":     func(b []byte) []byte { return b[:len(b)/2] },
	"empty":         func([]byte) []byte { return nil },
	"zeroed":        func(b []byte) []byte { return make([]byte, len(b)) },
	"a wrong head":  func(b []byte) []byte { b[0] ^= 0xff; return b },
	"a wrong foot":  func(b []byte) []byte { b[len(b)-20] ^= 0xff; return b },
	"wrong lengths": func(b []byte) []byte { binary.LittleEndian.PutUint32(b[len(b)-8:], 1<<31); return b },
	"a wrong page":  func(b []byte) []byte { b[40] ^= 0xff; return b },
}

func TestADamagedDayIsSetAsideAndTheRestIsServed(t *testing.T) {
	for name, change := range spoilerTable {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := threeDays(t, dir)
			spoil(t, filepath.Join(dir, "days", "2026-11-19.parquet"), change)
			if err := s.Scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantDamaged(t, s)
			closeStore(t, s)
			s = open(t, duckdb.Options{Dir: dir})
			wantDamaged(t, s)
			appendBlocks(t, s, block(4, noon().AddDate(0, 0, -1), 1))
			maintain(t, s, noon())
			if got := stored(t, s); len(got) != 7 {
				t.Errorf("samples are %v, want seven with the one that came again", got)
			}
			closeStore(t, s)
		})
	}
}

// wantDamaged checks that the middle one of three days is reported and the others are there.
func wantDamaged(t *testing.T, s *duckdb.Store) {
	t.Helper()
	if got := stored(t, s); len(got) != 6 {
		t.Errorf("samples are %v, want those of two days", got)
	}
	got := stats(t, s)
	if len(got.Damaged) != 1 {
		t.Fatalf("damaged are %v, want one day", got.Damaged)
	}
	d := got.Damaged[0]
	if d.From != noon().AddDate(0, 0, -1).Truncate(24*time.Hour) || d.To.Sub(d.From) != 24*time.Hour || d.Reason == "" || d.Noticed.IsZero() {
		t.Errorf("damage is %+v, want the 19th with a reason", d)
	}
}

func TestADamagedDayIsNoticedByAQuery(t *testing.T) {
	for _, name := range []string{"zeroed", "truncated"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := threeDays(t, dir)
			defer closeStore(t, s)
			spoil(t, filepath.Join(dir, "days", "2026-11-19.parquet"), spoilerTable[name])
			wantDamaged(t, s)
		})
	}
}

func TestAMissingDayIsNoticedAtOpening(t *testing.T) {
	dir := t.TempDir()
	closeStore(t, threeDays(t, dir))
	if err := os.Remove(filepath.Join(dir, "days", "2026-11-19.parquet")); err != nil {
		t.Fatal(err)
	}
	s := open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	wantDamaged(t, s)
}

func TestWhatAnInterruptedCloseLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	closeStore(t, threeDays(t, dir))
	days := filepath.Join(dir, "days")
	whole, err := os.ReadFile(filepath.Join(days, "2026-11-19.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	rests := []string{"2026-11-20.parquet", "2026-11-19.7.parquet", "2026-11-20.parquet.tmp"}
	for _, name := range rests {
		if err := os.WriteFile(filepath.Join(days, name), whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	for _, name := range rests {
		if _, err := os.Stat(filepath.Join(days, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there", name)
		}
	}
	if got := stored(t, s); len(got) != 9 {
		t.Errorf("samples are %v, want nine", got)
	}
}

func TestADamagedDatabaseIsReplacedAndItsClosedDaysAreFoundAgain(t *testing.T) {
	for _, name := range []string{"truncated", "zeroed", "a wrong page"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			closeStore(t, threeDays(t, dir))
			spoil(t, filepath.Join(dir, "history.duckdb"), spoilerTable[name])
			s := open(t, duckdb.Options{Dir: dir})
			if got := stored(t, s); len(got) != 6 {
				t.Errorf("samples are %v, want those of the two closed days", got)
			}
			got := stats(t, s)
			if len(got.Damaged) != 1 || !strings.HasPrefix(got.Damaged[0].File, "history.duckdb.damaged-") {
				t.Fatalf("damaged are %v, want the database", got.Damaged)
			}
			if _, err := os.Stat(filepath.Join(dir, got.Damaged[0].File)); err != nil {
				t.Error(err)
			}
			latest, err := s.Latest(t.Context(), []point.Path{"p"})
			if err != nil || latest[0].Value != point.FloatOf(4) {
				t.Errorf("latest is %v, %v; want the last of the closed days", latest, err)
			}
			appendBlocks(t, s, block(3, noon(), 3))
			closeStore(t, s)
			s = open(t, duckdb.Options{Dir: dir})
			if got := stored(t, s); len(got) != 9 {
				t.Errorf("samples are %v, want nine after the log was stored again", got)
			}
			closeStore(t, s)
		})
	}
}

func TestADayOfAnotherHistoryIsNotTakenOver(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	closeStore(t, threeDays(t, dir))
	s := open(t, duckdb.Options{Dir: other})
	b := block(1, noon().AddDate(0, 0, -9), 1)
	b.Points[0] = "foreign"
	appendBlocks(t, s, b)
	maintain(t, s, noon())
	closeStore(t, s)
	name := "2026-11-11.parquet"
	if err := os.Rename(filepath.Join(other, "days", name), filepath.Join(dir, "days", name)); err != nil {
		t.Fatal(err)
	}
	s = open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	got := stats(t, s)
	if len(got.Damaged) != 1 || !strings.Contains(got.Damaged[0].Reason, "another history") {
		t.Errorf("damaged are %v, want the foreign day", got.Damaged)
	}
	if got := stored(t, s); len(got) != 9 {
		t.Errorf("samples are %v, want nine", got)
	}
}

func TestADatabaseOfANewerProgramIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	closeStore(t, threeDays(t, dir))
	before, err := os.ReadFile(filepath.Join(dir, "history.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	setVersion(t, filepath.Join(dir, "history.duckdb"), 99)
	if _, err := duckdb.Open(t.Context(), duckdb.Options{Dir: dir}); !fault.Is(err, fault.Conflict) {
		t.Errorf("error is %v (%v), want a conflict", err, fault.KindOf(err))
	}
	if err := os.WriteFile(filepath.Join(dir, "history.duckdb"), before, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	if got := stored(t, s); len(got) != 9 {
		t.Errorf("samples are %v, want nine", got)
	}
}

// setVersion changes the layout's version in a closed database.
func setVersion(t *testing.T, file string, version int) {
	t.Helper()
	changeDatabase(t, file, "UPDATE schema_version SET version = $1", version)
}
