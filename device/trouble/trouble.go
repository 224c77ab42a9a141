// Package trouble decides what a driver's error means for the device, its line and the caller.
package trouble

import (
	"errors"
	"fmt"
	"runtime/debug"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Crash is a panic in a driver.
type Crash struct {
	value any
	Stack []byte // of the goroutine that crashed
}

// NewCrash returns the error of a driver that panicked with a value. It is called where the panic is recovered.
func NewCrash(value any) *Crash { return &Crash{value: value, Stack: debug.Stack()} }

// Error returns the panic's message.
func (c *Crash) Error() string {
	return fmt.Sprintf("the driver crashed (%v); this is a defect of the driver, see the log", c.value)
}

// KindOf returns the kind of a driver's error, including one that is only ErrNotConnected.
func KindOf(err error) fault.Kind {
	kind := fault.KindOf(err)
	if kind == fault.Internal && errors.Is(err, driver.ErrNotConnected) {
		return fault.Unreachable
	}
	return kind
}

// IsLineLost reports whether the line must be dialled again after err.
func IsLineLost(err error) bool { return errors.Is(err, driver.ErrNotConnected) }

// IsCrash reports whether err is a panic of the driver.
func IsCrash(err error) bool { return CrashOf(err) != nil }

// CrashOf returns the panic in err, or nil.
func CrashOf(err error) *Crash {
	var c *Crash
	errors.As(err, &c)
	return c
}

// IsSilence reports whether the device did not answer although its line works.
func IsSilence(err error) bool {
	kind := KindOf(err)
	return kind == fault.Timeout || kind == fault.Unreachable
}

// abandoned marks an error caused by the caller giving up, which says nothing about the device.
type abandoned struct{ error }

// Unwrap returns the marked error.
func (a abandoned) Unwrap() error { return a.error }

// Abandon marks an error caused by the caller giving up.
func Abandon(err error) error { return abandoned{err} }

// IsAbandoned reports whether err was caused by the caller giving up.
func IsAbandoned(err error) bool {
	var a abandoned
	return errors.As(err, &a)
}

// declined marks the error of a request that the device or its driver refused to carry out: it says nothing
// about whether the device can be read.
type declined struct {
	error

	scan bool // it was a scan, not a request
}

// Unwrap returns the marked error.
func (d declined) Unwrap() error { return d.error }

// Decline marks the error of a declined request.
func Decline(err error) error { return declined{error: err} }

// DeclineScan marks the error of a scan that was answered with an error.
func DeclineScan(err error) error { return declined{error: err, scan: true} }

// IsRefusal reports whether a request that reached its driver was declined.
func IsRefusal(err error) bool {
	if err == nil || IsLineLost(err) || IsCrash(err) {
		return false
	}
	switch KindOf(err) {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound, fault.Conflict, fault.Unavailable:
		return true
	case fault.Internal, fault.Unreachable, fault.Timeout, fault.Corrupt, fault.Canceled:
	}
	return false
}

// IsAnswer reports whether a failed scan was answered anyway: with an error, or with unreadable data.
func IsAnswer(err error) bool {
	if err == nil || IsLineLost(err) || IsCrash(err) {
		return false
	}
	switch KindOf(err) {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound, fault.Conflict, fault.Corrupt:
		return true
	case fault.Unavailable, fault.Internal, fault.Unreachable, fault.Timeout, fault.Canceled:
	}
	return false
}

// Declined reports whether err says that a request reached the device, or its driver, and was declined.
func Declined(err error) bool {
	var d declined
	return errors.As(err, &d)
}

// Partial reports whether err says that a device declined a value, and no longer has the previous one.
func Partial(err error) bool { return Declined(err) && errors.Is(err, driver.ErrPartial) }

// IsOfScan reports whether it was a scan that was declined.
func IsOfScan(err error) bool {
	var d declined
	return errors.As(err, &d) && d.scan
}

// QualityOf returns the quality of the points after the error of a whole request.
func QualityOf(err error) point.Quality {
	if IsLineLost(err) {
		return point.BadUnreachable
	}
	switch KindOf(err) {
	case fault.Timeout:
		return point.BadTimeout
	case fault.Unreachable, fault.Unavailable:
		return point.BadUnreachable
	case fault.Rejected, fault.Refused:
		return point.BadDevice
	case fault.Invalid, fault.NotFound:
		return point.BadConfig
	case fault.Corrupt:
		return point.BadValue
	case fault.Internal, fault.Conflict, fault.Canceled:
	}
	return point.Bad
}
