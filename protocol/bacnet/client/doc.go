// Package client reads, writes and watches BACnet devices (ASHRAE 135). One [Client] is one UDP
// socket for any number of devices: it paces the requests to each of them, bounds the requests
// under way to all, repeats what is not answered, finds devices by broadcasts, renews
// subscriptions, and reads many properties in as few requests as a device takes.
package client

import (
	"errors"
	"time"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Config says how a client works. The zero value of everything but IP means the defaults.
type Config struct {
	IP          ip.Config // Handler is the client's own
	Transaction transaction.Config

	MaxInFlight int  // requests under way to all devices; 256
	MaxQueue    int  // requests that wait for a device; 4096
	Pace        Pace // of devices without one of their own

	// Announced is told of every I-Am; nil ignores those that no scan asks for. It must not block.
	Announced func(Device)
	// Event takes alarms and events; confirmed ones are acknowledged when it returns. It must not
	// block.
	Event func(from ip.Address, n service.EventNotification)
	// Serve answers requests that are not for a client, with the client's Respond, at once or
	// later; nil rejects them. It must not block: nothing else is received meanwhile.
	Serve func(i transaction.Indication[ip.Address])
	// Unconfirmed takes unconfirmed services that are not for a client, such as Who-Is.
	Unconfirmed func(m ip.Message, s service.Unconfirmed, payload []byte)
}

// Pace bounds what is asked of one device.
type Pace struct {
	InFlight int           // requests under way; 1
	Interval time.Duration // from the start of one request to the next; 0
	Batch    int           // properties in one ReadPropertyMultiple; 0: as many as fit, 1: it is not used
}

// Device is where a device is and what it takes. Two devices may have the same instance: the
// address tells them apart.
type Device struct {
	Address      ip.Address
	Instance     uint32
	MaxAPDU      int // octets; 0: 1476
	Segmentation service.Segmentation
	Vendor       uint16

	Timeout time.Duration // of an answer; 0: that of Config.Transaction
	Retries int           // of requests; 0: those of Config.Transaction, negative: none
}

// ID returns the identifier of the device's device object.
func (d Device) ID() encoding.ObjectID { return deviceID(d.Instance) }

func (d Device) limits() transaction.Limits {
	return transaction.Limits{
		MaxAPDU:  d.MaxAPDU,
		Segments: d.Segmentation == service.SegmentedBoth || d.Segmentation == service.SegmentedReceive,
		Timeout:  d.Timeout, Retries: d.Retries,
	}
}

// Errors of a client.
var (
	ErrClosed    = errors.New("the client is closed")
	ErrQueueFull = errors.New("too many requests wait for the device")
)
