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
	watchEvery = 50 * time.Millisecond // between two looks at the disk
	leastFile  = 4 << 10               // bytes that any file counts as, or many empty ones would be free
)

var errDisk = errors.New("the statement took more of the disk than it may and was ended; ask for less at a time")

// watch ends the statement when all files in Temp together take more than Spill, and an eighth for what DuckDB does not
// count. The limit of the process bounds each file alone. It returns when ctx ends.
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

// taken is the room that the files below a folder take on the disk, in bytes. It counts no further than twice the
// bound. Files that come or go meanwhile may be left out.
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
