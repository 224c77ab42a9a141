package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The access rights of Landlock, in groups.
const (
	rightsRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsFirst = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // all rights of the first version
)

// deviceNames are devices that every program may read and write.
var deviceNames = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Version returns which version of Landlock the kernel has, 0 for none.
func Version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled returns the access rights that a version of Landlock can restrict.
func handled(version int) uint64 {
	rights := uint64(rightsFirst)
	if version >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

var errNoLandlock = errors.New("this kernel has no Landlock; set agents.isolation to auto or off, or use Linux 5.13 or later")

// lock makes paths that the spec does not name invisible and, if the kernel supports it, confines signals and
// abstract sockets.
func (s *Spec) lock() error {
	if !s.Landlock {
		return nil
	}
	version := Version()
	if version == 0 {
		return errNoLandlock
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(version)}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make rules of Landlock: %w", errno)
	}
	rules := ruleset{fd: fd, handled: attr.Handled_access_fs}
	if err := rules.fill(s); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules of Landlock: %w", errno)
	}
	return nil
}

// ruleset is an open set of rules.
type ruleset struct {
	fd      uintptr
	handled uint64
}

func (r *ruleset) fill(s *Spec) error {
	read := slices.Clone(s.Show)
	for _, path := range s.Read {
		read = append(read, around(path, s.Hide)...)
	}
	for _, path := range read {
		if err := r.allow(path, rightsRead); err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(deviceNames, s.Write) {
		if err := r.allow(path, r.handled); err != nil {
			return err
		}
	}
	return nil
}

// allow grants rights to a path, recursively. A missing path needs none.
func (r *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
		return nil // what this user cannot see needs no rule
	} else if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= rightsFile
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.fd, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}

// around returns paths that cover what lies below path, but not hide. Landlock rules only add rights, so the
// siblings along the path to hide are listed individually.
func around(path, hide string) []string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	if hide == "" {
		return []string{target}
	}
	if within(target, hide) {
		return nil
	}
	if !within(hide, target) {
		return []string{target}
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, around(filepath.Join(target, e.Name()), hide)...)
	}
	return out
}

// within reports whether path is root, or lies below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}
