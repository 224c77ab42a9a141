package statement

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

const (
	watchEvery = 50 * time.Millisecond // interval of disk checks
	leastFile  = 4 << 10               // minimum size counted per file, so that many empty ones are not free
)

var errDisk = errors.New("the statement took more of the disk than it may and was ended; ask for less at a time")

// watch ends the statement when all files in Temp together take more than Spill, plus an eighth for what DuckDB does
// not count. The process limit bounds only each file. It returns when ctx ends.
func (t *Task) watch(ctx context.Context, end context.CancelCauseFunc) {
	if t.Temp == "" {
		return
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if t.Spill > 0 && taken(t.Temp, t.Spill) > t.Spill+t.Spill/8 {
			end(fmt.Errorf("%w (%d MiB)", errDisk, t.Spill>>20))
			return
		}
	}
}

// taken returns the disk space of the files below a folder, in bytes. It stops counting at twice the bound. It
// may miss files that are created or removed meanwhile.
func taken(dir string, bound int64) (octets int64) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil //nolint:nilerr // gone
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // gone
		}
		room := int64(leastFile)
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			room = max(room, stat.Blocks*512)
		}
		if octets += room; octets/2 > bound {
			return fs.SkipAll
		}
		return nil
	})
	return octets
}
