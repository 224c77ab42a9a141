package transaction

import (
	"voltbus/protocol/bacnet/apdu"
)

// sender cuts a message into segments and sends windows of them (clause 5.4.4.2, 5.4.5.4).
type sender struct {
	head    apdu.Header // of every segment
	payload []byte
	size    int // octets of the payload in a segment
	count   int // segments
	first   int // the first one that is not acknowledged
	window  int // segments sent at once
	retries int // windows sent again without progress
}

// newSender returns ErrTooLong when the peer does not take the message, with or without
// segments.
func newSender(head apdu.Header, payload []byte, limits Limits, window uint8) (*sender, error) {
	most := limits.MaxAPDU
	if most < 50 {
		most = 1476
	}
	s := &sender{head: head, payload: payload, count: 1, window: 1, size: len(payload)}
	if head.Size()+len(payload) <= most {
		return s, nil
	}
	s.head.Segmented, s.head.Window = true, window
	s.size = most - s.head.Size()
	s.count = (len(payload) + s.size - 1) / s.size
	if !limits.Segments || limits.MaxSegments > 0 && s.count > limits.MaxSegments {
		return nil, ErrTooLong
	}
	return s, nil
}

// segment returns a segment, or the whole message if it is not cut.
func (s *sender) segment(i int) []byte {
	from := i * s.size
	to := min(from+s.size, len(s.payload))
	h := s.head
	h.Sequence, h.More = uint8(i), h.Segmented && i < s.count-1
	b := make([]byte, 0, h.Size()+to-from)
	return append(apdu.Append(b, h), s.payload[from:to]...)
}

// fill sends the segments of the window.
func (s *sender) fill(send func(message []byte)) {
	for i := s.first; i < min(s.first+s.window, s.count); i++ {
		send(s.segment(i))
	}
}

// restart begins again with the first segment.
func (s *sender) restart() { s.first, s.window, s.retries = 0, 1, 0 }

// progress is what an acknowledgement changed.
type progress uint8

const (
	noProgress progress = iota // it was a duplicate
	moved                      // the window moved
	again                      // the peer misses the start of the window
	sentAll
)

// acknowledge takes an acknowledgement.
func (s *sender) acknowledge(h apdu.Header) progress {
	if h.Window >= 1 && h.Window <= 127 && s.head.Segmented {
		defer func() { s.window = int(h.Window) }()
	}
	offset := int(h.Sequence - uint8(s.first))
	switch {
	case offset >= s.window || s.first+offset >= s.count:
		if h.Negative && h.Sequence == uint8(s.first-1) {
			return again
		}
		return noProgress
	case s.first+offset == s.count-1:
		s.first = s.count
		return sentAll
	}
	s.first += offset + 1
	s.retries = 0
	return moved
}

// receiver puts segments together (clause 5.4.4.4, 5.4.5.2).
type receiver struct {
	data    []byte
	most    int   // octets
	last    uint8 // the last segment in order
	initial uint8 // the last one that was acknowledged
	window  uint8
	nagged  bool // a missing segment was asked for
}

// newReceiver takes the first segment; false if it is not the first.
func newReceiver(h apdu.Header, payload []byte, c Config) (*receiver, bool) {
	r := &receiver{most: c.MaxMessage, window: min(max(h.Window, 1), c.Window)}
	r.data = append(r.data, payload...)
	return r, h.Sequence == 0 && h.Window > 0 && len(payload) <= r.most
}

// verdict is what to do after a segment.
type verdict uint8

const (
	wait verdict = iota
	acknowledge
	complain // a segment is missing
	complete // acknowledge, and use the data
	overflow
)

// add takes the next segment.
func (r *receiver) add(h apdu.Header, payload []byte) verdict {
	if h.Sequence != r.last+1 {
		return r.disorder(h)
	}
	if len(r.data)+len(payload) > r.most || len(payload) == 0 && h.More { // empty segments would never end
		return overflow
	}
	r.data = append(r.data, payload...)
	r.last, r.nagged = h.Sequence, false
	switch {
	case !h.More:
		return complete
	case r.last == r.initial+r.window:
		r.initial = r.last
		return acknowledge
	}
	return wait
}

// disorder judges a segment that is not the next one.
func (r *receiver) disorder(h apdu.Header) verdict {
	switch behind := r.last - h.Sequence; {
	case behind == 0:
		r.initial = r.last
		return acknowledge // the acknowledgement was lost
	case behind < 128 || r.nagged:
		return wait
	}
	r.initial, r.nagged = r.last, true
	return complain
}

// ack returns the acknowledgement of the last segment in order.
func (r *receiver) ack(id uint8, server, negative bool) []byte {
	return apdu.Append(nil, apdu.Header{
		Type: apdu.SegmentAck, Server: server, Negative: negative, InvokeID: id, Sequence: r.last, Window: r.window,
	})
}
