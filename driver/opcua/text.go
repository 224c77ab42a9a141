package opcua

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/gopcua/opcua/ua"

	"voltbus/point"
	"voltbus/protocol/opcua/client"
)

// words say what status codes mean for who reads points, and what to do (Part 4, clause 7.39.2).
var words = map[ua.StatusCode]string{ //nolint:gochecknoglobals // a table
	ua.StatusBadNodeIDUnknown:                  "the server has no such node",
	ua.StatusBadNodeIDInvalid:                  "the server does not take this form of a node's address",
	ua.StatusBadAttributeIDInvalid:             "the node is no variable and has no value",
	ua.StatusBadNotReadable:                    "the value may not be read",
	ua.StatusBadNotWritable:                    "the server does not let the value be written",
	ua.StatusBadUserAccessDenied:               "the user has no right to it at the server; write another user, or give it the right there",
	ua.StatusBadWriteNotSupported:              "the server does not take writes of this kind: a part of an array, or a value with a time",
	ua.StatusBadTypeMismatch:                   "the value is not of the node's type",
	ua.StatusBadOutOfRange:                     "the value is out of the node's range",
	ua.StatusBadIndexRangeInvalid:              "the element of the array is written in a way that the server does not take",
	ua.StatusBadIndexRangeNoData:               "the array has no such element",
	ua.StatusBadNotSupported:                   "the server does not support it",
	ua.StatusBadServiceUnsupported:             "the server does not have this service",
	ua.StatusBadTooManyOperations:              "these are too many nodes for one request; write a smaller max_per_request",
	ua.StatusBadTooManySessions:                "the server has no session left; end another client, or raise its limit",
	ua.StatusBadTooManySubscriptions:           "the server has no subscription left; give the points the same sampling, or read them at an interval",
	ua.StatusBadTooManyMonitoredItems:          "the server monitors no more items; read the points at an interval",
	ua.StatusBadMonitoredItemFilterUnsupported: "the server does not take the deadband; leave it out, or write it without %",
	ua.StatusBadFilterNotAllowed:               "the server takes no deadband for this node; leave it out",
	ua.StatusBadDeadbandFilterInvalid:          "the server does not take the deadband; leave it out",
	ua.StatusBadWaitingForInitialData:          "the server has no value of it yet",
	ua.StatusBadNotConnected:                   "the server has no connection to the device of this value",
	ua.StatusBadDeviceFailure:                  "the server reports that the device has failed",
	ua.StatusBadSensorFailure:                  "the server reports that the sensor has failed",
	ua.StatusBadNoCommunication:                "the server does not reach the device of this value",
	ua.StatusBadOutOfService:                   "the source of the value is out of service",
	ua.StatusBadIdentityTokenRejected:          "the server does not accept the user name with this password",
	ua.StatusBadIdentityTokenInvalid:           "the server does not accept the user name with this password, or nobody without one",
	ua.StatusBadSecurityPolicyRejected:         "the server does not take this security",
	ua.StatusBadSecurityModeRejected:           "the server does not take this security mode",
	ua.StatusBadCertificateUntrusted:           "the server does not trust the certificate of this node; accept it at the server, often in a list of rejected certificates",
	ua.StatusBadSecurityChecksFailed:           "the server does not accept the certificate of this node, or the security: accept the certificate at the server, often in a list of rejected certificates",
	ua.StatusBadCertificateTimeInvalid:         "the server says that the certificate of this node has expired or is not valid yet; make a new one, and check the clocks",
	ua.StatusBadCertificateInvalid:             "the server cannot use the certificate of this node",
	ua.StatusBadCertificateURIInvalid:          "the server says that the certificate of this node is for another application",
	ua.StatusBadCertificateHostNameInvalid:     "the server says that the certificate of this node is for another host",
	ua.StatusBadCertificateRevoked:             "the server says that the certificate of this node was revoked",
	ua.StatusBadCertificateUseNotAllowed:       "the server says that the certificate of this node is not meant for this use",
	ua.StatusBadNonceInvalid:                   "the server says that a random number was not as long as the security wants",
	ua.StatusBadTCPEndpointURLInvalid:          "the server does not know itself by this endpoint; write the URL that it shows, with its path",
	ua.StatusBadTimeout:                        "the server did not finish in time",
	ua.StatusBadSessionIDInvalid:               "the server has forgotten the session",
	ua.StatusBadShutdown:                       "the server is shutting down",
	ua.StatusBadServerHalted:                   "the server is halted",
	ua.StatusBadEncodingLimitsExceeded:         "the message is larger than the server takes; write a smaller max_per_request",
	ua.StatusBadRequestTooLarge:                "the request is larger than the server takes; write a smaller max_per_request",
	ua.StatusBadResponseTooLarge:               "the answer is larger than allowed; write a smaller max_per_request",
}

// explain says in plain words what an error of a server means.
func explain(err error) error {
	var code ua.StatusCode
	switch {
	case errors.As(err, &code):
		if text, known := words[code]; known {
			return fmt.Errorf("%s (%w)", text, statusName{code})
		}
		return statusName{code}
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: check the address, or raise config.timeout for a slow server", client.ErrTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at the address: check the port, and that the server runs: %w", err)
	}
	if _, is := errors.AsType[*net.DNSError](err); is {
		return fmt.Errorf("the name of the host is not known: %w", err)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server ended the connection")
	}
	return err
}

// statusName is a status code by its name alone.
type statusName struct{ code ua.StatusCode }

func (s statusName) Error() string { return statusText(s.code) }

func (s statusName) Unwrap() error { return s.code }

// statusText returns the name of a status code, such as BadNodeIdUnknown.
func statusText(code ua.StatusCode) string {
	const info = 0xFFFF // flags that say more about a value
	if about, known := ua.StatusCodes[code&^info]; known && about.Name != "StatusOK" {
		return "status " + about.Name[len("Status"):]
	}
	return fmt.Sprintf("status 0x%08X", uint32(code))
}

// qualityOf returns the quality of a value with a status.
func qualityOf(code ua.StatusCode) point.Quality {
	const info ua.StatusCode = 0xFFFF
	switch code &^ info {
	case ua.StatusOK:
		return point.Good
	case ua.StatusGoodLocalOverride:
		return point.Override
	case ua.StatusUncertainSubNormal, ua.StatusUncertainEngineeringUnitsExceeded:
		return point.UncertainRange
	case ua.StatusUncertainSubstituteValue, ua.StatusUncertainLastUsableValue, ua.StatusUncertainInitialValue, ua.StatusUncertainSensorNotAccurate:
		return point.Uncertain
	case ua.StatusBadNodeIDUnknown, ua.StatusBadNodeIDInvalid, ua.StatusBadAttributeIDInvalid, ua.StatusBadIndexRangeNoData, ua.StatusBadIndexRangeInvalid, ua.StatusBadNotReadable:
		return point.BadConfig
	case ua.StatusBadSensorFailure:
		return point.BadSensor
	case ua.StatusBadNotConnected, ua.StatusBadNoCommunication:
		return point.BadUnreachable
	case ua.StatusBadTimeout:
		return point.BadTimeout
	}
	switch {
	case isBad(code):
		return point.BadDevice
	case isUncertain(code):
		return point.Uncertain
	}
	return point.Good
}
