// Package audit records who did what, when, and with which outcome, in an append-only log. Each entry carries a hash over itself and the
// previous hash, so that any change, removal or insertion is detected. docs/formats/audit.md describes the format.
package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"voltbus/fault"
)

// Files in the data directory.
const (
	File   = "audit.db"   // the log, an SQLite file
	Anchor = "audit.head" // where it ended at most a second ago, so that a truncated tail is detected
)

// The maximum sizes of an entry's fields in bytes. Longer ones are truncated and marked.
const (
	MaxText    = 1 << 10  // actor, action, subject
	MaxOutcome = 4 << 10  //
	MaxDetail  = 64 << 10 //
)

// The actions of the log's own entries.
const (
	// Segment begins a segment: the chain before it is damaged or missing, as Detail says.
	Segment = "audit.segment"
	// Dropped reports, in Detail, the number of entries of Offer that could not be written.
	Dropped = "audit.dropped"
)

// self is the actor of what the node does by itself.
const self = "node"

// Hash links an entry to all entries before it.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("%.80q is not a hash of 64 hexadecimal digits", text)
	}
	copy(h[:], b)
	return nil
}

// Entry is one line of the log. The log sets Seq, Segment and Hash, and Time if it is zero; times are in UTC
// with microseconds.
type Entry struct {
	Seq     uint64
	Segment uint64
	Time    time.Time
	Actor   string          // "person:ada", "token:gateway", "agent:boiler", "node"
	Action  string          // "person.set", "refused", "agent.start" …
	Subject string          // the object of the action: a name, a path, a file; may be ""
	Outcome string          // "ok", or why it failed
	Detail  json.RawMessage // further data; nil for none
	Hash    Hash
}

// Head is a position in the log: an entry's number and hash.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash Hash   `json:"hash"`
}

// ParseHead parses a head as formatted by String, such as "17:9f2c…".
func ParseHead(text string) (Head, error) {
	var h Head
	number, hash, _ := strings.Cut(text, ":")
	if _, err := fmt.Sscanf(number+"\n", "%d\n", &h.Seq); err != nil || h.Hash.UnmarshalText([]byte(hash)) != nil {
		return Head{}, fault.E("audit.ParseHead", fault.Invalid, text, errors.New(
			"is not a place in the log; write number and hash as voltbus audit verify shows them, such as 17:9f2c…"))
	}
	return h, nil
}

// String returns number and hash with a colon between them.
func (h Head) String() string { return fmt.Sprintf("%d:%v", h.Seq, h.Hash) }

// sum returns the hash of an entry that follows the one with the hash before; the zero Hash begins a segment.
func (e *Entry) sum(buf []byte, before Hash) (Hash, []byte) {
	buf = append(buf[:0], before[:]...)
	buf = binary.BigEndian.AppendUint64(buf, e.Seq)
	buf = binary.BigEndian.AppendUint64(buf, e.Segment)
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Time.UnixMicro()))
	for _, text := range []string{e.Actor, e.Action, e.Subject, e.Outcome} {
		buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(text))), text...)
	}
	buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(e.Detail))), e.Detail...)
	return sha256.Sum256(buf), buf
}

var errNameless = errors.New("an entry needs an actor and an action")

// tidy makes an entry storable: strings are UTF-8 of bounded length, the detail is JSON on one line, the time
// is in microseconds. The entry is kept even if the caller describes it badly.
func (e *Entry) tidy(now time.Time) {
	if e.Time.IsZero() {
		e.Time = now
	}
	e.Time = e.Time.UTC().Truncate(time.Microsecond)
	e.Actor, e.Action = bound(e.Actor, MaxText), bound(e.Action, MaxText)
	e.Subject, e.Outcome = bound(e.Subject, MaxText), bound(e.Outcome, MaxOutcome)
	if len(e.Detail) == 0 {
		e.Detail = nil
		return
	}
	var line bytes.Buffer
	line.Grow(min(len(e.Detail), MaxDetail))
	if len(e.Detail) > MaxDetail || !utf8.Valid(e.Detail) || json.Compact(&line, e.Detail) != nil {
		e.Detail = mustJSON(struct {
			Octets int    `json:"octets"`
			Begins string `json:"begins"`
		}{len(e.Detail), bound(string(e.Detail), MaxOutcome)})
		return
	}
	e.Detail = line.Bytes()
}

// name sets the actor and the action of an entry without them.
func (e *Entry) name() {
	e.Actor, e.Action = cmp.Or(e.Actor, "unknown"), cmp.Or(e.Action, "unknown")
}

// bound returns valid UTF-8 without NUL of at most the length, and marks where it was cut.
func bound(s string, most int) string {
	if len(s) <= most && utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= most {
		return s
	}
	s = s[:most-len("…")]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// mustJSON encodes values that cannot fail.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}
