package survey

import (
	"errors"
	"fmt"

	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Declined reports whether a device answered a request with no.
func Declined(err error) bool {
	var no service.Error
	var reject transaction.RejectError
	var abort transaction.AbortError
	return errors.As(err, &no) || errors.As(err, &reject) || errors.As(err, &abort) && !abort.Ours
}

// advice says what to do about an error code (clause 18), beside its name.
var advice = map[enum.ErrorCode]string{ //nolint:gochecknoglobals // a table
	enum.CodeUnknownObject:                     "the device has no such object; correct type and instance",
	enum.CodeUnknownProperty:                   "the object has no such property; correct it",
	enum.CodeWriteAccessDenied:                 "the device lets nobody write it, or the object is not commanded from outside; take it as read-only",
	enum.CodeReadAccessDenied:                  "the device lets nobody read it",
	enum.CodeValueOutOfRange:                   "the value is outside what the device takes",
	enum.CodeInvalidDataType:                   "the device wants another type of value, or does not take null because the object has no priority array",
	enum.CodeDeviceBusy:                        "the device is busy; try again later",
	enum.CodeOperationalProblem:                "the device cannot do it now; look at the device",
	enum.CodeServiceRequestDenied:              "the device refuses the service, such as while communication is disabled",
	enum.CodeNoSpaceToWriteProperty:            "the device has no memory left for it",
	enum.CodePropertyIsNotAnArray:              "the property is no array; leave array_index out",
	enum.CodeInvalidArrayIndex:                 "the array has no such element; correct array_index",
	enum.CodePasswordFailure:                   "the password is wrong",
	enum.CodeCOVSubscriptionFailed:             "the device takes no more subscriptions",
	enum.CodeOptionalFunctionalityNotSupported: "the device does not have this function",
	enum.CodeInconsistentParameters:            "the parameters do not fit together",
	enum.CodeMissingRequiredParameter:          "the device misses a parameter, such as the priority",
	enum.CodeTimeout:                           "the device did not finish in time",
	enum.CodeNoObjectsOfSpecifiedType:          "the device has no object of this type; correct it",
	enum.CodeInconsistentSelectionCriterion:    "the device does not take the selection",
}

// Explain says in words why a device declined.
func Explain(err error) error {
	if no, is := errors.AsType[service.Error](err); is {
		if text := advice[no.Code]; text != "" {
			return fmt.Errorf("%w: %s", err, text)
		}
		return fmt.Errorf("%w; the manual of the device says more", err)
	}
	if reject, is := errors.AsType[transaction.RejectError](err); is && reject.Reason == enum.RejectUnrecognizedService {
		return fmt.Errorf("%w: it does not have this service", err)
	}
	return err
}
