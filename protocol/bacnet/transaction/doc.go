// Package transaction carries out confirmed services (ASHRAE 135 clause 5.4): it assigns invoke ids, retries requests, and segments and
// reassembles long messages with windows, as the client ([Client]) and the server ([Server]).
//
// Both are state machines without sockets, goroutines or clocks. They are told what arrived
// and what time it is, send through an [Output], and say with Next when they want to be
// called. The type parameter is the address of a peer, of any comparable type. Each is used
// by one goroutine at a time.
package transaction

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/enum"
)

// Output sends an APDU. The APDU is valid until Send returns; reply says that an answer is
// expected.
type Output[A comparable] interface {
	Send(to A, message []byte, reply bool)
}

// Config has the limits of our own side. The zero value means the defaults.
type Config struct {
	Timeout        time.Duration // of an answer; 3 s
	SegmentTimeout time.Duration // between segments; 2 s
	Retries        int           // after the first attempt; 3, negative: none
	Window         uint8         // segments sent without an acknowledgement, 1–127; 16
	MaxAPDU        int           // octets that we take in one APDU, 50–1476; 1476
	MaxMessage     int           // octets that we put together of segments; 256 KiB
	MaxServed      int           // requests that a server works on at a time; 1024
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 3 * time.Second
	}
	if c.SegmentTimeout <= 0 {
		c.SegmentTimeout = 2 * time.Second
	}
	switch {
	case c.Retries == 0:
		c.Retries = 3
	case c.Retries < 0:
		c.Retries = 0
	}
	if c.Window == 0 || c.Window > 127 {
		c.Window = 16
	}
	if c.MaxAPDU < 50 || c.MaxAPDU > 1476 {
		c.MaxAPDU = 1476
	}
	if c.MaxMessage <= 0 {
		c.MaxMessage = 256 << 10
	}
	if c.MaxServed <= 0 {
		c.MaxServed = 1024
	}
	return c
}

// Limits is what a peer takes. The zero value means the defaults: 1476 octets, no segments.
type Limits struct {
	MaxAPDU     int  // octets
	Segments    bool // it puts segments together
	MaxSegments int  // 0: any number

	Timeout time.Duration // of its answer; 0: that of Config
	Retries int           // of requests to it; 0: those of Config, negative: none
}

// Errors of a transaction, beside [service.Error], [RejectError] and [AbortError].
var (
	ErrTimeout = errors.New("the device does not answer")
	ErrBusy    = errors.New("256 requests to the device wait for an answer")
	ErrTooLong = errors.New("the message is longer than the device takes")
)

// RejectError is the answer of a device that did not understand the request (clause 18.9).
type RejectError struct {
	Reason enum.RejectReason
}

// Error returns the reason by its name.
func (e RejectError) Error() string {
	return fmt.Sprintf("the device rejected the request: %v", e.Reason)
}

// AbortError says that the device, or we, ended the transaction early (clause 18.10).
type AbortError struct {
	Reason enum.AbortReason
	Ours   bool // we ended it
}

// Error returns the reason by its name.
func (e AbortError) Error() string {
	if e.Ours {
		return fmt.Sprintf("the transaction was aborted here: %v", e.Reason)
	}
	return fmt.Sprintf("the device aborted the transaction: %v", e.Reason)
}

// key identifies a transaction.
type key[A comparable] struct {
	peer A
	id   uint8
}

// appendAbort writes an abort.
func appendAbort(id uint8, server bool, reason enum.AbortReason) []byte {
	return apdu.Append(nil, apdu.Header{Type: apdu.Abort, Server: server, InvokeID: id, Service: uint8(reason)})
}
