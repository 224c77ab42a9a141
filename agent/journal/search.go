package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"voltbus/internal/plural"
)

// Filter selects entries. The zero Filter selects all.
type Filter struct {
	Level string    // minimum level; "" for all
	Text  string    // in the message, the logger or the extra fields, case-insensitively
	Since time.Time // zero for all
	Limit int       // at most this many, the newest; 0 for 200
}

func (f *Filter) selects(e *Entry) bool {
	if f.Level != "" {
		least, _ := Level(f.Level)
		if n, _ := Level(e.Level); n < least {
			return false
		}
	}
	if e.Time.Before(f.Since) {
		return false
	}
	if f.Text == "" {
		return true
	}
	text := e.Logger + "\n" + e.Message
	if e.Extra != nil {
		text += fmt.Sprintf("\n%v", e.Extra)
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(f.Text))
}

// Search returns the newest entries that the filter selects, oldest first.
func (j *Journal) Search(f Filter) ([]Entry, error) {
	if f.Limit == 0 {
		f.Limit = 200
	}
	files, err := j.files()
	defer func() {
		for _, file := range files {
			_ = file.Close() // it was only read
		}
	}()
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, file := range files { // newest first
		part, err := scan(file, &f, f.Limit-len(found))
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		found = append(part, found...)
		if len(found) >= f.Limit {
			break
		}
	}
	return found, nil
}

// files opens the stored files, newest first. They stay readable if they are rotated meanwhile.
func (j *Journal) files() ([]*os.File, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var files []*os.File
	for n := range j.cfg.Keep + 1 {
		file, err := os.Open(j.path(n))
		if errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return files, fmt.Errorf("read the log: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

// scan returns the newest entries of a file that the filter selects.
func scan(file *os.File, f *Filter, limit int) ([]Entry, error) {
	var found []Entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) != nil || !f.selects(&e) {
			continue // a crash may have truncated a line
		}
		found = append(found, e)
		if len(found) >= 2*limit {
			found = append(found[:0], found[len(found)-limit:]...)
		}
	}
	return found[max(len(found)-limit, 0):], lines.Err()
}

// waiting is how many entries may be pending for a follower.
const waiting = 1024

// listener is a follower of the journal.
type listener struct {
	entries chan Entry
	lost    int
}

// offer passes an entry on if there is room. The caller holds the journal's lock.
func (l *listener) offer(e Entry) {
	if l.lost > 0 {
		note := Entry{Time: e.Time, Level: "warning", Stream: Node, Message: plural.Were(l.lost, "line") + " left out here, since more came than were read"}
		select {
		case l.entries <- note:
			l.lost = 0
		default:
		}
	}
	select {
	case l.entries <- e:
	default:
		l.lost++
	}
}

func (j *Journal) leave(l *listener) {
	if _, ok := j.listeners[l]; ok {
		delete(j.listeners, l)
		close(l.entries)
	}
}

// Follow calls emit with the existing entries that the filter selects, as Search does, and then with each new
// one. It returns nil when ctx or the journal ends, and the error of emit if that fails.
func (j *Journal) Follow(ctx context.Context, f Filter, emit func(Entry) error) error {
	l := &listener{entries: make(chan Entry, waiting)}
	j.mu.Lock()
	j.listeners[l] = struct{}{}
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.leave(l)
	}()
	before, err := j.Search(f)
	if err != nil {
		return err
	}
	for i := range before {
		if err := emit(before[i]); err != nil {
			return err
		}
	}
	// Lines printed between the two calls are in both.
	seen := len(before)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-l.entries:
			if !ok {
				return nil
			}
			if !f.selects(&e) || repeated(before[:seen], &e) {
				continue
			}
			seen = 0
			if err := emit(e); err != nil {
				return err
			}
		}
	}
}

func repeated(before []Entry, e *Entry) bool {
	for i := range before {
		if before[i].Time.Equal(e.Time) && before[i].Message == e.Message && before[i].Stream == e.Stream {
			return true
		}
	}
	return false
}
