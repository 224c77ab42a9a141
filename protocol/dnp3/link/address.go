package link

import "strconv"

// Address is a data link address, 0–65535, sent low octet first. Individual
// devices use 0–65519; the rest is reserved or special (clause 9).
type Address uint16

// Special addresses. They are destinations only: no device sends from them.
const (
	// SelfAddress reaches a device whose address is unknown; it answers from its own.
	SelfAddress Address = 0xFFFC
	// BroadcastNoConfirm reaches every outstation; none asks for a confirmation.
	BroadcastNoConfirm Address = 0xFFFD
	// BroadcastConfirm reaches every outstation; the next response asks for a
	// confirmation, and IIN1.0 stays set until it arrives.
	BroadcastConfirm Address = 0xFFFE
	// BroadcastOptional reaches every outstation; each decides whether to ask for
	// a confirmation.
	BroadcastOptional Address = 0xFFFF
)

// maxIndividual is the highest address a single device may have.
const maxIndividual Address = 0xFFEF

// Broadcast reports whether a is one of the three broadcast addresses.
func (a Address) Broadcast() bool { return a >= BroadcastNoConfirm }

// Individual reports whether a can belong to a single device (0–65519), which is
// what every source address must be.
func (a Address) Individual() bool { return a <= maxIndividual }

// String returns the decimal address, or the name of a special one.
func (a Address) String() string {
	switch a {
	case SelfAddress:
		return "self"
	case BroadcastNoConfirm:
		return "broadcast (no confirm)"
	case BroadcastConfirm:
		return "broadcast (confirm)"
	case BroadcastOptional:
		return "broadcast (optional confirm)"
	default:
		return strconv.FormatUint(uint64(a), 10)
	}
}
