package session

import (
	"slices"

	"voltbus/protocol/mqtt/packet"
)

// outgoing is a message with QoS 1 or 2 on its way to the client.
type outgoing struct {
	message  *Message // nil once the PUBREC is there
	more     []uint32 // subscription identifiers beyond the first
	first    uint32   // subscription identifier, 0 for none
	id       uint16   // packet identifier, 0 before it is sent for the first time
	qos      packet.QoS
	retain   bool
	released bool // PUBREC is there: the PUBREL is what is sent
}

// queue holds messages in the order of their delivery: those in flight, then those that wait.
type queue struct {
	list []outgoing
	head int // what is before is gone
	sent int // how many from head on are in flight
	last uint16
	// octets are those of the messages.
	octets int
}

// keep is how many places an empty queue keeps.
const keep = 8

func (q *queue) len() int { return len(q.list) - q.head }

// waiting returns how many messages are not in flight.
func (q *queue) waiting() int { return q.len() - q.sent }

func (q *queue) push(o outgoing) {
	q.list = append(q.list, o)
	q.octets += o.message.octets()
}

// fits reports whether a message may wait beside those that do, where they may have so many octets; 0 for any.
func (q *queue) fits(m *Message, most int) bool {
	return most == 0 || q.octets == 0 || q.octets+m.octets() <= most
}

// next returns the first message that is not in flight, which must be there.
func (q *queue) next() *outgoing { return &q.list[q.head+q.sent] }

// flight returns the messages in flight.
func (q *queue) flight() []outgoing { return q.list[q.head : q.head+q.sent] }

// find returns the place of a message in flight, -1 for none.
func (q *queue) find(id uint16) int {
	return slices.IndexFunc(q.flight(), func(o outgoing) bool { return o.id == id })
}

// remove takes away the i-th message.
func (q *queue) remove(i int) {
	if i < q.sent {
		q.sent--
	}
	q.octets -= q.list[q.head+i].message.octets()
	if i == 0 {
		q.list[q.head] = outgoing{}
		q.head++
	} else {
		q.list = slices.Delete(q.list, q.head+i, q.head+i+1)
	}
	switch {
	case q.len() > 0 && q.head > keep && q.head > len(q.list)/2:
		q.list = append(q.list[:0:0], q.list[q.head:]...)
		q.head = 0
	case q.len() > 0:
	case cap(q.list) > keep:
		q.list, q.head = nil, 0
	default:
		q.list, q.head = q.list[:0], 0
	}
}

// number returns a packet identifier that is not in use [MQTT-2.2.1-4].
func (q *queue) number() uint16 {
	for {
		q.last++
		if q.last != 0 && q.find(q.last) < 0 && !q.waits(q.last) {
			return q.last
		}
	}
}

// waits reports whether a message that was sent on an earlier connection and has to be sent again
// has the identifier. Such messages are the first ones that wait.
func (q *queue) waits(id uint16) bool {
	for _, o := range q.list[q.head+q.sent:] {
		if o.id == 0 {
			return false
		}
		if o.id == id {
			return true
		}
	}
	return false
}

// rewind lets everything that is in flight wait to be sent again.
func (q *queue) rewind() {
	q.sent = 0
	if q.len() == 0 {
		q.list, q.head = nil, 0
	}
}
