// Package machine describes the machine on which a run is measured, and the resources that its processes use.
package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Description is the machine of a run. What cannot be found out is "" or 0.
type Description struct {
	CPU      string `json:"cpu"`    // model
	Cores    int    `json:"cores"`  // that this process may use
	Memory   uint64 `json:"memory"` // bytes
	Kernel   string `json:"kernel"`
	System   string `json:"system"`          // the distribution
	Arch     string `json:"arch"`            // such as amd64
	Disk     string `json:"disk"`            // file system of the run's directory
	DiskFree uint64 `json:"disk_free"`       // bytes
	Files    uint64 `json:"open_files"`      // most open files of a process
	Quota    string `json:"quota,omitempty"` // the container's share of the processors, as cgroup v2 writes it
	Go       string `json:"go"`
	Load     string `json:"load"` // load averages when the run began: a busy machine gives worse figures
}

// Describe looks at this machine. dir is where the run keeps its files; "" for the system's
// temporary directory.
func Describe(dir string) Description {
	if dir == "" {
		dir = os.TempDir()
	}
	d := Description{
		Cores: runtime.NumCPU(), Arch: runtime.GOARCH, Go: runtime.Version(),
		CPU: keyed("/proc/cpuinfo", "model name", ":"), System: strings.Trim(keyed("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Quota: word("/sys/fs/cgroup/cpu.max"), Load: word("/proc/loadavg"),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		d.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		d.Memory = info.Totalram * uint64(info.Unit)
	}
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil {
		d.Disk, d.DiskFree = fileSystem(dir), fs.Bavail*uint64(fs.Bsize)
	}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		d.Files = files.Cur
	}
	return d
}

// longest bounds what is taken from a file of the system.
const longest = 200

func word(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return clip(strings.TrimSpace(string(b)))
}

func clip(s string) string {
	if len(s) > longest {
		return s[:longest]
	}
	return s
}

// keyed returns the value of the first line with the key.
func keyed(file, key, separator string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, separator); ok && strings.TrimSpace(k) == key {
			return clip(strings.TrimSpace(v))
		}
	}
	return ""
}

// fileSystem returns kind and options of the file system that holds dir, such as "ext4 rw,relatime".
func fileSystem(dir string) string {
	b, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return ""
	}
	best, found := "", ""
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 4 || !within(dir, f[1]) || len(f[1]) < len(best) {
			continue
		}
		best, found = f[1], f[2]
	}
	return found
}

func within(dir, mount string) bool {
	return mount == "/" || dir == mount || strings.HasPrefix(dir, mount+"/")
}

// number parses digits; 0 for anything else.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
