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

// Error says what the driver said last.
func (c *Crash) Error() string {
	return fmt.Sprintf("the driver crashed (%v); this is a defect of the driver, see the log", c.value)
}

// KindOf returns the kind of a driver's error, also of one that only says ErrNotConnected.
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

// IsSilence reports whether the device did not answer although its line lives.
func IsSilence(err error) bool {
	kind := KindOf(err)
	return kind == fault.Timeout || kind == fault.Unreachable
}

// abandoned marks an error that came because the caller gave up, which says nothing about the
// device.
type abandoned struct{ error }

// Unwrap returns the marked error.
func (a abandoned) Unwrap() error { return a.error }

// Abandon marks an error that came because the caller gave up.
func Abandon(err error) error { return abandoned{err} }

// IsAbandoned reports whether err came because the caller gave up.
func IsAbandoned(err error) bool {
	var a abandoned
	return errors.As(err, &a)
}

// declined marks the error of a request that the device or its driver did not want to carry out: it says nothing
// about whether the device can be read.
type declined struct {
	error

	scan bool // it was not a request, but a scan
}

// Unwrap returns the marked error.
func (d declined) Unwrap() error { return d.error }

// Decline marks the error of a request that was answered with no.
func Decline(err error) error { return declined{error: err} }

// DeclineScan marks the error of a scan that was answered with an error.
func DeclineScan(err error) error { return declined{error: err, scan: true} }

// IsRefusal reports whether a request that reached its driver was answered with no.
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

// IsAnswer reports whether a scan that failed was answered all the same: with an error, or with what cannot be read.
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

// Declined reports whether err says that a request came to the device, or its driver, and was answered with no.
func Declined(err error) bool {
	var d declined
	return errors.As(err, &d)
}

// Partial reports whether err says that a device declined a value, and has not got the one before any more.
func Partial(err error) bool { return Declined(err) && errors.Is(err, driver.ErrPartial) }

// IsOfScan reports whether what was declined is a scan.
func IsOfScan(err error) bool {
	var d declined
	return errors.As(err, &d) && d.scan
}

// QualityOf returns what an error of a whole request says about the points.
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
