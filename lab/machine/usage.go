package machine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"voltbus/fault"
)

// Usage is what a process used over a while.
type Usage struct {
	Wall    float64 `json:"wall"`        // seconds
	CPU     float64 `json:"cpu"`         // seconds of a core
	Memory  uint64  `json:"memory"`      // bytes resident at the end
	Peak    uint64  `json:"peak_memory"` // bytes resident at most, since the process began
	Written uint64  `json:"written"`     // bytes handed to the disk
	Threads uint64  `json:"threads"`     // at the end
}

// Add adds another while. Memory is the larger one.
func (u *Usage) Add(o Usage) {
	u.Wall += o.Wall
	u.CPU += o.CPU
	u.Memory, u.Peak = max(u.Memory, o.Memory), max(u.Peak, o.Peak)
	u.Written += o.Written
	u.Threads = max(u.Threads, o.Threads)
}

// Cores is the mean number of cores in use.
func (u *Usage) Cores() float64 {
	if u.Wall <= 0 {
		return 0
	}
	return u.CPU / u.Wall
}

// Meter measures one process from when it was made. One goroutine uses it.
type Meter struct {
	pid   int
	began time.Time
	start Usage
}

// NewMeter begins to measure a process.
func NewMeter(pid int) *Meter {
	m := &Meter{pid: pid, began: time.Now()}
	m.start, _ = read(pid) // a process that is not there shows at Usage
	return m
}

// Usage returns what the process used since the meter was made. It fails with fault.NotFound when
// the process has gone.
func (m *Meter) Usage() (Usage, error) {
	u, err := read(m.pid)
	if err != nil {
		return Usage{}, fault.E("machine.Usage", fault.NotFound, fmt.Sprint("process ", m.pid), err)
	}
	u.Wall = time.Since(m.began).Seconds()
	u.CPU -= m.start.CPU
	u.Written -= min(u.Written, m.start.Written)
	return u, nil
}

// ticks is how the kernel counts a process's time: 100 a second on every Linux that Go runs on.
const ticks = 100

var errStat = errors.New("the kernel's account of the process cannot be read")

// read returns what a process used since it began.
func read(pid int) (u Usage, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	b, err := os.ReadFile(dir + "stat")
	if err != nil {
		return u, err
	}
	// The name in brackets may hold anything; the figures stand behind it.
	text := string(b)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 22 {
		return u, errStat
	}
	u.CPU = float64(number(f[11])+number(f[12])) / ticks
	u.Threads = number(f[17])
	u.Memory = number(f[21]) * uint64(os.Getpagesize())
	u.Peak = number(strings.TrimSuffix(keyed(dir+"status", "VmHWM", ":"), " kB")) << 10
	u.Written = number(keyed(dir+"io", "write_bytes", ":"))
	return u, nil
}

// FileMemory returns how many bytes of a process's memory are pages of files, such as the program: the
// system has them on disk and takes them back when it needs room. It is 0 for a process that has gone.
func FileMemory(pid int) uint64 {
	return number(strings.TrimSuffix(keyed(fmt.Sprintf("/proc/%d/status", pid), "RssFile", ":"), " kB")) << 10
}
