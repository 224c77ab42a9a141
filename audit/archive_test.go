package audit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/audit"
	"voltbus/fault"
)

const small = 128 << 10 // a bound that some hundred entries reach

// sealedLog makes a log of so many archives, and returns all of its entries, as they were before they were handed over.
func sealedLog(t *testing.T, dir string, archives int) (*audit.Log, []audit.Entry) {
	t.Helper()
	l := open(t, dir)
	l.Bound(audit.Bound{MaxBytes: small})
	var all []audit.Entry
	for i := 0; len(l.Archives()) < archives; i++ {
		batch := make([]audit.Entry, 100)
		for j := range batch {
			batch[j] = entry(100*i + j)
			batch[j].Time = clock().Add(time.Duration(100*i+j) * time.Second)
			batch[j].Detail = json.RawMessage(fmt.Sprintf(`{"n":%d,"html":"<&>\u2028","pad":%q}`, 100*i+j, strings.Repeat("ü", 50)))
		}
		must(t, l.Append(t.Context(), batch...))
		must(t, l.Seal(t.Context()))
	}
	must(t, l.Export(t.Context(), audit.Filter{}, func(e *audit.Entry) error { all = append(all, *e); return nil }))
	return l, all
}

func archiveFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, audit.Archives, "*"))
	must(t, err)
	return files
}

func TestALogThatIsTooLargeHandsItsOldestEntriesOverAndAllStayInTheChain(t *testing.T) {
	dir := t.TempDir()
	l, all := sealedLog(t, dir, 3)
	files := archiveFiles(t, dir)
	if len(files) != 3 {
		t.Fatalf("the archives are %v", files)
	}
	for i := range all {
		if all[i].Seq != uint64(i+1) {
			t.Fatalf("entry %d comes at place %d", all[i].Seq, i+1)
		}
	}
	if n := len(entries(t, l, audit.Archived)); n != 3 {
		t.Errorf("%d entries name archives", n)
	}
	r, err := l.Verify(t.Context(), nil)
	must(t, err)
	if !r.Whole() || r.Entries != uint64(len(all)) || r.First != 1 || len(r.Archives) != 3 {
		t.Errorf("the report is %+v", r)
	}
	for _, limit := range []int{1000, 10_000} {
		var got []audit.Entry
		for f := (audit.Filter{Limit: limit}); ; {
			page, next, err := l.List(t.Context(), f)
			must(t, err)
			got = append(got, page...)
			if f.Before = next; next == 0 {
				break
			}
		}
		slices.Reverse(got)
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("in pages of %d: %.1000s", limit, diff)
		}
	}
	got, _, err := l.List(t.Context(), audit.Filter{Limit: 2, From: clock().Add(3 * time.Second), To: clock().Add(10 * time.Second), Subject: "p*"})
	must(t, err)
	if len(got) != 2 || got[0].Seq != 10 || got[1].Seq != 9 {
		t.Errorf("in an archive are %+v", got)
	}
	must(t, l.Close())
	if r := verify(t, dir); !r.Whole() || r.Entries != uint64(len(all)) {
		t.Errorf("the closed log is %+v", r)
	}
	if info, err := os.Stat(filepath.Join(dir, audit.File)); err != nil || info.Size() > 2*small {
		t.Errorf("the file is %v, %v", info.Size(), err)
	}
	l = open(t, dir) // and it goes on
	must(t, l.Append(t.Context(), entry(1)))
	r, err = l.Verify(t.Context(), nil)
	must(t, err)
	if !r.Whole() || l.Status().Damage != "" || r.Head.Seq != uint64(len(all))+1 {
		t.Errorf("opened again it is %+v, %+v", r, l.Status())
	}
}

// rewrite changes the text of an archive.
func rewrite(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	in, err := gzip.NewReader(bytes.NewReader(b))
	must(t, err)
	text, err := io.ReadAll(in)
	must(t, err)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(change(text))
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile(file, out.Bytes(), 0o600))
}

func TestAttackSomebodyChangesArchivesOrWhatIsSaidOfThem(t *testing.T) {
	original := t.TempDir()
	l, _ := sealedLog(t, original, 3)
	must(t, l.Close())
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, dir string, files []string)
		want  string
	}{
		"a field": {func(t *testing.T, _ string, files []string) {
			rewrite(t, files[1], func(b []byte) []byte { return bytes.Replace(b, []byte("person:ada"), []byte("person:eve"), 1) })
		}, "its hash does not fit"},
		"packed anew": {func(t *testing.T, _ string, files []string) {
			rewrite(t, files[1], func(b []byte) []byte { return append(b, '\n') })
		}, "another file than the one that was written"},
		"entries cut": {func(t *testing.T, _ string, files []string) {
			rewrite(t, files[0], func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
		}, "another file than the one that was written"},
		"the file cut": {func(t *testing.T, _ string, files []string) { must(t, os.Truncate(files[2], 1000)) }, "which is damaged"},
		"no archive":   {func(t *testing.T, _ string, files []string) { must(t, os.WriteFile(files[2], []byte("x"), 0o600)) }, "which is damaged"},
		"deleted":      {func(t *testing.T, _ string, files []string) { must(t, os.Remove(files[1])) }, "which is not there: put it back"},
		"exchanged": {func(t *testing.T, _ string, files []string) {
			b, err := os.ReadFile(files[0])
			must(t, err)
			must(t, os.WriteFile(files[1], b, 0o600))
		}, "another file than the one that was written"},
		"said to be removed": {func(t *testing.T, dir string, files []string) {
			tamper(t, dir, `UPDATE archive SET removed = 1 WHERE first = (SELECT max(first) FROM archive)`)
			must(t, os.Remove(files[2]))
		}, "which was removed, and no entry says so"},
		"taken off the list": {func(t *testing.T, dir string, files []string) {
			tamper(t, dir, `DELETE FROM archive WHERE first = (SELECT max(first) FROM archive)`)
			must(t, os.Remove(files[2]))
		}, "missing"},
		"another sum": {func(t *testing.T, dir string, files []string) {
			tamper(t, dir, `UPDATE archive SET hash = zeroblob(32) WHERE first = 1`)
		}, "another entry than the one that was written last"},
		"the list gone": {func(t *testing.T, dir string, _ []string) { tamper(t, dir, `DROP TABLE archive`) }, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(original)))
			tt.spoil(t, dir, archiveFiles(t, dir))
			r := verify(t, dir)
			found := slices.ContainsFunc(r.Problems, func(p audit.Problem) bool { return strings.Contains(p.Text, tt.want) })
			if r.Whole() || !found {
				t.Errorf("problems are %v, want %q", r.Problems, tt.want)
			}
		})
	}
}

func TestWhatIsInAnArchiveThatWasTakenAwayIsSaid(t *testing.T) {
	dir := t.TempDir()
	l, all := sealedLog(t, dir, 2)
	files := archiveFiles(t, dir)
	elsewhere := filepath.Join(t.TempDir(), filepath.Base(files[0]))
	must(t, os.Rename(files[0], elsewhere))
	absent := l.Absent(audit.Filter{})
	if len(absent) != 1 || absent[0].First != 1 || len(l.Absent(audit.Filter{From: clock().Add(time.Duration(absent[0].Last) * time.Second)})) != 0 {
		t.Errorf("absent is %+v", absent)
	}
	none := func(*audit.Entry) error { return nil }
	if err := l.Export(t.Context(), audit.Filter{}, none); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), absent[0].File) {
		t.Errorf("an export without it: %v", err)
	}
	must(t, l.Export(t.Context(), audit.Filter{From: absent[0].To.Add(time.Second)}, none))
	got, next, err := l.List(t.Context(), audit.Filter{Limit: 10_000})
	must(t, err)
	if next != 0 || len(got) != len(all)-int(absent[0].Last) {
		t.Errorf("%d entries, then %d", len(got), next)
	}
	must(t, os.Rename(elsewhere, files[0]))
	if r, err := l.Verify(t.Context(), nil); err != nil || !r.Whole() {
		t.Errorf("after it was put back: %+v, %v", r, err)
	}
}

func TestArchivesThatWereKeptForLongEnoughAreRemovedAndTheChainStaysWhole(t *testing.T) {
	dir := t.TempDir()
	var ahead atomic.Int64
	l, err := audit.Open(context.Background(), dir, func() time.Time { return clock().Add(time.Duration(ahead.Load())) })
	must(t, err)
	defer func() { must(t, l.Close()) }()
	l.Bound(audit.Bound{MaxBytes: small, Keep: 24 * time.Hour})
	for len(l.Archives()) < 4 {
		batch := make([]audit.Entry, 100)
		for j := range batch {
			batch[j] = entry(j)
		}
		must(t, l.Append(t.Context(), batch...))
		must(t, l.Seal(t.Context()))
		ahead.Add(int64(time.Hour))
	}
	ahead.Store(int64(24*time.Hour) + l.Archives()[1].To.Sub(clock()).Nanoseconds())
	must(t, l.Seal(t.Context()))
	if n := len(archiveFiles(t, dir)); n != 2 {
		t.Errorf("%d archives are left, want 2", n)
	}
	for range 2 {
		r, err := l.Verify(t.Context(), nil)
		must(t, err)
		if !r.Whole() || r.First != 1 || len(r.Archives) != 4 {
			t.Errorf("the report is %+v", r)
		}
		if err := l.Export(t.Context(), audit.Filter{}, func(*audit.Entry) error { return nil }); err != nil {
			t.Error(err)
		}
		must(t, l.Append(t.Context(), entry(1)))
	}
}

func TestWhatAStopLeftOfAnArchiveIsTidiedUp(t *testing.T) {
	dir := t.TempDir()
	l, all := sealedLog(t, dir, 1)
	next := l.Archives()[0].Last + 1
	must(t, l.Close())
	folder := filepath.Join(dir, audit.Archives)
	for _, name := range []string{"unfinished-123", fmt.Sprintf("%012d-%012d.jsonl.gz", next, next+7)} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
	}
	tamper(t, dir, `INSERT INTO entry SELECT 1, 1, 0, 'person:ada', 'x', '', '', '', zeroblob(32)`) // as if it was not removed yet
	l, again := sealedLog(t, dir, 2)
	if len(again) <= len(all) || again[0].Hash != all[0].Hash || len(archiveFiles(t, dir)) != 2 {
		t.Errorf("%d entries in %v", len(again), archiveFiles(t, dir))
	}
	if r, err := l.Verify(t.Context(), nil); err != nil || !r.Whole() {
		t.Errorf("the report is %+v, %v", r, err)
	}
}

// While the log is written, read and verified it hands entries over.
func TestALogIsBoundedWhileItIsUsed(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.Bound(audit.Bound{MaxBytes: small})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 3)
	var appended atomic.Int64
	go func() {
		for ctx.Err() == nil {
			if err := l.Append(context.Background(), entry(1), entry(2), entry(3)); err != nil {
				done <- err
				return
			}
			appended.Add(3)
		}
		done <- nil
	}()
	go func() {
		for ctx.Err() == nil {
			if err := l.Seal(context.Background()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	go func() {
		defer stop()
		for i := 0; i < 20 || len(l.Archives()) < 3; i++ {
			r, err := l.Verify(context.Background(), nil)
			if err == nil && !r.Whole() {
				err = fmt.Errorf("round %d: %v", i, r.Problems)
			}
			if err == nil {
				_, _, err = l.List(context.Background(), audit.Filter{Limit: 10_000})
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := len(entries(t, l, "person.set")); n != int(appended.Load()) {
		t.Errorf("%d entries, %d were acknowledged", n, appended.Load())
	}
}
