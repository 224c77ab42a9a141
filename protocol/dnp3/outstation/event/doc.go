// Package event holds the events that a DNP3 outstation keeps for a master until the
// master confirms them.
package event
