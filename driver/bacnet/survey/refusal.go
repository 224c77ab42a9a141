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
	enum.CodeOther:                             "the device does not say why; its own log or manual may",
	enum.CodeConfigurationInProgress:           "somebody is configuring the device; try again later",
	enum.CodeCharacterSetNotSupported:          "the device does not take this character set; write plain letters",
	enum.CodeInvalidConfigurationData:          "the device does not take this setting",
	enum.CodeDatatypeNotSupported:              "the device does not take this type of value here",
	enum.CodeDuplicateName:                     "another object of the device has this name",
	enum.CodeDuplicateObjectID:                 "another object of the device has this identifier",
	enum.CodePropertyIsNotAList:                "the property is no list",
	enum.CodeValueNotInitialized:               "the device has no value there yet",
	enum.CodeNotCOVProperty:                    "the device does not report changes of this property; set cov to false for the point",
	enum.CodeUnknownSubscription:               "the device does not know the subscription",
	enum.CodeParameterOutOfRange:               "the device does not take a parameter of the request, such as the priority",
	enum.CodeListElementNotFound:               "the list has no such element",
	enum.CodeBusy:                              "the object is busy; try again later",
	enum.CodeCommunicationDisabled:             "communication of the device is disabled; enable it (DeviceCommunicationControl), or restart the device",
	enum.CodeAccessDenied:                      "the device does not let this node do it",
	enum.CodeFileAccessDenied:                  "the device lets nobody use the file",
	enum.CodeInvalidFileAccessMethod:           "the file is read in another way: as records, or as a stream",
	enum.CodeInvalidFileStartPosition:          "the file has no such position",
	enum.CodeInternalError:                     "something is wrong inside the device; look at the device",
	enum.CodeNotConfigured:                     "the object is not configured; set it up with the tool of the device",
	enum.CodeOutOfMemory:                       "the device has no memory left",
	enum.CodeValueTooLong:                      "the value is longer than the device takes",
	enum.CodeInvalidValueInThisState:           "the device does not take this value in the state in which it is",
	enum.CodeInvalidDataEncoding:               "the device cannot read the value that was sent",
}

// rejects says what to do about a reason of a reject (clause 18.9), beside its name.
var rejects = map[enum.RejectReason]string{ //nolint:gochecknoglobals // a table
	enum.RejectOther:                    "the device does not say why; its own log or manual may",
	enum.RejectBufferOverflow:           "the request is longer than the device takes; set max_apdu or max_per_request lower",
	enum.RejectInconsistentParameters:   "the parameters of the request do not fit together for the device",
	enum.RejectInvalidParameterDatatype: "the device wants another type of value",
	enum.RejectInvalidTag:               "the device cannot read the request, such as a value of this type",
	enum.RejectMissingRequiredParameter: "the device misses a parameter, such as the priority",
	enum.RejectParameterOutOfRange:      "the device does not take a parameter of the request, such as the priority",
	enum.RejectTooManyArguments:         "the request has more than the device takes; set max_per_request lower",
	enum.RejectUndefinedEnumeration:     "the device does not know the number, such as that of a property or a state",
	enum.RejectUnrecognizedService:      "it does not have this service",
}

// aborts says what to do about a reason of an abort (clause 18.10), beside its name.
var aborts = map[enum.AbortReason]string{ //nolint:gochecknoglobals // a table
	enum.AbortOther:                         "the device does not say why; its own log or manual may",
	enum.AbortBufferOverflow:                "the message is longer than the device can hold; set max_per_request lower",
	enum.AbortInvalidAPDUInThisState:        "the device did not expect the message, such as after a restart; it is asked again",
	enum.AbortPreemptedByHigherPriorityTask: "the device has something more urgent to do; try again later",
	enum.AbortSegmentationNotSupported:      "the answer does not fit into one message, and the device sends no more; set max_per_request lower",
	enum.AbortSecurityError:                 "the device demands a secured connection",
	enum.AbortInsufficientSecurity:          "the device demands a better secured connection",
	enum.AbortWindowSizeOutOfRange:          "the device does not take the number of segments that are sent at once",
	enum.AbortApplicationExceededReplyTime:  "the device did not finish in time; try again later, or ask for less",
	enum.AbortOutOfResources:                "the device is asked by too many at once; lower max_in_flight or requests_per_second",
	enum.AbortTSMTimeout:                    "segments of the message were lost; check the network, or set max_per_request lower",
	enum.AbortAPDUTooLong:                   "the answer is longer than one message; set max_per_request lower",
}

// Explain says in words why a device declined.
func Explain(err error) error {
	if no, is := errors.AsType[service.Error](err); is {
		if text := advice[no.Code]; text != "" {
			return fmt.Errorf("%w: %s", err, text)
		}
		return fmt.Errorf("%w; the manual of the device says more", err)
	}
	text := ""
	if reject, is := errors.AsType[transaction.RejectError](err); is {
		text = rejects[reject.Reason]
	} else if abort, is := errors.AsType[transaction.AbortError](err); is && !abort.Ours {
		text = aborts[abort.Reason]
	}
	if text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}
