package app

import "fmt"

// Control is the first octet of every fragment (clause 4.2.2).
//
//	bit 7   bit 6   bit 5   bit 4   bits 3–0
//	FIR     FIN     CON     UNS     sequence
type Control uint8

// Bits of the control octet.
const (
	// FIR marks the first fragment of a message.
	FIR Control = 0x80
	// FIN marks the last one.
	FIN Control = 0x40
	// CON asks the receiver for a confirmation.
	CON Control = 0x20
	// UNS marks an unsolicited response and its confirmation.
	UNS Control = 0x10

	sequenceMask Control = 0x0F
)

// Sequence is the sequence number of a fragment, 0–15.
type Sequence uint8

// Next returns the sequence number after s; 0 follows 15.
func (s Sequence) Next() Sequence { return (s + 1) & Sequence(sequenceMask) }

// Single returns the control octet of a message of one fragment: FIR, FIN and s.
func (s Sequence) Single() Control { return FIR | FIN | Control(s)&sequenceMask }

// Sequence returns the sequence number.
func (c Control) Sequence() Sequence { return Sequence(c & sequenceMask) }

// First reports whether the fragment is the first of its message.
func (c Control) First() bool { return c&FIR != 0 }

// Final reports whether the fragment is the last of its message.
func (c Control) Final() bool { return c&FIN != 0 }

// Confirm reports whether the sender wants a confirmation.
func (c Control) Confirm() bool { return c&CON != 0 }

// Unsolicited reports whether the fragment belongs to an unsolicited response.
func (c Control) Unsolicited() bool { return c&UNS != 0 }

// String returns the bits by name and the sequence number.
func (c Control) String() string {
	return fmt.Sprintf("FIR=%d FIN=%d CON=%d UNS=%d seq=%d", c>>7, c>>6&1, c>>5&1, c>>4&1, c&sequenceMask)
}
