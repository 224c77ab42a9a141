package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is sealed was written by the agent's user, who may have put links to others' files there.
func TestSealingTouchesNothingOutside(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root changes owners")
	}
	const uid = 64904
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	g := Guard{root: true, Users: true}
	dir := filepath.Join(t.TempDir(), "version")
	must(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "bin", "run"), nil, 0o755))
	must(t, os.Symlink(secret, filepath.Join(dir, "link")))
	must(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "folder")))
	must(t, g.OwnAll(dir, uid, uid))
	must(t, g.Seal(dir, uid))
	untouched := func() {
		t.Helper()
		info, err := os.Stat(secret)
		must(t, err)
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 || st.Gid != 0 || info.Mode() != 0o600 {
			t.Errorf("the secret is %v of %+v", info.Mode(), info.Sys())
		}
	}
	untouched()
	info, err := os.Stat(filepath.Join(dir, "bin", "run"))
	must(t, err)
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 || st.Gid != uid || info.Mode() != 0o750 {
		t.Errorf("the program is %v of %+v", info.Mode(), info.Sys())
	}
	// A hard link to a file of another agent is no file of this one.
	must(t, os.Chown(secret, uid+1, uid+1))
	must(t, os.Link(secret, filepath.Join(dir, "hard")))
	if err := g.Seal(dir, uid); err == nil {
		t.Error("another's file is sealed")
	}
	// A folder that becomes a link while it is walked leads nowhere.
	must(t, os.Chown(secret, 0, 0))
	err = g.walk(dir, func(root *os.Root, path string, _ fs.FileInfo) error {
		if path != "bin" {
			return nil
		}
		must(t, os.RemoveAll(filepath.Join(dir, "bin")))
		must(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "bin")))
		return errors.Join(root.Lchown("bin/secret", uid, uid), root.Chmod("bin/secret", 0o777))
	})
	if err == nil {
		t.Error("a link is followed out of the folder")
	}
	untouched()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
