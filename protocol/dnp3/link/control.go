package link

import "fmt"

// Control is the control octet of a frame: direction, role, two flags and a
// function code (clause 9.2.4).
//
//	bit 7    bit 6    bit 5   bit 4        bits 3–0
//	DIR      PRM      FCB     FCV or DFC   function code
type Control uint8

// Bits of the control octet.
const (
	// DIR is set in every frame a master sends.
	DIR Control = 0x80
	// FCB alternates in primary frames that set FCV, so that a repeat shows.
	FCB Control = 0x20
	// FCV says, in a primary frame, that FCB counts.
	FCV Control = 0x10
	// DFC says, in a secondary frame, that the sender's buffers are full.
	DFC Control = 0x10
)

const (
	prm          = 0x40
	functionMask = prm | 0x0F
)

// Function is a function code together with the PRM bit (0x40), which decides
// what the code means: 0x40–0x4F are primary, 0x00–0x0F secondary.
type Function uint8

// Function codes (clause 9.2.4).
const (
	// ResetLinkStates makes the peer expect FCB = 1 next.
	ResetLinkStates Function = prm
	// TestLinkStates asks for an Ack that proves FCB is in step.
	TestLinkStates Function = prm | 2
	// ConfirmedUserData carries a segment and asks for an Ack.
	ConfirmedUserData Function = prm | 3
	// UnconfirmedUserData carries a segment and asks for nothing.
	UnconfirmedUserData Function = prm | 4
	// RequestLinkStatus asks for LinkStatus; also the keep-alive over TCP.
	RequestLinkStatus Function = prm | 9

	// Ack accepts a primary frame.
	Ack Function = 0
	// Nack refuses one, for instance because the link is not reset.
	Nack Function = 1
	// LinkStatus answers RequestLinkStatus.
	LinkStatus Function = 11
	// NotSupported answers a primary frame whose function is unknown.
	NotSupported Function = 15
)

// With returns the control octet for f with the given flags (DIR, FCB, FCV or DFC).
func (f Function) With(flags Control) Control {
	return flags&^Control(functionMask) | Control(f&functionMask)
}

// Primary reports whether f opens a link transaction, as opposed to answering one.
func (f Function) Primary() bool { return f&prm != 0 }

// UserData reports whether frames of this function carry a transport segment.
func (f Function) UserData() bool {
	return f == ConfirmedUserData || f == UnconfirmedUserData
}

// String returns the standard's name, or the code in hexadecimal.
func (f Function) String() string {
	switch f {
	case ResetLinkStates:
		return "RESET_LINK_STATES"
	case TestLinkStates:
		return "TEST_LINK_STATES"
	case ConfirmedUserData:
		return "CONFIRMED_USER_DATA"
	case UnconfirmedUserData:
		return "UNCONFIRMED_USER_DATA"
	case RequestLinkStatus:
		return "REQUEST_LINK_STATUS"
	case Ack:
		return "ACK"
	case Nack:
		return "NACK"
	case LinkStatus:
		return "LINK_STATUS"
	case NotSupported:
		return "NOT_SUPPORTED"
	default:
		return fmt.Sprintf("function 0x%02X", uint8(f))
	}
}

// Function returns the function code with its PRM bit.
func (c Control) Function() Function { return Function(c & functionMask) }

// FromMaster reports whether the DIR bit says that a master sent the frame.
func (c Control) FromMaster() bool { return c&DIR != 0 }

// FCB reports the frame count bit; it counts only when FCV is set.
func (c Control) FCB() bool { return c&FCB != 0 }

// FCV reports whether the frame count bit is valid (primary frames only).
func (c Control) FCV() bool { return c&prm != 0 && c&FCV != 0 }

// DFC reports whether the sender's buffers are full (secondary frames only).
func (c Control) DFC() bool { return c&prm == 0 && c&DFC != 0 }

// wantsFCV reports whether frames of this function must set FCV.
func (f Function) wantsFCV() bool {
	return f == ConfirmedUserData || f == TestLinkStates
}

// known reports whether the standard assigns the code.
func (f Function) known() bool {
	switch f {
	case ResetLinkStates, TestLinkStates, ConfirmedUserData, UnconfirmedUserData,
		RequestLinkStatus, Ack, Nack, LinkStatus, NotSupported:
		return true
	default:
		return false
	}
}
