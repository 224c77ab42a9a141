package broker

import (
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// Drain sends clients to other replicas. It is safe for concurrent use.
type Drain struct{ b *Broker }

// NewDrain returns what sends the clients of a broker away.
func NewDrain(b *Broker) Drain { return Drain{b} }

// Close lets no more clients in, or lets them in again. Those who come are told to use another server (MQTT 5, 4.11), whose address
// another returns; "" if it is not known.
func (d Drain) Close(closed bool, another func() string) {
	d.b.mu.Lock()
	defer d.b.unlock()
	d.b.closed, d.b.another = closed, another
}

// Shed disconnects up to n clients, which are told to use another server, and returns how many are left.
func (d Drain) Shed(n int) (left int) {
	d.b.mu.Lock()
	defer d.b.unlock()
	left = len(d.b.links)
	for l := range d.b.links {
		if n == 0 {
			break
		}
		if l.over {
			continue
		}
		l.out = session.Refer(l.conn, packet.UseAnotherServer, d.b.another(), l.out)
		d.b.close(l)
		n--
	}
	return left
}
