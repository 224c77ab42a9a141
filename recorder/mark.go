package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"voltbus/internal/atomicfile"
	"voltbus/point"
)

// Mark holds the positions of all origins at one entry of a log. A start with a mark reads only the entries
// after it.
type Mark struct {
	Log       string              `json:"log"`      // the log's identity: a replacement has another one
	Sequence  uint64              `json:"sequence"` // of the entry, from 1
	Sum       uint32              `json:"sum"`      // CRC-32C of the entry
	Positions map[string]Position `json:"positions"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errOther ends the reading of a log other than that of the mark.
var errOther = errors.New("another entry stands at the mark")

// Resume is FindStart for a log known only from a mark. The mark is valid if it names this log and its entry
// still exists. Otherwise the log is read from its beginning, and only the origin's own numbers are taken
// from the mark: these must not be reused, while lost blocks of other origins may be sent again.
func Resume(ctx context.Context, log Scanner, name string, mark Mark, origin string) (Start, error) {
	if mark.Log == name && mark.Sequence > 0 {
		m := &marked{Scanner: log, mark: mark}
		start, err := FindStart(ctx, m, mark.Sequence, mark.Positions, origin)
		if m.found || (err != nil && !errors.Is(err, errOther)) {
			return start, err
		}
	}
	own := make(map[string]Position)
	for _, o := range []string{origin, point.UrgentOrigin(origin)} {
		if p, known := mark.Positions[o]; known {
			own[o] = p
		}
	}
	return FindStart(ctx, log, 1, own, origin)
}

// marked is a log, read from its mark on.
type marked struct {
	Scanner
	mark  Mark
	found bool // the entry of the mark was found
}

// Scan delivers as Scanner does, if the entry of the mark comes first; it fails with errOther if another one
// does, and delivers nothing if there is none.
func (m *marked) Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error {
	return m.Scanner.Scan(ctx, from, func(sequence uint64, data []byte) error {
		if !m.found && (sequence != m.mark.Sequence || crc32.Checksum(data, castagnoli) != m.mark.Sum) {
			return errOther
		}
		m.found = true
		return deliver(sequence, data)
	})
}

// MarkFile keeps the newest mark of a log in a file. Losing it only slows the next start, as long as the log
// exists.
type MarkFile string

// Read returns the mark; the zero Mark if there is none. After an error the mark is invalid.
func (f MarkFile) Read() (Mark, error) {
	b, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	var m Mark
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("read the mark in the log: %w", err)
	}
	return m, nil
}

// CheckMark returns what is wrong with the content of a mark file.
func CheckMark(content []byte) error { return json.Unmarshal(content, &Mark{}) }

// Write replaces the mark on disk.
func (f MarkFile) Write(m Mark) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write the mark in the log: %w", err)
	}
	if err := (atomicfile.Writer{}).Write(string(f), b, 0o600); err != nil {
		return fmt.Errorf("write the mark in the log: %w", err)
	}
	return nil
}

// note records an entry as the newest one on disk before which all own and forwarded blocks are acknowledged.
func (w *writer) note(sequence uint64, data []byte) {
	w.settled, w.sum = sequence, crc32.Checksum(data, castagnoli)
	w.unmarked += len(data)
}

// markDue writes a mark when the log has grown enough since the last one.
func (w *writer) markDue() {
	if w.unmarked >= w.cfg.MarkEvery {
		w.makeMark()
	}
}

// makeMark reports the positions of all origins, unless an unacknowledged block may be on disk.
func (w *writer) makeMark() {
	if w.cfg.Mark == nil || w.failed || w.unsure || w.settled == 0 {
		return
	}
	w.unmarked = 0
	m := Mark{Sequence: w.settled, Sum: w.sum, Positions: w.Others()}
	for _, l := range w.lanes() {
		if l.stored.Sequence > 0 {
			m.Positions[l.origin] = l.stored
		}
	}
	if err := w.cfg.Mark(m); err != nil {
		w.cfg.Log.Warn("place in the log is not noted, the next start reads more of it", "err", err)
	}
}
