package revision

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// Trial is a text that is in the file until a person confirms it. Its record lies beside the file, so that a
// start finds it before anything else is read.
type Trial struct {
	Text    string        `json:"text"`    // the previous content of the file, to revert to
	Version string        `json:"version"` // of the text on trial
	User    string        `json:"user"`    // who started the trial
	Bound   time.Duration `json:"bound"`   // time to confirm it, in nanoseconds
	Begun   time.Time     `json:"begun"`

	file string // the file of this record
}

// User is the name under which the history shows that a node reverted a trial by itself.
const User = "node"

var (
	errTrial   = errors.New("another configuration is on trial; confirm it, or wait until the node goes back")
	errNoTrial = errors.New("no configuration of this version is on trial; it was confirmed already, or the node went back")
)

func trialOf(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".trial"), nil
}

// readTrial returns the trial of a configuration file; false if there is none.
func readTrial(name string) (t Trial, found bool, err error) {
	file, err := trialOf(name)
	if err != nil {
		return t, false, err
	}
	t.file = file
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	return t, err == nil && t.Version != "", err
}

// drop removes the record of a trial, so that a power failure cannot bring it back.
func drop(file string, w atomicfile.Writer) error {
	if err := w.Write(file, []byte("{}"), fileMode); err != nil {
		return err
	}
	return os.Remove(file)
}

// Trial returns the trial in progress; false if there is none.
func (f *File) Trial() (Trial, bool, error) {
	t, found, err := readTrial(f.name)
	if err != nil {
		err = f.fail("revision.Trial", f.name, err)
	}
	return t, found, err
}

// Try is Change with a trial: it records on disk what to revert to before anything changes. It also fails
// with fault.Conflict while another text is on trial. If it fails and the old text cannot be restored, the
// trial remains, for Back or the next start.
func (f *File) Try(text []byte, before, user string, bound time.Duration, apply func() error) error {
	const op = "revision.Try"
	f.trials.Lock()
	defer f.trials.Unlock()
	t, found, err := readTrial(f.name)
	if err != nil {
		return f.fail(op, f.name, err)
	}
	if found {
		return fault.E(op, fault.Conflict, f.name, errTrial)
	}
	old, err := f.Read()
	if err != nil {
		return err
	}
	body, err := json.Marshal(Trial{Text: string(old), Version: VersionOf(text), User: user, Bound: bound, Begun: f.now().UTC()})
	if err == nil {
		err = f.writer.Write(t.file, body, fileMode)
	}
	if err != nil {
		return f.fail(op, t.file, err)
	}
	err = f.Change(text, before, user, apply)
	if err == nil {
		return nil
	}
	if now, failed := f.Read(); VersionOf(old) != VersionOf(text) && (failed != nil || VersionOf(now) == VersionOf(text)) {
		return err
	}
	return errors.Join(err, drop(t.file, f.writer))
}

// Confirm ends the trial of a version and keeps that version; fault.NotFound if it is not on trial.
func (f *File) Confirm(version string) error {
	const op = "revision.Confirm"
	f.trials.Lock()
	defer f.trials.Unlock()
	t, found, err := readTrial(f.name)
	switch {
	case err != nil:
		return f.fail(op, f.name, err)
	case !found || t.Version != version:
		return fault.E(op, fault.NotFound, version, errNoTrial)
	}
	if err := drop(t.file, f.writer); err != nil {
		return f.fail(op, t.file, err)
	}
	return nil
}

// Back restores the text from before the trial, and calls apply with it. A file edited by hand meanwhile is
// left alone. A failed attempt can be repeated.
func (f *File) Back(apply func(text []byte) error) error {
	const op = "revision.Back"
	f.trials.Lock()
	defer f.trials.Unlock()
	t, found, err := readTrial(f.name)
	if err != nil || !found {
		return err
	}
	err = f.Change([]byte(t.Text), t.Version, User, func() error { return apply([]byte(t.Text)) })
	if err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	if err := drop(t.file, f.writer); err != nil {
		return f.fail(op, t.file, err)
	}
	return nil
}

// Recover reverts a trial left over by a process that ended, before the file is read. It returns that trial,
// or nil if there was none. A file edited by hand meanwhile is left alone.
func Recover(name string) (*Trial, error) {
	t, found, err := readTrial(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file, no trial; who reads the file says that it is missing
	}
	failed := func(err error) error {
		return fault.E("revision.Recover", fault.Unavailable, name, fmt.Errorf(
			"a configuration on trial was left behind, and the one before cannot be put back: %w; it is in %s", err, t.file))
	}
	if err != nil {
		return nil, failed(err)
	}
	if !found {
		return nil, nil //nolint:nilnil // there was none
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, failed(err)
	}
	now, err := os.ReadFile(target)
	if err != nil {
		return nil, failed(err)
	}
	var writer atomicfile.Writer
	if VersionOf(now) != t.Version {
		return nil, drop(t.file, writer)
	}
	mode := fs.FileMode(fileMode)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if err := writer.Write(target, []byte(t.Text), mode); err != nil {
		return nil, failed(err)
	}
	if err := drop(t.file, writer); err != nil {
		return nil, failed(err)
	}
	return &t, nil
}
