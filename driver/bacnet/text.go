package bacnet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// fail turns an error into the contract's.
func (s *session) fail(op string, err error) error {
	subject := s.config.subject()
	if errors.Is(err, transaction.ErrTimeout) {
		s.line.socket.Doubt()
		if problem := s.station.hubProblem(); problem != nil {
			err = problem
		}
	}
	switch {
	case errors.Is(err, network.ErrHub): // the socket connects again by itself
		return fault.E(op, fault.Unreachable, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	case errors.Is(err, client.ErrClosed):
		return fault.E(op, fault.Unreachable, s.line.name, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	case errors.Is(err, driver.ErrNotConnected):
		return fault.E(op, fault.Unreachable, s.line.name, err)
	case errors.Is(err, errNobody), errors.Is(err, errBBMD):
		return fault.E(op, fault.Timeout, subject, err)
	case errors.Is(err, errDuplicate), errors.Is(err, survey.ErrOther):
		return fault.E(op, fault.Conflict, subject, err)
	case errors.Is(err, ip.ErrNoBroadcast):
		return fault.E(op, fault.Invalid, subject, errors.New("devices cannot be found by their instance from here; write local with the length of the subnet, a bbmd, or the address of the device"))
	case errors.Is(err, transaction.ErrTimeout):
		return fault.E(op, fault.Timeout, subject, fmt.Errorf("%w within %v; check that it is on and its address, or raise config.timeout for a slow device", err, s.config.Timeout))
	case errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.Timeout, subject, errors.New("nothing was answered in the time that a scan may take; make the device's timeout longer, or read less often"))
	case errors.Is(err, context.Canceled):
		return fault.E(op, fault.Canceled, subject, err)
	case errors.Is(err, client.ErrQueueFull), errors.Is(err, transaction.ErrBusy):
		return fault.E(op, fault.Unavailable, subject, err)
	case declined(err):
		return fault.E(op, kindOf(err), subject, explain(err))
	}
	return fault.E(op, fault.Rejected, subject, err)
}

// isAbsent reports whether a device answered that it has no such object or property.
func isAbsent(err error) bool {
	var no service.Error
	if !errors.As(err, &no) {
		return false
	}
	switch no.Code {
	case enum.CodeUnknownObject, enum.CodeUnknownProperty, enum.CodeNoObjectsOfSpecifiedType, enum.CodePropertyIsNotAnArray, enum.CodeInvalidArrayIndex:
		return true
	default:
		return false
	}
}

// qualityOf returns the quality of a point whose property could not be read.
func qualityOf(err error) point.Quality {
	switch {
	case isAbsent(err):
		return point.BadConfig
	case declined(err):
		return point.BadDevice
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, transaction.ErrTimeout):
		return point.BadTimeout
	}
	return point.BadValue
}

// kindOf returns what kind of a fault the answer of a device is.
func kindOf(err error) fault.Kind {
	if no, is := errors.AsType[service.Error](err); is {
		switch no.Code {
		case enum.CodeDeviceBusy, enum.CodeOperationalProblem, enum.CodeTimeout:
			return fault.Unavailable
		default:
			return fault.Rejected
		}
	}
	if abort, is := errors.AsType[transaction.AbortError](err); is {
		switch abort.Reason {
		case enum.AbortOutOfResources, enum.AbortPreemptedByHigherPriorityTask, enum.AbortApplicationExceededReplyTime:
			return fault.Unavailable
		default:
			return fault.Rejected
		}
	}
	return fault.Rejected
}

// explain says in words why a device declined.
func explain(err error) error { return survey.Explain(err) }

// namesBad is how many points a diagnosis names.
const namesBad = 3

// diagnose says which points a read left bad although the device answered, and what to do; nil if there are none.
func (s *session) diagnose(names []string, samples []point.Sample, cut bool) error {
	var absent, other []string
	for i, name := range names {
		at, known := s.byName[name]
		if !known {
			continue
		}
		switch samples[i].Quality {
		case point.BadConfig:
			absent = append(absent, s.items[at].Describe())
		case point.BadValue:
			other = append(other, s.items[at].Describe())
		default:
		}
	}
	switch {
	case cut:
		return driver.ErrScanCut
	case len(absent) > 0:
		return fault.E("", fault.Invalid, "", fmt.Errorf("the device does not have %d of %s: %s; correct object and property in the registry, or leave them out",
			len(absent), plural.Of(len(s.items), "point"), firstOf(absent)))
	case len(other) > 0:
		return fault.E("", fault.Corrupt, "", fmt.Errorf("the values of %s are not of the type of the point: %s; correct type in the registry",
			plural.Of(len(other), "point"), firstOf(other)))
	}
	if others := s.others(); others != "" {
		return fault.E("", fault.Conflict, "", fmt.Errorf("another device announces instance %d, at %s; give one of them another instance, or write the address of this one", s.station.remote.Instance, others))
	}
	return s.changes.diagnose()
}

// others lists where else the instance of the device was seen.
func (s *session) others() string {
	if s.station.at.Known() || !s.station.bound {
		return ""
	}
	var places []string
	for _, a := range s.line.socket.Directory.Others(s.station.remote.Instance, s.station.remote.Address) {
		if s.station.at.Fits(a) {
			places = append(places, network.AddressText(a))
		}
	}
	return strings.Join(places, ", ")
}

// firstOf names the first of some points.
func firstOf(names []string) string {
	if more := len(names) - namesBad; more > 0 {
		names = append(names[:namesBad:namesBad], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
