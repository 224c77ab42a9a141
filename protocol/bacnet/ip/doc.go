// Package ip sends and receives BACnet messages over UDP (ASHRAE 135 annex J and clause 6): one
// [Port] is one socket for any number of devices. It adds and takes off the link and network
// headers, knows stations behind routers, broadcasts in the local network or, as a foreign
// device, through a BBMD, can be the BBMD of its subnet, and hands application messages to one [Handler].
package ip

import (
	"net/netip"

	"voltbus/protocol/bacnet/npdu"
)

// Address is a station: an IP address and port, and the station behind it if it is a router. It
// is comparable.
type Address struct {
	Link   netip.AddrPort
	Remote npdu.Address // zero: the station at Link itself
}

// String returns the address and, behind a router, network and MAC.
func (a Address) String() string {
	if a.Remote.IsLocal() {
		return a.Link.String()
	}
	return a.Link.String() + "/" + a.Remote.String()
}

// Message is an application message that arrived.
type Message struct {
	From      Address
	APDU      []byte // the handler owns it
	Broadcast bool
}

// Handler takes what arrives. It is called by one goroutine for each socket and must not block.
type Handler func(Message)
