// Package explain says in words what a BACnet frame is: a datagram of BACnet/IP, or an NPDU without its link header.
// It reads what it can, and says where it cannot go on.
package explain

import (
	"fmt"
	"strings"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/bvlc"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

// writer gathers lines.
type writer struct{ lines []string }

func (w *writer) say(depth int, format string, args ...any) {
	w.lines = append(w.lines, strings.Repeat("  ", depth)+fmt.Sprintf(format, args...))
}

// Frame explains a frame, a line for each part.
func Frame(data []byte) []string {
	w := &writer{}
	if len(data) > 0 && data[0] == 0x81 {
		w.datagram(data)
	} else {
		w.npdu(0, data)
	}
	return w.lines
}

var functions = [...]string{ //nolint:gochecknoglobals // a table
	"Result", "Write-Broadcast-Distribution-Table", "Read-Broadcast-Distribution-Table", "Read-Broadcast-Distribution-Table-Ack",
	"Forwarded-NPDU", "Register-Foreign-Device", "Read-Foreign-Device-Table", "Read-Foreign-Device-Table-Ack",
	"Delete-Foreign-Device-Table-Entry", "Distribute-Broadcast-To-Network", "Original-Unicast-NPDU", "Original-Broadcast-NPDU", "Secure-BVLL",
}

func (w *writer) datagram(data []byte) {
	m, err := bvlc.Parse(data)
	if err != nil {
		w.say(0, "no datagram of BACnet/IP: %v", err)
		return
	}
	name := fmt.Sprintf("function %d", m.Function)
	if int(m.Function) < len(functions) {
		name = functions[m.Function]
	}
	switch m.Function {
	case bvlc.Result:
		w.say(0, "BVLC %s: %v", name, m.Result)
	case bvlc.RegisterForeignDevice:
		w.say(0, "BVLC %s for %d s", name, m.TTL)
	case bvlc.ForwardedNPDU:
		w.say(0, "BVLC %s from %v", name, m.Source)
	default:
		w.say(0, "BVLC %s, %d bytes", name, len(data))
	}
	if m.NPDU != nil {
		w.npdu(1, m.NPDU)
	}
}

func (w *writer) npdu(depth int, data []byte) {
	h, rest, err := npdu.Parse(data)
	if err != nil {
		w.say(depth, "no NPDU: %v", err)
		return
	}
	text := "NPDU"
	if !h.Destination.IsLocal() {
		text += fmt.Sprintf(" to %v, hop count %d", h.Destination, h.Hops)
	}
	if !h.Source.IsLocal() {
		text += fmt.Sprintf(" from %v", h.Source)
	}
	if h.Reply {
		text += ", an answer is expected"
	}
	if h.IsMessage {
		w.say(depth, "%s: network message %#02x, %d bytes of data", text, uint8(h.Message), len(rest))
		return
	}
	w.say(depth, "%s", text)
	w.apdu(depth+1, rest)
}

func (w *writer) apdu(depth int, data []byte) {
	h, rest, err := apdu.Parse(data)
	if err != nil {
		w.say(depth, "no APDU: %v", err)
		return
	}
	segment := ""
	if h.Segmented {
		segment = fmt.Sprintf(", segment %d, window %d", h.Sequence, h.Window)
		if h.More {
			segment += ", more follow"
		}
	}
	which := service.Confirmed(h.Service)
	switch h.Type {
	case apdu.ConfirmedRequest:
		w.say(depth, "Confirmed-Request %v, invoke id %d%s", which, h.InvokeID, segment)
		w.request(depth+1, which, rest, h.Segmented)
	case apdu.UnconfirmedRequest:
		w.say(depth, "Unconfirmed-Request %v", service.Unconfirmed(h.Service))
		w.unconfirmed(depth+1, service.Unconfirmed(h.Service), rest)
	case apdu.SimpleAck:
		w.say(depth, "Simple-ACK %v, invoke id %d", which, h.InvokeID)
	case apdu.ComplexAck:
		w.say(depth, "Complex-ACK %v, invoke id %d%s", which, h.InvokeID, segment)
		w.answer(depth+1, which, rest, h.Segmented)
	case apdu.SegmentAck:
		w.say(depth, "Segment-ACK, invoke id %d, segment %d, window %d, negative %t", h.InvokeID, h.Sequence, h.Window, h.Negative)
	case apdu.Error:
		w.say(depth, "Error of %v, invoke id %d", which, h.InvokeID)
		if e, err := service.DecodeError(rest); err == nil {
			w.say(depth+1, "%v (%v)", e.Code, e.Class)
		} else {
			w.tags(depth+1, rest)
		}
	case apdu.Reject:
		w.say(depth, "Reject, invoke id %d: %v", h.InvokeID, enum.RejectReason(h.Service))
	case apdu.Abort:
		w.say(depth, "Abort, invoke id %d: %v", h.InvokeID, enum.AbortReason(h.Service))
	}
}

// tags lists elements by their tags.
func (w *writer) tags(depth int, data []byte) {
	if len(data) == 0 {
		return
	}
	open := depth
	for at := 0; at < len(data); {
		t, n, err := encoding.ParseTag(data[at:])
		if err != nil {
			w.say(open, "%v at byte %d", err, at)
			return
		}
		switch t.Form {
		case encoding.Opening:
			w.say(open, "[%d] {", t.Number)
			open++
			at += n
			continue
		case encoding.Closing:
			open = max(open-1, depth)
			w.say(open, "}")
			at += n
			continue
		case encoding.Primitive:
		}
		size := int(t.Length)
		if !t.Context && t.Number == uint8(encoding.KindBoolean) {
			size = 0
		}
		if size < 0 || size > len(data)-at-n {
			w.say(open, "%v at byte %d: the data ends within it", t, at)
			return
		}
		element := data[at : at+n+size]
		at += n + size
		if t.Context {
			w.say(open, "[%d] %X", t.Number, element[n:])
			continue
		}
		v := encoding.NewDecoder(element).Value()
		w.say(open, "%v %v", v.Kind(), v)
	}
}
