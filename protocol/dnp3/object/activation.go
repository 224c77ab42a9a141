package object

import (
	"encoding/binary"
	"time"
)

// activationHead is the size of the delay of an activation.
const activationHead = 4

// Activation answers the activation of configurations (g91v1, FC 31): how long it takes
// until the device can be spoken to again, 0 to 2^32-1 ms in whole milliseconds, and a
// status for each configuration that was named, 0 for success.
type Activation struct {
	Delay    time.Duration
	Statuses []byte
}

// Variation returns g91v1.
func (Activation) Variation() Variation { return G91V1 }

// EncodedSize returns the octets that Append appends.
func (a Activation) EncodedSize() int { return activationHead + len(a.Statuses) }

// Append appends the object's octets.
func (a Activation) Append(dst []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, Milliseconds(a.Delay)), a.Statuses...)
}

// Activation returns the answer to an activation; ok is false for any other object. The
// statuses share the object's memory.
func (o Raw) Activation() (a Activation, ok bool) {
	if o.Variation != G91V1 || len(o.Data) < activationHead {
		return Activation{}, false
	}
	return Activation{
		Delay:    time.Duration(binary.LittleEndian.Uint32(o.Data)) * time.Millisecond,
		Statuses: o.Data[activationHead:],
	}, true
}
