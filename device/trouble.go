package device

import (
	"errors"
	"fmt"
	"runtime/debug"

	"voltbus/driver"
	"voltbus/fault"
)

// crash is a panic in a driver.
type crash struct {
	value any
	stack []byte
}

func newCrash(value any) *crash { return &crash{value: value, stack: debug.Stack()} }

// Error says what the driver said last.
func (c *crash) Error() string {
	return fmt.Sprintf("the driver crashed (%v); this is a defect of the driver, see the log", c.value)
}

// kindOf returns the kind of a driver's error, also of one that only says ErrNotConnected.
func kindOf(err error) fault.Kind {
	kind := fault.KindOf(err)
	if kind == fault.Internal && errors.Is(err, driver.ErrNotConnected) {
		return fault.Unreachable
	}
	return kind
}

// isLineLost reports whether the line must be dialled again after err.
func isLineLost(err error) bool { return errors.Is(err, driver.ErrNotConnected) }

// isCrash reports whether err is a panic of the driver.
func isCrash(err error) bool { return crashOf(err) != nil }

func crashOf(err error) *crash {
	var c *crash
	errors.As(err, &c)
	return c
}

// isSilence reports whether the device did not answer although its line lives.
func isSilence(err error) bool {
	kind := kindOf(err)
	return kind == fault.Timeout || kind == fault.Unreachable
}

// abandoned marks an error that came because the caller gave up, which says nothing about the
// device.
type abandoned struct{ error }

// Unwrap returns the marked error.
func (a abandoned) Unwrap() error { return a.error }

func isAbandoned(err error) bool {
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

// isDeclined reports whether a request that reached its driver was answered with no.
func isDeclined(err error) bool {
	if err == nil || isLineLost(err) || isCrash(err) {
		return false
	}
	switch kindOf(err) {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound, fault.Conflict, fault.Unavailable:
		return true
	case fault.Internal, fault.Unreachable, fault.Timeout, fault.Corrupt, fault.Canceled:
	}
	return false
}

// isAnswer reports whether a scan that failed was answered all the same: with an error, or with what cannot be read.
func isAnswer(err error) bool {
	if err == nil || isLineLost(err) || isCrash(err) {
		return false
	}
	switch kindOf(err) {
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

// isOfScan reports whether what was declined is a scan.
func isOfScan(err error) bool {
	var d declined
	return errors.As(err, &d) && d.scan
}
