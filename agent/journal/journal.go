// Package journal stores the output of a process: one JSON object per line, in files with bounded size, number and rate, which can
// be searched and followed.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
)

// The streams that an entry may come from.
const (
	Stdout = "stdout"
	Stderr = "stderr"
	Node   = "node" // the node's own remarks about the process
)

const (
	fileName  = "agent.jsonl"
	maxLine   = 16 << 10 // bytes of a line; the rest is cut off
	lastLines = 50       // lines that Last remembers
)

// Config bounds a journal.
type Config struct {
	Dir      string // its folder; it must exist
	MaxBytes int64  // size at which a file is rotated; 0 for 10 MiB
	Keep     int    // files kept besides the newest; 0 for 5
	Lines    int    // lines per second, with bursts of ten times that; 0 for 500
	Now      func() time.Time
}

// Journal stores the lines of one process. It is safe for concurrent use.
type Journal struct {
	cfg Config

	mu        sync.Mutex
	file      *os.File
	size      int64
	last      []Entry // the newest, oldest first
	allowance float64 // lines that may be written at present
	refilled  time.Time
	dropped   int
	listeners map[*listener]struct{}
	broken    error // why nothing can be written
	raised    Raised
}

// Open opens the journal of a folder, and creates it if absent.
func Open(cfg Config) (*Journal, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 10 << 20
	}
	if cfg.Keep == 0 {
		cfg.Keep = 5
	}
	if cfg.Lines == 0 {
		cfg.Lines = 500
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	j := &Journal{cfg: cfg, listeners: make(map[*listener]struct{}), refilled: cfg.Now(), allowance: burst * float64(cfg.Lines)}
	if err := j.open(); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Journal) path(n int) string {
	name := filepath.Join(j.cfg.Dir, fileName)
	if n == 0 {
		return name
	}
	return name + "." + strconv.Itoa(n)
}

func (j *Journal) open() error {
	file, err := os.OpenFile(j.path(0), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fault.E("journal.Open", fault.Unavailable, j.cfg.Dir, fmt.Errorf("write the log: %w", err))
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fault.E("journal.Open", fault.Unavailable, j.cfg.Dir, err), file.Close())
	}
	j.file, j.size = file, info.Size()
	// A line truncated by a crash must not swallow the next one.
	end := make([]byte, 1)
	if n, _ := file.ReadAt(end, max(j.size-1, 0)); n == 1 && end[0] != '\n' {
		n, err := file.WriteString("\n")
		j.size += int64(n)
		return err
	}
	return nil
}

// Close closes the journal, and ends all its followers.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for l := range j.listeners {
		j.leave(l)
	}
	return j.file.Close()
}

// Copy records the lines of a stream until it ends. A line that is too long is truncated.
func (j *Journal) Copy(stream string, from io.Reader) {
	r := bufio.NewReaderSize(from, maxLine)
	for {
		line, more, err := r.ReadLine()
		if len(line) > 0 {
			j.Print(stream, line)
		}
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
		if err != nil {
			return
		}
	}
}

// Print records a line of the process. A JSON object with a message supplies its own time and level.
func (j *Journal) Print(stream string, line []byte) {
	e := Parse(line, j.cfg.Now())
	e.Stream = stream
	if e.Level == "" {
		e.Level = "info"
		if stream == Stderr {
			e.Level = "warning"
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notice(&e)
	if !j.allowed() {
		j.dropped++
		return
	}
	if j.dropped > 0 {
		j.add(j.droppedEntry())
	}
	j.add(e)
}

// Note records a remark of the node. It is never dropped.
func (j *Journal) Note(level, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dropped > 0 {
		j.add(j.droppedEntry())
	}
	j.add(Entry{Time: j.cfg.Now().UTC(), Level: level, Stream: Node, Message: message})
}

// burst is how many seconds' worth of lines may come at once.
const burst = 10

func (j *Journal) allowed() bool {
	now, rate := j.cfg.Now(), float64(j.cfg.Lines)
	j.allowance = min(j.allowance+now.Sub(j.refilled).Seconds()*rate, burst*rate)
	j.refilled = now
	// After a drop the process has to be quiet for a moment; otherwise every line would alternate with a
	// message about dropped ones.
	if j.allowance < 1 || (j.dropped > 0 && j.allowance < rate/2) {
		return false
	}
	j.allowance--
	return true
}

func (j *Journal) droppedEntry() Entry {
	e := Entry{Time: j.cfg.Now().UTC(), Level: "warning", Stream: Node, Message: fmt.Sprintf(
		"%s dropped: it prints more than %d lines a second", plural.Were(j.dropped, "line"), j.cfg.Lines)}
	j.dropped = 0
	return e
}

// add writes an entry. If the disk refuses it, Last and followers still get it.
func (j *Journal) add(e Entry) {
	if len(j.last) == lastLines {
		j.last = append(j.last[:0], j.last[1:]...)
	}
	j.last = append(j.last, e)
	for l := range j.listeners {
		l.offer(e)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return // an entry of strings and valid JSON cannot fail
	}
	line = append(line, '\n')
	if j.size+int64(len(line)) > j.cfg.MaxBytes && j.size > 0 {
		j.rotate()
	}
	n, err := j.file.Write(line)
	j.size += int64(n)
	j.broken = err
}

// rotate renames the file. If that fails the journal continues in the same file.
func (j *Journal) rotate() {
	for n := j.cfg.Keep - 1; n >= 0; n-- {
		_ = os.Rename(j.path(n), j.path(n+1)) // the first ones may not exist yet
	}
	old := j.file
	if j.open() == nil {
		_ = old.Close() // everything has been written
	}
}

// Err returns why the newest line could not be written, nil if it could.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken
}

// Last returns the newest lines, at most 50, oldest first.
func (j *Journal) Last() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Entry(nil), j.last...)
}
