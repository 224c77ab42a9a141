// Package transport declares what the HTTP adapter answers itself, with the reasons: sessions, event streams, uploads, and APIs in the
// format of other programs. Rights, limits and audit follow these declarations as all others.
package transport

import (
	"slices"

	"voltbus/operation"
)

// The reasons why an adapter answers a request itself.
const (
	cookie   = "it sets or removes the cookie of a session"
	events   = "its answer is a stream of events that ends with the login of who reads it"
	upload   = "its body is a file that is read while it arrives"
	readings = "its body holds readings in one of several forms, and is read while it arrives"
	foreign  = "requests and answers have the form of another program's API"
	itself   = "it tells of the adapter itself"
	relay    = "it passes on a request of any name to another node, which judges it"
	page     = "its answer is a page of its own, with a policy for browsers"
)

// Maximum sizes of bodies in bytes.
const (
	small   = 4 << 10
	call    = 4 << 20
	message = 32 << 20
)

// Declared lists the operations.
func Declared() []operation.Declared {
	return slices.Concat(sessions(), streams(), intake(), others(), Prometheus())
}
