// Package runs stores the runs of the lab in a directory, one folder each, and executes them: in this process, or in a separate one that
// can be watched and stopped. A run that does not finish leaves nothing.
package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/internal/datadir"
	"voltbus/lab/experiment"
	"voltbus/lab/report"
)

// part ends the name of a run's folder until the run has finished.
const part = ".part"

// NewID returns the name of a new run: when, what, and a few random letters.
func NewID(name string, now time.Time) string {
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102-150405"), name, strings.ToLower(rand.Text()[:6]))
}

// longestID is the most characters of a run's name.
const longestID = 120

// checkID refuses a name that could lead out of the directory.
func checkID(id string) error {
	if id == "" || len(id) > longestID ||
		strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) {
		return fault.E("runs", fault.NotFound, fmt.Sprintf("%.*s", longestID, id), errNoRun)
	}
	return nil
}

var errNoRun = errors.New("there is no such run; the list of runs has those that there are")

// Execute runs the experiment in this process and keeps the result as the run id in dir. It
// returns the run's folder. When it fails or ctx ends, nothing is kept.
func Execute(ctx context.Context, dir, id string, e experiment.Experiment, o experiment.Options) (_ string, _ *experiment.Result, err error) {
	if err := checkID(id); err != nil {
		return "", nil, err
	}
	final := filepath.Join(dir, id)
	building := final + part
	claim, err := datadir.Take(building)
	if err != nil {
		return "", nil, fault.E("runs.Execute", fault.Unavailable, building, fmt.Errorf("%w; name another directory for the runs", err))
	}
	defer func() { err = errors.Join(err, claim.Release(), os.RemoveAll(building)) }()
	o.Dir = filepath.Join(building, "work")
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		return "", nil, fault.E("runs.Execute", fault.Unavailable, o.Dir, err)
	}
	r, err := experiment.Execute(ctx, e, o)
	if err != nil {
		return "", nil, err
	}
	done := filepath.Join(building, "done")
	if err := os.Mkdir(done, 0o700); err != nil {
		return "", nil, fault.E("runs.Execute", fault.Unavailable, done, err)
	}
	if err := report.Write(done, r); err != nil {
		return "", nil, err
	}
	if err := os.Rename(done, final); err != nil {
		return "", nil, fault.E("runs.Execute", fault.Conflict, final, err)
	}
	return final, r, nil
}

// clean removes what runs left that were killed. Folders of runs that are under way stay.
func clean(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*"+part))
	if err != nil {
		return fmt.Errorf("look for interrupted runs: %w", err)
	}
	var errs []error
	for _, folder := range left {
		if !datadir.InUse(folder) {
			errs = append(errs, os.RemoveAll(folder))
		}
	}
	return errors.Join(errs...)
}

// IDs returns the finished runs of a directory, the newest first. A directory that is absent has
// none.
func IDs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fault.E("runs.IDs", fault.Unavailable, dir, err)
	}
	var ids []string
	for _, entry := range entries {
		if entry.IsDir() && checkID(entry.Name()) == nil {
			if _, err := os.Stat(filepath.Join(dir, entry.Name(), report.ResultFile)); err == nil {
				ids = append(ids, entry.Name())
			}
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	return ids, nil
}
