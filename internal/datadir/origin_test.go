package datadir_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"voltbus/internal/datadir"
)

func TestEachNewOriginIsAnother(t *testing.T) {
	form := regexp.MustCompile(`^hall~[a-z0-9]{6}$`)
	seen := map[string]bool{}
	for range 1000 {
		o := datadir.NewOrigin("hall")
		if !form.MatchString(o) || seen[o] {
			t.Fatalf("%q came before or has another form", o)
		}
		seen[o] = true
	}
}

func TestAnOriginIsKept(t *testing.T) {
	dir := t.TempDir()
	if o, err := datadir.Origin(dir); err != nil || o != "" {
		t.Errorf("a new directory has the origin %q, %v", o, err)
	}
	for _, o := range []string{"hall~k3x9q0", "hall"} {
		if err := datadir.KeepOrigin(dir, o); err != nil {
			t.Fatal(err)
		}
		if got, err := datadir.Origin(dir); err != nil || got != o {
			t.Errorf("kept is %q, %v; want %q", got, err, o)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 { // the file and its copy
		t.Errorf("the directory holds %v, %v", files, err)
	}
}

func TestAnOriginThatCannotBeReadIsNotReplaced(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "two lines": "a\nb\n", "not UTF-8": "\xff", "endless": strings.Repeat("x", 300), "zeros": "\x00\x00",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "origin"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, err := datadir.Origin(dir); err == nil || !strings.Contains(err.Error(), "write into it what voltbus ledger showed") {
			t.Errorf("%s: %q, %v", name, o, err)
		}
	}
}
