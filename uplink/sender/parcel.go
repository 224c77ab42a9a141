package sender

import (
	"slices"

	"voltbus/uplink"
)

// parcel is a queued block: one sent in parts, or one queued after such a block.
type parcel struct {
	flying
	previous uint64
	block    []byte // encoded
	large    bool   // sent in parts
	sum      uplink.Sum
	asked    bool // the parent was asked how much of it is there
	known    bool // the parent has answered
	at       int  // bytes sent
}

func newParcel(f flying, previous uint64, block []byte, large bool) *parcel {
	w := &parcel{flying: f, previous: previous, block: slices.Clone(block), large: large}
	if w.part = large; large {
		w.sum = uplink.SumOf(block)
	}
	return w
}

// feed sends as much of the queue as the window permits.
func (p *pass) feed() error {
	for len(p.queue) > 0 && !p.owing && p.octets < p.window.Open && len(p.flight) < p.most() {
		w := p.queue[0]
		if w.asked && !w.known {
			return nil // the answer tells where to continue
		}
		if !w.large {
			p.queue = p.queue[1:]
			if err := p.sendFrame(w.flying, w.previous, w.block); err != nil {
				return err
			}
			continue
		}
		if err := p.sendPart(w); err != nil {
			return err
		}
		if w.at == len(w.block) {
			p.queue = p.queue[1:]
		}
	}
	return nil
}

// sendPart sends the next part of a block; the first one is empty and asks how much the parent has from an
// earlier connection.
func (p *pass) sendPart(w *parcel) error {
	part := uplink.Part{
		Epoch: p.epoch, Previous: w.previous, Origin: w.origin, Sequence: w.sequence, Sum: w.sum, Size: uint64(len(w.block)), From: uint64(w.at),
	}
	if w.asked {
		part.Data = w.block[w.at:min(w.at+p.window.part(), len(w.block))]
	}
	w.asked = true
	w.at += len(part.Data)
	f := w.flying
	f.end = uint64(w.at)
	p.frame = part.Append(p.frame[:0])
	return p.send(f)
}

// held processes the parent's answer about how much of a block it has.
func (p *pass) held(origin string, h *uplink.Held) {
	is := func(f *flying) bool { return f.part && f.origin == origin && f.sequence == h.Sequence }
	p.arrived(func(f *flying) bool { return is(f) && f.end <= h.Bytes })
	if len(p.queue) > 0 && is(&p.queue[0].flying) {
		if w := p.queue[0]; !w.known {
			w.known, w.at = true, int(min(h.Bytes, uint64(len(w.block))))
		}
	}
	if h.Bytes > 0 {
		p.monitor.gain(1)
	}
	p.move()
}

// unqueue drops what need not be sent.
func (p *pass) unqueue(drop func(*flying) bool) {
	p.queue = slices.DeleteFunc(p.queue, func(w *parcel) bool { return drop(&w.flying) })
}
