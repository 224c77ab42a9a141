package destination

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
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/internal/plural"
	"voltbus/point"
)

// refusedFile keeps rows that a destination refused, or that a rule withheld from it, a line of JSON each.
type refusedFile struct {
	file string

	mu    sync.Mutex
	count int
	bytes int64
}

// maxRefused is the size beyond which no more is sent: it would have to be lost if it were refused, too.
const maxRefused = 64 << 20

// Refused is a reading that a destination refused, or that a rule withheld from it.
type Refused struct {
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
}

func refusedName(dir, name string) string { return filepath.Join(dir, folder, name+".refused") }

func openRefused(file string) (*refusedFile, error) {
	f := &refusedFile{file: file}
	err := f.each(func(Refused) error { return nil })
	return f, err
}

// each calls a function with each line, and counts them.
func (f *refusedFile) each(do func(Refused) error) error {
	file, err := os.Open(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		f.count, f.bytes = 0, 0
		return nil
	}
	if err != nil {
		return fault.E("sinks.Refused", fault.Unavailable, f.file, err)
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
			return fault.E("sinks.Refused", fault.Unavailable, f.file, err)
		}
		f.bytes += int64(len(line))
		var one Refused
		if err := json.Unmarshal(line, &one); err != nil {
			return fault.E("sinks.Refused", fault.Corrupt, f.file, fmt.Errorf("line %d cannot be read: %w; move the file away, and send what is in it by voltbus sinks backfill", f.count+1, err))
		}
		f.count++
		if err := do(one); err != nil {
			return err
		}
	}
}

// add appends rows. They are on disk when it returns.
func (f *refusedFile) add(now time.Time, rows []Row, list []Refusal) error {
	kept := make([]Refused, len(list))
	for i, one := range list {
		kept[i] = refusedOf(&rows[one.Row], now, one.Reason)
	}
	fits, err := f.keep(kept)
	if err == nil && !fits {
		return fault.E("sinks.Append", fault.Unavailable, f.file, fmt.Errorf(
			"%s that the destination refused are kept, and there is no room for more: look at them by voltbus sinks refused, then send them again or discard them", plural.Of(f.len(), "reading")))
	}
	return err
}

// keep appends readings, which are on disk then; false if there is no room for them.
func (f *refusedFile) keep(list []Refused) (fits bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return true, fault.E("sinks.Append", fault.Internal, f.file, err)
		}
	}
	if f.bytes+int64(text.Len()) > maxRefused {
		return false, nil
	}
	if err := atomicfile.Append(f.file, f.bytes, text.Bytes()); err != nil {
		return true, fault.E("sinks.Append", fault.Unavailable, f.file, err)
	}
	f.bytes += int64(text.Len())
	f.count += len(list)
	return true, nil
}

// len returns how many are kept.
func (f *refusedFile) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// list returns the oldest ones after skipping some.
func (f *refusedFile) list(skip, limit int) (list []Refused, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.each(func(one Refused) error {
		if skip--; skip < 0 && len(list) < limit {
			list = append(list, one)
		}
		return nil
	})
	return list, err
}

// replace puts others in the place of all.
func (f *refusedFile) replace(rest []Refused) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for i := range rest {
		if err := e.Encode(&rest[i]); err != nil {
			return fault.E("sinks.Resend", fault.Internal, f.file, err)
		}
	}
	if err := (atomicfile.Writer{}).Write(f.file, text.Bytes(), 0o600); err != nil {
		return fault.E("sinks.Resend", fault.Unavailable, f.file, err)
	}
	f.count, f.bytes = len(rest), int64(text.Len())
	return nil
}

func refusedOf(r *Row, now time.Time, reason string) Refused {
	return Refused{
		Point: string(r.Point), Time: time.UnixMicro(r.Time).UTC(), Kind: r.Value.Kind().String(), Value: r.Value.String(),
		Quality: r.Quality.String(), At: now.UTC(), Reason: clip(reason),
	}
}

const maxReason = 500

func clip(text string) string {
	if len(text) > maxReason {
		return text[:maxReason] + "…"
	}
	return text
}

// row returns the row again.
func (r *Refused) row(shape *Shape) (row Row, err error) {
	kind, known := point.ParseKind(r.Kind)
	quality, also := point.ParseQuality(r.Quality)
	if !known || !also {
		return row, fmt.Errorf("%s at %s is of a kind or quality that this program does not know", r.Point, r.Time)
	}
	row = Row{Shape: shape, Time: r.Time.UnixMicro(), Quality: quality}
	switch kind {
	case point.Float:
		var f float64
		f, err = strconv.ParseFloat(r.Value, 64)
		row.Value = point.ValueOf(kind, math.Float64bits(f), "")
	case point.Int:
		var n int64
		n, err = strconv.ParseInt(r.Value, 10, 64)
		row.Value = point.IntOf(n)
	case point.Bool:
		row.Value = point.BoolOf(r.Value == "true")
	case point.Text:
		row.Value = point.TextOf(r.Value)
	case point.None:
	}
	return row, err
}
