// Package event buffers the events of a DNP3 outstation until the master confirms them.
package event
