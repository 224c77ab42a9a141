package duckdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

var mixedPoints = []point.Path{"float", "int", "bool", "text", "none", "late"}

// mixed makes a block with a sample of each kind. The one of the last point comes a day late.
func mixed(sequence uint64, at time.Time, text string) *point.Block {
	b := &point.Block{Origin: "a", Sequence: sequence, Before: (sequence - 1) * 6, Points: mixedPoints}
	for i, v := range []point.Value{
		point.FloatOf(float64(sequence)), point.IntOf(1<<60 + int64(sequence)), point.BoolOf(sequence%2 == 0), point.TextOf(text), {},
	} {
		b.Append(uint32(i), &point.Sample{Time: at, Value: v, Quality: point.Quality(sequence)})
	}
	b.Append(5, &point.Sample{Time: at.AddDate(0, 0, -1), Value: point.IntOf(int64(sequence))})
	return b
}

// latestOf returns the newest samples of the mixed points.
func latestOf(t *testing.T, s store.Store) []point.Sample {
	t.Helper()
	got, err := s.Latest(t.Context(), mixedPoints)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// again closes the store and opens it anew, which must not change what it knows.
func again(t *testing.T, s *duckdb.Store, dir string) *duckdb.Store {
	t.Helper()
	latest, counts := latestOf(t, s), stats(t, s)
	closeStore(t, s)
	s = open(t, duckdb.Options{Dir: dir})
	if diff := cmp.Diff(latest, latestOf(t, s), cmp.AllowUnexported(point.Value{})); diff != "" {
		t.Errorf("the newest samples (-before +after):\n%s", diff)
	}
	if got := stats(t, s); got.Overwritten != counts.Overwritten || got.Samples != counts.Samples || got.Newest != counts.Newest {
		t.Errorf("the store says %+v, and said %+v before", got, counts)
	}
	return s
}

// falsify changes all samples of the open days behind the store's back.
func falsify(t *testing.T, dir string) {
	t.Helper()
	changeDatabase(t, filepath.Join(dir, "history.duckdb"), "UPDATE day_20261120_1 SET value = 99, tag = 1")
}

func savedFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "newest.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the files with newest samples are %v, %v, want one", found, err)
	}
	return found[0]
}

func TestAStartReadsOnlyWhatCameSinceNewestSamplesWereSaved(t *testing.T) {
	dir := t.TempDir()
	s := open(t, duckdb.Options{Dir: dir})
	appendBlocks(t, s, mixed(1, noon(), "open"), mixed(2, noon().Add(time.Second), "closed"))
	s = again(t, s, dir)
	// Samples of the same times as those of before: the one of the text says the same.
	appendBlocks(t, s, mixed(3, noon().Add(time.Second), "closed"), mixed(4, noon().Add(time.Second), "jammed"))
	s = again(t, s, dir)
	if got := stats(t, s); got.Overwritten == 0 {
		t.Error("no sample took the place of another one")
	}
	latest := latestOf(t, s)
	closeStore(t, s)
	savedFile(t, dir)
	falsify(t, dir)
	s = open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	if diff := cmp.Diff(latest, latestOf(t, s), cmp.AllowUnexported(point.Value{})); diff != "" {
		t.Errorf("samples that were covered were read again (-saved +read):\n%s", diff)
	}
}

func TestWithoutTheFileOfNewestSamplesTheTablesAreRead(t *testing.T) {
	damages := map[string]func(t *testing.T, file string){
		"missing": func(t *testing.T, file string) {
			t.Helper()
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
		"of before": func(t *testing.T, file string) {
			t.Helper()
			changeDatabase(t, filepath.Join(filepath.Dir(file), "history.duckdb"), "UPDATE newest_file SET checksum = checksum + 1")
		},
		"of more than there is": func(t *testing.T, file string) {
			t.Helper()
			changeDatabase(t, filepath.Join(filepath.Dir(file), "history.duckdb"), "UPDATE newest_table SET rows = rows + 1")
		},
		"of other days": func(t *testing.T, file string) {
			t.Helper()
			changeDatabase(t, filepath.Join(filepath.Dir(file), "history.duckdb"), "UPDATE newest_file SET files = 0")
		},
		"of elsewhere": func(t *testing.T, file string) {
			t.Helper()
			changeDatabase(t, filepath.Join(filepath.Dir(file), "history.duckdb"), "UPDATE newest_file SET file = '../'||file")
		},
	}
	for name, change := range spoilerTable {
		damages[name] = func(t *testing.T, file string) { t.Helper(); spoil(t, file, change) }
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, duckdb.Options{Dir: dir})
			appendBlocks(t, s, mixed(1, noon(), "open"), mixed(2, noon(), "closed"))
			latest, counts := latestOf(t, s), stats(t, s)
			closeStore(t, s)
			damage(t, savedFile(t, dir))
			s = open(t, duckdb.Options{Dir: dir})
			if diff := cmp.Diff(latest, latestOf(t, s), cmp.AllowUnexported(point.Value{})); diff != "" {
				t.Errorf("the newest samples (-before +after):\n%s", diff)
			}
			if got := stats(t, s); got.Overwritten != counts.Overwritten || len(got.Damaged) > 0 {
				t.Errorf("the store says %+v, and said %+v before", got, counts)
			}
			s = again(t, s, dir)
			closeStore(t, s)
			savedFile(t, dir)
		})
	}
}

func TestNewestSamplesAreSavedAnewWhenDaysAreClosedAndDropped(t *testing.T) {
	dir := t.TempDir()
	keep := duckdb.Options{Dir: dir, Retention: store.Retention{Age: 48 * time.Hour}}
	s := open(t, keep)
	defer func() { closeStore(t, s) }()
	appendBlocks(t, s, mixed(1, noon(), "open"))
	for days := range 5 {
		maintain(t, s, noon().AddDate(0, 0, days))
		want := latestOf(t, s)
		closeStore(t, s)
		savedFile(t, dir)
		s = open(t, keep)
		if diff := cmp.Diff(want, latestOf(t, s), cmp.AllowUnexported(point.Value{})); diff != "" {
			t.Errorf("the newest samples after %d days (-before +after):\n%s", days, diff)
		}
	}
	if got := stats(t, s); got.Samples != 0 || got.Expired == 0 {
		t.Errorf("the store says %+v, want that all is dropped", got)
	}
}

func TestADayThatWasDroppedMayComeAgain(t *testing.T) {
	dir := t.TempDir()
	keep := duckdb.Options{Dir: dir, Retention: store.Retention{Age: 48 * time.Hour}}
	s := open(t, keep)
	appendBlocks(t, s, mixed(1, noon(), "open"))
	closeStore(t, s)
	savedFile(t, dir)
	s = open(t, keep)
	defer closeStore(t, s)
	maintain(t, s, noon().AddDate(0, 0, 9))
	appendBlocks(t, s, mixed(2, noon(), "closed")) // in a table of the same name
	killed := open(t, duckdb.Options{Dir: imageOf(t, dir)})
	defer closeStore(t, killed)
	if diff := cmp.Diff(latestOf(t, s), latestOf(t, killed), cmp.AllowUnexported(point.Value{})); diff != "" {
		t.Errorf("the newest samples (-before +after a kill):\n%s", diff)
	}
}

// imageOf returns a copy of what the store would find if its process were killed now.
func imageOf(t *testing.T, dir string) string {
	t.Helper()
	image := t.TempDir()
	for _, name := range []string{"history.duckdb", "history.duckdb.wal", filepath.Base(savedFile(t, dir))} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // there is no write-ahead log behind a checkpoint
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(image, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

func TestAfterAKillOnlyWhatCameSinceIsRead(t *testing.T) {
	const blocks, samples = 12, 200_000 // more than the store keeps unsaved
	dir := t.TempDir()
	s := open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	appendBlocks(t, s, mixed(1, noon(), "open"))
	early := latestOf(t, s)
	for n := range uint64(blocks) {
		b := block(n+1, noon().Add(time.Duration(n*samples)*time.Millisecond), 0)
		b.Origin, b.Before = "b", n*samples
		for i := range samples {
			at := noon().Add(time.Duration(n*samples+uint64(i)) * time.Millisecond)
			b.Append(0, &point.Sample{Time: at, Value: point.IntOf(int64(n))})
		}
		appendBlocks(t, s, b)
	}
	image := imageOf(t, dir)
	changeDatabase(t, filepath.Join(image, "history.duckdb"), "UPDATE day_20261120_1 SET value = 99, tag = 1 WHERE rowid < 2000000")
	killed := open(t, duckdb.Options{Dir: image})
	defer closeStore(t, killed)
	if diff := cmp.Diff(early, latestOf(t, killed), cmp.AllowUnexported(point.Value{})); diff != "" {
		t.Errorf("samples that were covered were read again (-saved +read):\n%s", diff)
	}
	got, err := killed.Latest(t.Context(), []point.Path{"p"})
	if err != nil || got[0].Value != point.IntOf(blocks-1) || !got[0].Time.Equal(noon().Add((blocks*samples-1)*time.Millisecond)) {
		t.Errorf("the newest sample is %v, %v", got, err)
	}
}
