package object

import "fmt"

// Status is the outcome of a command on one point (Annex A, g12v1), 0–127.
type Status uint8

// Command statuses.
const (
	// StatusSuccess: accepted, started or queued.
	StatusSuccess Status = 0
	// StatusTimeout: the operate came too long after the select.
	StatusTimeout Status = 1
	// StatusNoSelect: no matching select came before the operate.
	StatusNoSelect Status = 2
	// StatusFormatError: the fields of the command contradict each other.
	StatusFormatError Status = 3
	// StatusNotSupported: the point cannot do this operation.
	StatusNotSupported Status = 4
	// StatusAlreadyActive: the point is busy with, or already in, this state.
	StatusAlreadyActive Status = 5
	// StatusHardwareError: the hardware prevents the operation.
	StatusHardwareError Status = 6
	// StatusLocal: the point is switched to local control.
	StatusLocal Status = 7
	// StatusTooManyObjects: more commands in one request than the device takes.
	StatusTooManyObjects Status = 8
	// StatusNotAuthorized: the sender may not do this.
	StatusNotAuthorized Status = 9
	// StatusAutomationInhibit: a local automation prevents it.
	StatusAutomationInhibit Status = 10
	// StatusProcessingLimited: the device's resources do not suffice.
	StatusProcessingLimited Status = 11
	// StatusOutOfRange: the value is outside the point's range.
	StatusOutOfRange Status = 12
	// StatusDownstreamLocal: a device behind this one is in local control.
	StatusDownstreamLocal Status = 13
	// StatusAlreadyComplete: the operation is done already.
	StatusAlreadyComplete Status = 14
	// StatusBlocked: the point is blocked by a rule.
	StatusBlocked Status = 15
	// StatusCanceled: the operation was canceled.
	StatusCanceled Status = 16
	// StatusBlockedOtherMaster: another master has the right to control.
	StatusBlockedOtherMaster Status = 17
	// StatusDownstreamFail: a device behind this one failed.
	StatusDownstreamFail Status = 18
	// StatusNonParticipating: the device takes no part in this command.
	StatusNonParticipating Status = 126
	// StatusUndefined: none of the above.
	StatusUndefined Status = 127
)

var statusNames = [...]string{
	"SUCCESS", "TIMEOUT", "NO_SELECT", "FORMAT_ERROR", "NOT_SUPPORTED", "ALREADY_ACTIVE",
	"HARDWARE_ERROR", "LOCAL", "TOO_MANY_OBJS", "NOT_AUTHORIZED", "AUTOMATION_INHIBIT",
	"PROCESSING_LIMITED", "OUT_OF_RANGE", "DOWNSTREAM_LOCAL", "ALREADY_COMPLETE", "BLOCKED",
	"CANCELLED", "BLOCKED_OTHER_MASTER", "DOWNSTREAM_FAIL",
}

// String returns the standard's name, or the number.
func (s Status) String() string {
	switch {
	case int(s) < len(statusNames):
		return statusNames[s]
	case s == StatusNonParticipating:
		return "NON_PARTICIPATING"
	case s == StatusUndefined:
		return "UNDEFINED"
	default:
		return fmt.Sprintf("status %d", uint8(s))
	}
}
