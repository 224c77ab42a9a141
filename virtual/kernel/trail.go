package kernel

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
)

// enough is how much waits for the digest at most, in bytes.
const enough = 1 << 12

// trail is what a run leaves: its history, and a digest of that and of all events.
type trail struct {
	digest  hash.Hash
	pending bytes.Buffer // of the digest
	history io.Writer    // nil for none
}

// event adds an event to the digest.
func (t *trail) event(e *Event) {
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], uint64(e.At)) //nolint:gosec // never negative
	t.pending.Write(head[:])
	for _, s := range []string{e.To, e.From, e.Kind} {
		t.pending.WriteString(s)
		t.pending.WriteByte(0)
	}
	t.pending.Write(e.Body)
	t.flush(enough)
}

// note adds a line to the history and to the digest.
func (t *trail) note(line []byte) error {
	t.pending.Write(line)
	t.flush(enough)
	if t.history == nil {
		return nil
	}
	_, err := t.history.Write(line)
	return err
}

// flush adds to the digest what waits for it, if it is at least so much.
func (t *trail) flush(least int) {
	if t.pending.Len() >= least {
		_, _ = t.pending.WriteTo(t.digest) // a hash takes everything
	}
}

// sum returns the digest so far.
func (t *trail) sum() string {
	t.flush(1)
	return hex.EncodeToString(t.digest.Sum(nil))
}
