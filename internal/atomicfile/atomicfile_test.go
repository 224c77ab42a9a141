package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"voltbus/internal/atomicfile"
)

var errDisk = errors.New("the disk is full")

func TestAFailureAtAnyStepLeavesOneWholeFile(t *testing.T) {
	for step, want := range map[atomicfile.Step]string{
		atomicfile.Create: "old", atomicfile.Fill: "old", atomicfile.Sync: "old", atomicfile.Rename: "old",
		atomicfile.SyncName: "new", "none": "new",
	} {
		t.Run(string(step), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := atomicfile.Writer{Before: func(s atomicfile.Step) error {
				if s == step {
					return errDisk
				}
				return nil
			}}
			err := w.Write(file, []byte("new"), 0o640)
			if broken := step != "none"; errors.Is(err, errDisk) != broken {
				t.Errorf("error is %v", err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != want {
				t.Errorf("the file holds %q, %v; want %q", got, err, want)
			}
			left, err := os.ReadDir(filepath.Dir(file))
			if err != nil || len(left) != 1 {
				t.Errorf("%d files are left, %v; want one", len(left), err)
			}
		})
	}
}

func TestAWrittenFileHasItsMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := (atomicfile.Writer{}).Write(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 || info.Size() != 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

func TestAppendWritesOverWhatWasNotWrittenCompletely(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a")
	for _, one := range []struct {
		size          int64
		content, want string
	}{{0, "one\n", "one\n"}, {4, "two and ha", "one\ntwo and ha"}, {4, "two\n", "one\ntwo\n"}} {
		if err := atomicfile.Append(file, one.size, []byte(one.content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != one.want {
			t.Errorf("after %q at %d the file has %q, %v", one.content, one.size, got, err)
		}
	}
}
