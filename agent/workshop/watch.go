package workshop

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Sources are the files of a project, with sizes and modification times.
type Sources map[string]string

// leftOutNames are folders without sources.
var leftOutNames = []string{".git", ".venv", "venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "node_modules", "build", "dist"}

// Look returns the sources of the project: Python files, pyproject.toml and data files beside them.
// Unreadable files count as absent.
func (p *Project) Look() Sources {
	found := Sources{}
	_ = filepath.WalkDir(p.Dir, func(name string, d fs.DirEntry, err error) error { // the function never returns one
		switch {
		case err != nil:
			return nil //nolint:nilerr // a file that went away, which is a change
		case d.IsDir() && name != p.Dir && (slices.Contains(leftOutNames, d.Name()) || strings.HasSuffix(d.Name(), ".egg-info")):
			return filepath.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "~"):
			return nil
		}
		if info, err := d.Info(); err == nil {
			found[name] = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return found
}

// AwaitChange returns when the sources have changed and then been stable for one further look, or when ctx
// ends.
func (p *Project) AwaitChange(ctx context.Context, before Sources, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := before
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := p.Look()
		if !maps.Equal(now, before) && maps.Equal(now, last) {
			return
		}
		last = now
	}
}
