package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"voltbus/internal/folder"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestAttackNothingOutsideOfTheFolderIsRead(t *testing.T) {
	top := t.TempDir()
	dir, outside := filepath.Join(top, "etc"), filepath.Join(top, "secret")
	write(t, outside, "secret")
	write(t, filepath.Join(dir, "data/admin.token"), "secret")
	write(t, filepath.Join(dir, "own/points.csv"), "name")
	for link, to := range map[string]string{
		"out": outside, "up": "../secret", "chain": "out", "kmsg": "/proc/kmsg", "environ": "/proc/self/environ", "null": "/dev/null",
		"token": "data/admin.token", "folder": "data", "own/near.csv": "points.csv", "root": "/", "self": "self",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := folder.Open(dir, filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for name, want := range map[string]error{
		"../secret": folder.ErrOutside, outside: folder.ErrOutside, "/etc/passwd": folder.ErrOutside, "own/../../secret": folder.ErrOutside,
		"out": folder.ErrOutside, "up": folder.ErrOutside, "chain": folder.ErrOutside, "root/etc/passwd": folder.ErrOutside,
		"kmsg": folder.ErrOutside, "environ": folder.ErrOutside, "null": folder.ErrOutside, "/proc/kmsg": folder.ErrOutside,
		"pipe": folder.ErrSpecial, "own": folder.ErrSpecial, ".": folder.ErrSpecial, "": folder.ErrSpecial,
		"data/admin.token": folder.ErrClosed, "token": folder.ErrClosed, "folder/admin.token": folder.ErrClosed,
		filepath.Join(dir, "data/admin.token"): folder.ErrClosed, "data/nothing": folder.ErrClosed, "self": nil,
	} {
		if text, err := f.ReadFile(name, 100); err == nil || (want != nil && !errors.Is(err, want)) {
			t.Errorf("%q is %q, %v; want %v", name, text, err, want)
		}
	}
	for _, name := range []string{"own/points.csv", "own/near.csv", filepath.Join(dir, "own/points.csv")} {
		if text, err := f.ReadFile(name, 100); string(text) != "name" || err != nil {
			t.Errorf("%q is %q, %v", name, text, err)
		}
	}
	if _, err := f.ReadFile("own/points.csv", 3); err == nil {
		t.Error("a file of 4 bytes is read where 3 are allowed")
	}
	if text, err := f.In("own").ReadFile("points.csv", 100); string(text) != "name" || err != nil {
		t.Errorf("near its own place the file is %q, %v", text, err)
	}
	if names, err := f.Glob("*/*"); err != nil || !slices.Equal(names, []string{"own/near.csv", "own/points.csv"}) {
		t.Errorf("%q are found, %v", names, err)
	}
	if _, err := f.Glob("../*"); !errors.Is(err, folder.ErrOutside) {
		t.Errorf("a pattern of outside gives %v", err)
	}
}

func TestAttackFilesOfTheKernelAreNotRead(t *testing.T) {
	f, err := folder.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for _, name := range []string{"proc/self/environ", "proc/self/mem", "proc/self/cmdline", "proc/kmsg", "sys/kernel/mm/transparent_hugepage/enabled", "dev/null"} {
		if text, err := f.ReadFile(name, 100); err == nil {
			t.Errorf("%s is %q", name, text)
		}
	}
}
