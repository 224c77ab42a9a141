package node

import (
	"errors"
	"strings"

	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/links"
)

// childLink notes that a child's link was established or lost.
func childLink(known *links.Links, p bus.ConnectionEvent) {
	if child, is := strings.CutPrefix(p.Name, identity.ChildPrefix); is {
		known.Note(links.Turn{
			Neighbour: child, Up: p.Ended == "", Reason: p.Ended, Address: p.Address, Key: identity.KeyPrint(p.Key),
		})
	}
}

// parentLink notes that the parent was reached or lost.
func parentLink(known *links.Links, parent string, lost error) {
	t := links.Turn{Neighbour: parent, Above: true, Up: lost == nil}
	if lost != nil {
		t.Reason = lost.Error()
		if f, is := errors.AsType[*fault.Error](lost); is && f.Err != nil {
			t.Reason = f.Err.Error() // the entry names the link already
		}
	}
	known.Note(t)
}
