package revision

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
)

// How much history is kept: the newest within both bounds, but always at least two versions.
const (
	maxEntries = 100
	maxBytes   = 32 << 20
	minEntries = 2
)

// A version is stored in a file "<time>-<version>-<user>.yaml", the user escaped. Since a clock can go back, a file beside them
// records their order: their names, one per line, oldest first. Versions that it does not list came later, in the order of
// their times: they were written by a program that does not know this file.
const (
	orderFile  = "order"
	stampForm  = "20060102T150405.000000Z"
	suffix     = ".yaml"
	nameParts  = 3
	folderMode = 0o700
	fileMode   = 0o600
)

// kept is an entry with its file.
type kept struct {
	Entry
	file string
	size int64
}

// History lists the stored versions, newest first.
func (f *File) History() ([]Entry, error) {
	list, err := f.list()
	if err != nil {
		return nil, f.fail("revision.History", f.dir, err)
	}
	entries := make([]Entry, len(list))
	for i := range list {
		entries[i] = list[len(list)-1-i].Entry
	}
	return entries, nil
}

// Text returns a stored version; fault.NotFound if there is none.
func (f *File) Text(version string) ([]byte, Entry, error) {
	list, err := f.list()
	if err != nil {
		return nil, Entry{}, f.fail("revision.Text", f.dir, err)
	}
	for _, k := range slices.Backward(list) {
		if k.Version != version {
			continue
		}
		text, err := os.ReadFile(k.file)
		if err == nil {
			return text, k.Entry, nil
		}
	}
	return nil, Entry{}, fault.E("revision.Text", fault.NotFound, version, errors.New("is not kept; the history lists what is"))
}

// list returns the stored versions, oldest first.
func (f *File) list() ([]kept, error) {
	list, err := f.byTime()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(f.dir, orderFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names, place := strings.Split(string(text), "\n"), map[string]int{}
	for i, name := range names {
		place[name] = i + 1
	}
	last := len(names) + 1 // after all that are listed
	at := func(k kept) int { return cmp.Or(place[filepath.Base(k.file)], last) }
	slices.SortStableFunc(list, func(a, b kept) int { return cmp.Compare(at(a), at(b)) })
	return list, nil
}

// byTime returns the stored versions in the order of their times.
func (f *File) byTime() ([]kept, error) {
	files, err := os.ReadDir(f.dir) // in the order of names, which is the order of times
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []kept
	for _, file := range files {
		e, ok := parseName(file.Name())
		info, err := file.Info()
		if !ok || err != nil {
			continue // not ours, or just dropped
		}
		list = append(list, kept{Entry: e, file: filepath.Join(f.dir, file.Name()), size: info.Size()})
	}
	return list, nil
}

func nameOf(e Entry) string {
	return e.Time.Format(stampForm) + "-" + e.Version + "-" + url.QueryEscape(e.User) + suffix
}

func parseName(name string) (Entry, bool) {
	stem, ok := strings.CutSuffix(name, suffix)
	parts := strings.SplitN(stem, "-", nameParts)
	if !ok || len(parts) != nameParts {
		return Entry{}, false
	}
	at, err := time.Parse(stampForm, parts[0])
	user, uerr := url.QueryUnescape(parts[2])
	return Entry{Version: parts[1], Time: at, User: user}, err == nil && uerr == nil
}

// remember stores the new text, and the old one if it is not stored yet, and drops old versions. undo removes
// the new one.
func (f *File) remember(old []byte, since time.Time, text []byte, user string) (undo func(), err error) {
	if err := os.MkdirAll(f.dir, folderMode); err != nil {
		return nil, err
	}
	list, err := f.list()
	if err != nil {
		return nil, err
	}
	now := f.now().UTC()
	if len(list) == 0 || list[len(list)-1].Version != VersionOf(old) {
		at := since.UTC()
		if n := len(list); at.After(now) || (n > 0 && at.Before(list[n-1].Time)) {
			at = now.Add(-time.Microsecond) // a clock that jumped must not change the order
		}
		if list, err = f.put(list, Entry{Version: VersionOf(old), Time: at}, old); err != nil {
			return nil, err
		}
	}
	e := Entry{Version: VersionOf(text), Time: now, User: user}
	undo = func() { _ = os.Remove(filepath.Join(f.dir, nameOf(e))) } // a surplus line is harmless
	if _, err = f.put(list, e, text); err == nil {
		err = f.prune()
	}
	if err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// put stores a text as the newest version, after those of the list, and returns the extended list. The order is written
// first: a listed name without a file counts as absent.
func (f *File) put(list []kept, e Entry, text []byte) ([]kept, error) {
	name := nameOf(e)
	file := filepath.Join(f.dir, name)
	list = slices.DeleteFunc(slices.Clone(list), func(k kept) bool { return k.file == file })
	var order strings.Builder
	for _, k := range list {
		order.WriteString(filepath.Base(k.file) + "\n")
	}
	order.WriteString(name + "\n")
	if err := f.writer.Write(filepath.Join(f.dir, orderFile), []byte(order.String()), fileMode); err != nil {
		return nil, err
	}
	return append(list, kept{Entry: e, file: file, size: int64(len(text))}), f.writer.Write(file, text, fileMode)
}

func (f *File) prune() error {
	list, err := f.list()
	if err != nil {
		return err
	}
	var total int64
	for i, k := range slices.Backward(list) {
		total += k.size
		if n := len(list) - i; n > minEntries && (n > maxEntries || total > maxBytes) {
			if err := os.Remove(k.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
