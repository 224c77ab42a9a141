package pointlist

import (
	"fmt"

	"voltbus/fault"
	"voltbus/protocol/dnp3/object"
)

// statusText explains a control status, and what to do.
type statusText struct {
	kind fault.Kind
	text string
}

var statusTable = map[object.Status]statusText{
	object.StatusTimeout:            {fault.Rejected, "the operate came too long after the select; the line may be too slow for sbo"},
	object.StatusNoSelect:           {fault.Rejected, "the device misses the select; another master may have been between, try again"},
	object.StatusFormatError:        {fault.Invalid, "the device does not understand the command; check its control, count and times"},
	object.StatusNotSupported:       {fault.Rejected, "the point cannot do this operation; try another control (latch, pulse, trip and close) or the other way to operate (direct, select first)"},
	object.StatusAlreadyActive:      {fault.Conflict, "the point is busy with an operation, or there already"},
	object.StatusHardwareError:      {fault.Rejected, "the hardware prevents it"},
	object.StatusLocal:              {fault.Rejected, "the point is switched to local control; switch it to remote at the device"},
	object.StatusTooManyObjects:     {fault.Rejected, "the device takes fewer commands at once"},
	object.StatusNotAuthorized:      {fault.Refused, "this master may not operate the point; allow it at the device"},
	object.StatusAutomationInhibit:  {fault.Rejected, "an automation at the device prevents it"},
	object.StatusProcessingLimited:  {fault.Unavailable, "the device is too busy; try again"},
	object.StatusOutOfRange:         {fault.Invalid, "the value is out of the point's range"},
	object.StatusDownstreamLocal:    {fault.Rejected, "a device behind this one is in local control"},
	object.StatusAlreadyComplete:    {fault.Conflict, "the operation is done already"},
	object.StatusBlocked:            {fault.Rejected, "the point is blocked, such as by an interlock"},
	object.StatusCanceled:           {fault.Rejected, "the operation was cancelled at the device"},
	object.StatusBlockedOtherMaster: {fault.Conflict, "another master holds the right to operate"},
	object.StatusDownstreamFail:     {fault.Rejected, "a device behind this one failed"},
	object.StatusNonParticipating:   {fault.Rejected, "the device takes no part in this command"},
	object.StatusUndefined:          {fault.Rejected, "the device gives no reason"},
}

// StatusFault converts a control status other than SUCCESS to a fault about the subject.
func StatusFault(op, subject string, status object.Status) error {
	t, known := statusTable[status]
	if !known {
		t = statusText{fault.Rejected, "the device gives a reason that the standard does not know"}
	}
	return fault.E(op, t.kind, subject, fmt.Errorf("the device refused the command with %v: %s", status, t.text))
}
