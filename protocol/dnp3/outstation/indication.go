package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/outstation/event"
)

// indications are those that one master gets: of the device, of its events, of a restart and of broadcasts.
type indications struct {
	outstation *Outstation
	events     *event.Buffer
	restarted  bool // the master has not cleared IIN1.7 yet
	broadcast  broadcastState
}

type broadcastState uint8

const (
	broadcastNone    broadcastState = iota
	broadcastTell                   // set IIN1.0 in the next response
	broadcastConfirm                // and until the master confirms one
)

// heard notes a broadcast.
func (i *indications) heard(address link.Address) {
	if address == link.BroadcastConfirm {
		i.broadcast = broadcastConfirm
	} else {
		i.broadcast = max(i.broadcast, broadcastTell)
	}
}

// iin returns the indications for a response.
func (i *indications) iin() app.IIN {
	iin := i.outstation.indications | i.events.IIN()
	if i.restarted {
		iin |= app.IINDeviceRestart
	}
	if i.broadcast != broadcastNone {
		iin |= app.IINBroadcast
	}
	return iin
}
