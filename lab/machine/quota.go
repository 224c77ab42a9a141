package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
)

// Quota bounds the processor time of processes. Remove it when they have ended.
type Quota struct{ dir, file, none string }

// quotaPeriod is the time in which processes may use their share: that of container engines.
const quotaPeriod = 100 * time.Millisecond

// controlGroups is where Linux shows its control groups.
const controlGroups = "/sys/fs/cgroup"

// NewQuota makes a control group whose processes may use so many cores together. It fails with fault.Unavailable where
// this user may make none.
func NewQuota(cores float64) (*Quota, error) {
	root, file, none, text := filepath.Join(controlGroups, "cpu"), "cpu.cfs_quota_us", "-1", strconv.Itoa(int(cores*float64(quotaPeriod.Microseconds())))
	if list, err := os.ReadFile(filepath.Join(controlGroups, "cgroup.controllers")); err == nil {
		if !strings.Contains(string(list), "cpu") {
			return nil, noQuota(errors.New("the control groups of this machine have no controller cpu"))
		}
		root, file, none, text = controlGroups, "cpu.max", "max", fmt.Sprintf("%s %d", text, quotaPeriod.Microseconds())
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu"), 0) // shows below if it could not
	}
	dir, err := os.MkdirTemp(root, "voltbus-lab-")
	if err != nil {
		return nil, noQuota(err)
	}
	q := &Quota{dir, file, none}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0); err != nil {
		return nil, errors.Join(noQuota(err), q.Remove())
	}
	return q, nil
}

func noQuota(err error) error {
	return fault.E("machine.NewQuota", fault.Unavailable, controlGroups, fmt.Errorf("cannot bound the processor time of a process: %w; run the lab as root", err))
}

// Bind bounds a process, and those that it starts from now on.
func (q *Quota) Bind(process int) error {
	if err := os.WriteFile(filepath.Join(q.dir, "cgroup.procs"), []byte(strconv.Itoa(process)), 0); err != nil {
		return noQuota(err)
	}
	return nil
}

// Lift lets the processes use all cores again, so that they end soon.
func (q *Quota) Lift() error {
	if err := os.WriteFile(filepath.Join(q.dir, q.file), []byte(q.none), 0); err != nil {
		return noQuota(err)
	}
	return nil
}

// Remove removes the group, whose processes must have ended.
func (q *Quota) Remove() error { return os.Remove(q.dir) }
