// Package aside keeps readings that were not passed on in a file, until a person decides about them.
package aside

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/point"
)

// File keeps readings, a line of JSON each. It is safe for concurrent use.
type File struct {
	file string

	mu    sync.Mutex
	count int
	bytes int64
}

// Most is the size of a file in bytes beyond which nothing is added.
const Most = 64 << 20

// Reading is a reading that was refused where it was sent, or that a rule withheld.
type Reading struct {
	Point   string    `json:"point"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Value   string    `json:"value"` // in the unit of the destination
	Quality string    `json:"quality"`
	At      time.Time `json:"at"` // when it was refused or withheld
	Reason  string    `json:"reason"`
	// Of a withheld one: the rule, and the block of the log; no block for one of the history.
	Rule     string `json:"rule,omitempty"`
	Log      string `json:"log,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"`
	// Of one that a person released for the parent: the number of the block that it is sent in, and how many were released in blocks before.
	Release uint64 `json:"release,omitempty"`
	Before  uint64 `json:"before,omitempty"`
}

// Open returns the file of a name, with what is in it. It fails with fault.Corrupt, and fault.Unavailable.
func Open(name string) (*File, error) {
	f := &File{file: name}
	err := f.each(func(Reading) error { return nil })
	return f, err
}

// each calls a function with each line, and counts them.
func (f *File) each(do func(Reading) error) error {
	file, err := os.Open(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		f.count, f.bytes = 0, 0
		return nil
	}
	if err != nil {
		return fault.E("aside.Read", fault.Unavailable, f.file, err)
	}
	defer file.Close()
	f.count, f.bytes = 0, 0
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // a last line without an end was not written completely: its reading was not passed over
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fault.E("aside.Read", fault.Unavailable, f.file, err)
		}
		f.bytes += int64(len(line))
		var one Reading
		if err := json.Unmarshal(line, &one); err != nil {
			return fault.E("aside.Read", fault.Corrupt, f.file, fmt.Errorf("line %d cannot be read: %w; move the file away, and send what is in it by voltbus sinks backfill", f.count+1, err))
		}
		f.count++
		if err := do(one); err != nil {
			return err
		}
	}
}

// Keep appends readings, which are on disk then; false if there is no room for them.
func (f *File) Keep(list []Reading) (fits bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return true, fault.E("aside.Keep", fault.Internal, f.file, err)
		}
	}
	if f.bytes+int64(text.Len()) > Most {
		return false, nil
	}
	if err := atomicfile.Append(f.file, f.bytes, text.Bytes()); err != nil {
		return true, fault.E("aside.Keep", fault.Unavailable, f.file, err)
	}
	f.bytes += int64(text.Len())
	f.count += len(list)
	return true, nil
}

// Len returns how many are kept.
func (f *File) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// List returns the oldest ones after skipping some.
func (f *File) List(skip, limit int) (list []Reading, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.each(func(one Reading) error {
		if skip--; skip < 0 && len(list) < limit {
			list = append(list, one)
		}
		return nil
	})
	return list, err
}

// Replace puts others in the place of all.
func (f *File) Replace(rest []Reading) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for i := range rest {
		if err := e.Encode(&rest[i]); err != nil {
			return fault.E("aside.Replace", fault.Internal, f.file, err)
		}
	}
	if err := (atomicfile.Writer{}).Write(f.file, text.Bytes(), 0o600); err != nil {
		return fault.E("aside.Replace", fault.Unavailable, f.file, err)
	}
	f.count, f.bytes = len(rest), int64(text.Len())
	return nil
}

const maxReason = 500

// Of returns a sample as a reading to keep.
func Of(s *point.Sample, now time.Time, reason string) Reading {
	return Reading{
		Point: string(s.Point), Time: s.Time.UTC(), Kind: s.Value.Kind().String(), Value: s.Value.String(), Quality: s.Quality.String(), At: now.UTC(), Reason: Clip(reason),
	}
}

// Clip returns a reason as it is kept.
func Clip(text string) string {
	if len(text) > maxReason {
		return text[:maxReason] + "…"
	}
	return text
}

// Sample returns the value and the quality again. It fails for those that this program does not know.
func (r *Reading) Sample() (v point.Value, q point.Quality, err error) {
	kind, known := point.ParseKind(r.Kind)
	q, also := point.ParseQuality(r.Quality)
	if !known || !also {
		return v, q, fmt.Errorf("%s at %s is of a kind or quality that this program does not know", r.Point, r.Time)
	}
	switch kind {
	case point.Float:
		var f float64
		f, err = strconv.ParseFloat(r.Value, 64)
		v = point.ValueOf(kind, math.Float64bits(f), "")
	case point.Int:
		var n int64
		n, err = strconv.ParseInt(r.Value, 10, 64)
		v = point.IntOf(n)
	case point.Bool:
		v = point.BoolOf(r.Value == "true")
	case point.Text:
		v = point.TextOf(r.Value)
	case point.None:
	}
	return v, q, err
}

// Fence forgets readings of blocks beyond the position: they are judged again.
func (f *File) Fence(log string, sequence uint64) error {
	list, err := f.List(0, f.Len())
	if err != nil {
		return err
	}
	rest := list[:0:0]
	for i := range list {
		if list[i].Log != log || list[i].Sequence <= sequence {
			rest = append(rest, list[i])
		}
	}
	if len(rest) == len(list) {
		return nil
	}
	return f.Replace(rest)
}

// Of returns the readings that a rule withheld, and the others; all for no rule.
func (f *File) Of(rule string) (list, rest []Reading, err error) {
	all, err := f.List(0, f.Len())
	for i := range all {
		if rule == "" || all[i].Rule == rule {
			list = append(list, all[i])
		} else {
			rest = append(rest, all[i])
		}
	}
	return list, rest, err
}
