package node

import (
	"errors"
	"strings"

	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/fleet"
)

// childLink notes that the link of a child was made or lost.
func childLink(links *fleet.Links, p bus.ConnectionEvent) {
	if child, is := strings.CutPrefix(p.Name, identity.ChildPrefix); is {
		links.Note(fleet.Turn{
			Neighbour: child, Up: p.Ended == "", Reason: p.Ended, Address: p.Address, Key: identity.KeyPrint(p.Key),
		})
	}
}

// parentLink notes that the parent was reached or lost.
func parentLink(links *fleet.Links, parent string, lost error) {
	t := fleet.Turn{Neighbour: parent, Above: true, Up: lost == nil}
	if lost != nil {
		t.Reason = lost.Error()
		if f, is := errors.AsType[*fault.Error](lost); is && f.Err != nil {
			t.Reason = f.Err.Error() // whose link it is stands beside it
		}
	}
	links.Note(t)
}
