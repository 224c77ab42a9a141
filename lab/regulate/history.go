package regulate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"time"
)

// history is what happened in a run, as bytes of which only the SHA-256 is kept: at each tick the power of all units and what would hold their
// temperatures, each minute the temperature and the state of each unit. Numbers are IEEE 754 of 64 bits, the low byte first.
type history struct {
	hash  hash.Hash
	bytes []byte // of a tick
}

func newHistory() history { return history{hash: sha256.New()} }

// add adds a tick.
func (h *history) add(i int, power, hold float64, places []place) {
	number := func(v float64) { h.bytes = binary.LittleEndian.AppendUint64(h.bytes, math.Float64bits(v)) }
	number(power)
	number(hold)
	if i%int(time.Minute/tick) == 0 {
		for k := range places {
			number(places[k].Temperature())
			number(places[k].Power())
		}
	}
	_, _ = h.hash.Write(h.bytes) // a hash takes everything
	h.bytes = h.bytes[:0]
}

// digest is the SHA-256, hexadecimal.
func (h *history) digest() string { return hex.EncodeToString(h.hash.Sum(nil)) }
