package keyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"voltbus/fault"
	"voltbus/identity/keyfile"
)

func TestASecretIsMadeOnceAndKeptFromOthers(t *testing.T) {
	d := &keyfile.Drawer{Folder: filepath.Join(t.TempDir(), "drivers")}
	made := 0
	take := func() string {
		got, err := d.Keep("a.pem", func() ([]byte, error) { made++; return []byte("secret"), nil })
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	first, again := take(), take()
	if first != "secret" || again != first || made != 1 {
		t.Errorf("got %q and %q, made %d times, want once", first, again, made)
	}
	file := filepath.Join(d.Folder, "a.pem")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o644); err != nil { //nolint:gosec // that is the fault
		t.Fatal(err)
	}
	if _, err := d.Keep("a.pem", nil); fault.KindOf(err) != fault.Refused {
		t.Errorf("a secret that others can read gives %v, want the kind refused", err)
	}
	for _, name := range []string{"", "../a.pem", ".a", "b/c"} {
		if _, err := d.Keep(name, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the name %q gives %v, want the kind invalid", name, err)
		}
	}
}
