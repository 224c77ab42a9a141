package station

import (
	"sync"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/transport"
)

// FragmentSize is the default size of the buffers for fragments, and the size that
// every station must be able to receive.
const FragmentSize = 2048

// Buffer is a borrowed piece of memory of a [Pool].
type Buffer struct {
	// Octets has a capacity of the pool's fragment size.
	Octets []byte
}

// Pool lends buffers for fragments to all sessions of a program, so that only sessions
// that are in the middle of one hold memory for it. It may be used concurrently.
type Pool struct {
	size    int
	buffers sync.Pool
	outputs sync.Pool
}

// NewPool returns a pool of buffers for fragments of at most size octets; anything
// below 249 becomes [FragmentSize].
func NewPool(size int) *Pool {
	if size < transport.MaxData {
		size = FragmentSize
	}
	return &Pool{size: size}
}

// Borrow returns a buffer.
func (p *Pool) Borrow() *Buffer {
	if b, ok := p.buffers.Get().(*Buffer); ok {
		return b
	}
	return &Buffer{Octets: make([]byte, 0, p.size)}
}

// Return takes a buffer back. The caller must not use it any more.
func (p *Pool) Return(b *Buffer) {
	b.Octets = b.Octets[:0]
	p.buffers.Put(b)
}

// Output returns an empty output, to be given back by [Pool.Release].
func (p *Pool) Output() *Output {
	if o, ok := p.outputs.Get().(*Output); ok {
		return o
	}
	return &Output{pool: p, scratch: make([]byte, 0, p.size), wire: make([]byte, 0, transport.Size(p.size))}
}

// Release takes an output back when its octets are written.
func (p *Pool) Release(o *Output) {
	o.Reset()
	p.outputs.Put(o)
}

// Output collects the frames of one step of a state machine, so that all of them leave
// in one write. Not for concurrent use.
type Output struct {
	pool    *Pool
	port    *Port
	scratch []byte
	wire    []byte
	room    [link.MaxPayload]byte // where the frame being handled is unpacked
}

// Wire returns the octets to be written, valid until Reset.
func (o *Output) Wire() []byte { return o.wire }

// Reset empties the output and keeps its memory.
func (o *Output) Reset() { o.wire, o.port = o.wire[:0], nil }

// Pool returns the pool that the output belongs to.
func (o *Output) Pool() *Pool { return o.pool }

// Scratch returns memory in which one fragment can be built for Send. It is the same
// memory each time.
func (o *Output) Scratch() []byte { return o.scratch[:0] }

// Send appends the frames of a fragment to the peer of the machine being called.
func (o *Output) Send(fragment []byte) { o.SendTo(o.port.remote, fragment) }

// SendTo appends the frames of a fragment to another address, such as a broadcast.
func (o *Output) SendTo(destination link.Address, fragment []byte) {
	p := o.port
	header := link.Header{Control: p.control(link.UnconfirmedUserData), Destination: destination, Source: p.local}
	wire, next, err := transport.AppendFragment(o.wire, header, p.sequence, fragment)
	if err != nil {
		return // only an empty fragment, which nobody has a reason to send
	}
	o.wire, p.sequence = wire, next
}

// frame appends a frame without user octets.
func (o *Output) frame(c link.Control, destination, source link.Address) {
	wire, err := link.AppendFrame(o.wire, link.Header{Control: c, Destination: destination, Source: source}, nil)
	if err == nil {
		o.wire = wire
	}
}
