package receiver

import (
	"context"

	"voltbus/fault"
	"voltbus/uplink"
)

// partial is a block received in part. A lane keeps one, even across an interruption, until the block is
// accepted or another one comes.
type partial struct {
	origin   string
	sequence uint64
	sum      uplink.Sum
	size     uint64
	data     []byte
}

func (h *partial) is(p *uplink.Part) bool {
	return h != nil && h.origin == p.Origin && h.sequence == p.Sequence && h.sum == p.Sum && h.size == p.Size
}

// frame returns the frame to check: as received, or assembled from all its parts. It answers parts before the
// last itself, and returns false.
func (l *lane) frame(ctx context.Context, a arrival, out chan<- underway) (uplink.Frame, bool, error) {
	if !uplink.IsPart(a.data) {
		frame, err := uplink.ParseFrame(a.data)
		return frame, true, err
	}
	p, err := uplink.ParsePart(a.data)
	if err != nil {
		return uplink.Frame{}, true, err
	}
	answer := uplink.Answer{Epoch: p.Epoch, Origin: p.Origin, Position: l.keptOf(p.Origin)}
	taken := l.takenOf(p.Origin)
	switch {
	case uplink.LaneOf(p.Origin) != l.name || p.Origin == "":
		answer.Failure = uplink.FailureOf(fault.E("receiver.Receive", fault.Invalid, p.Origin, errNotLane), "")
		a.respond(answer)
		return uplink.Frame{}, false, nil
	case p.Sequence <= taken.Sequence:
		l.pass(ctx, out, underway{answer: answer, respond: a.respond, wait: noWait})
		return uplink.Frame{}, false, nil
	case p.Previous != taken.Sequence || !l.join(&p):
		answer.Expected = true
		l.pass(ctx, out, underway{answer: answer, respond: a.respond, wait: noWait})
		return uplink.Frame{}, false, nil
	}
	if err := l.recorder.Paused(); err != nil {
		answer.Failure = unavailable(err)
		a.respond(answer)
		return uplink.Frame{}, false, nil
	}
	if has := uint64(len(l.partial.data)); has < p.Size {
		answer.Part = &uplink.Held{Sequence: p.Sequence, Bytes: has}
		a.respond(answer)
		return uplink.Frame{}, false, nil
	}
	return uplink.Frame{Epoch: p.Epoch, Previous: p.Previous, Block: l.partial.data}, true, nil
}

// join appends a part to those received; false if one in between is missing, or the whole is not as it should
// be.
func (l *lane) join(p *uplink.Part) bool {
	if !l.partial.is(p) {
		if p.From != 0 {
			return false
		}
		l.partial = &partial{origin: p.Origin, sequence: p.Sequence, sum: p.Sum, size: p.Size}
	}
	h := l.partial
	if len(p.Data) == 0 {
		return true // it only asks
	}
	if p.From != uint64(len(h.data)) {
		return false
	}
	h.data = append(h.data, p.Data...)
	if uint64(len(h.data)) == h.size && uplink.SumOf(h.data) != h.sum {
		l.partial = nil
		return false
	}
	return true
}

// forget drops the parts of a block that was accepted, or cannot be decoded.
func (l *lane) forget(origin string, sequence uint64) {
	if h := l.partial; h != nil && h.origin == origin && h.sequence <= sequence {
		l.partial = nil
	}
}
