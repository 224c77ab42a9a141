package transaction

import (
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/service"
)

// Indication is a request that arrived whole.
type Indication[A comparable] struct {
	Peer     A
	InvokeID uint8
	Service  service.Confirmed
	Payload  []byte // may refer to what Receive was given
	// Limits is what the client takes as an answer.
	Limits Limits
}

// Response is the answer to a request.
type Response struct {
	Type    apdu.Type // SimpleAck, ComplexAck, Error, Reject or Abort
	Reason  uint8     // of Reject and Abort
	Payload []byte    // of ComplexAck and Error; must not change until it is sent
}

// Server answers requests.
type Server[A comparable] struct {
	config   Config
	out      Output[A]
	indicate func(now time.Time, i Indication[A])
	open     map[key[A]]*served[A]
	timers   deadline.Queue[*served[A]]
}

// answerLimit is how long a request may wait for Respond.
const answerLimit = time.Minute

// served is a request that is received or answered.
type served[A comparable] struct {
	Indication[A]

	key   key[A]
	timer deadline.Timer[*served[A]]
	in    *receiver // segments of the request; it stays while the answer is made
	whole bool      // the request is complete
	out   *sender   // segments of the answer
}

// NewServer makes a server. It calls indicate for each request; the answer is given to Respond,
// within indicate or later.
func NewServer[A comparable](config Config, out Output[A], indicate func(now time.Time, i Indication[A])) *Server[A] {
	return &Server[A]{config: config.withDefaults(), out: out, indicate: indicate, open: map[key[A]]*served[A]{}}
}

// Open returns how many requests are not answered completely.
func (s *Server[A]) Open() int { return len(s.open) }

// Next returns when Tick has something to do; the zero time means never.
func (s *Server[A]) Next() time.Time { return s.timers.Next() }

// Receive takes an APDU for a server: a confirmed request, or an acknowledgement or abort of a
// client.
func (s *Server[A]) Receive(now time.Time, from A, h apdu.Header, payload []byte) {
	k := key[A]{from, h.InvokeID}
	t := s.open[k]
	switch {
	case h.Type == apdu.ConfirmedRequest && t == nil:
		s.begin(now, k, h, payload)
	case h.Type == apdu.ConfirmedRequest && h.Segmented && t.in != nil:
		s.segment(now, t, h, payload)
	case t == nil || h.Server:
	case h.Type == apdu.Abort:
		s.drop(t)
	case h.Type == apdu.SegmentAck && t.out != nil:
		s.acknowledged(now, t, h)
	}
}

// begin takes a request, or its first segment.
func (s *Server[A]) begin(now time.Time, k key[A], h apdu.Header, payload []byte) {
	if len(s.open) >= s.config.MaxServed {
		s.abort(k, enum.AbortOutOfResources)
		return
	}
	t := &served[A]{key: k, Indication: Indication[A]{
		Peer: k.peer, InvokeID: k.id, Service: service.Confirmed(h.Service), Payload: payload,
		Limits: Limits{MaxAPDU: h.MaxAPDU.Octets(), Segments: h.SegmentedAccepted, MaxSegments: h.MaxSegments.Count()},
	}}
	t.timer.Owner = t
	if !h.Segmented {
		s.open[k] = t
		s.ask(now, t)
		return
	}
	in, ok := newReceiver(h, payload, s.config)
	if !ok {
		s.abort(k, enum.AbortInvalidAPDUInThisState)
		return
	}
	t.in, s.open[k] = in, t
	s.out.Send(k.peer, in.ack(k.id, true, false), true)
	if !h.More {
		s.assembled(now, t)
		return
	}
	s.timers.Set(&t.timer, now.Add(4*s.config.SegmentTimeout))
}

func (s *Server[A]) assembled(now time.Time, t *served[A]) {
	s.timers.Stop(&t.timer)
	t.Payload = t.in.data
	s.ask(now, t)
}

// ask hands a whole request on. It is forgotten when nobody answers it.
func (s *Server[A]) ask(now time.Time, t *served[A]) {
	t.whole = true
	s.indicate(now, t.Indication)
	if s.open[t.key] == t && t.out == nil {
		s.timers.Set(&t.timer, now.Add(answerLimit))
	}
}

// segment takes another segment of a request.
func (s *Server[A]) segment(now time.Time, t *served[A], h apdu.Header, payload []byte) {
	if t.whole {
		if h.Sequence == t.in.last { // the acknowledgement was lost
			s.out.Send(t.Peer, t.in.ack(h.InvokeID, true, false), false)
		}
		return
	}
	before := t.in.last
	switch v := t.in.add(h, payload); v {
	case complete:
		s.out.Send(t.Peer, t.in.ack(h.InvokeID, true, false), false)
		s.assembled(now, t)
		return
	case overflow:
		s.drop(t)
		s.abort(t.key, enum.AbortBufferOverflow)
		return
	case acknowledge, complain:
		s.out.Send(t.Peer, t.in.ack(h.InvokeID, true, v == complain), true)
	case wait:
	}
	if t.in.last != before {
		s.timers.Set(&t.timer, now.Add(4*s.config.SegmentTimeout))
	}
}

// Respond answers a request. It does nothing when the request is answered or was aborted.
func (s *Server[A]) Respond(now time.Time, peer A, id uint8, r Response) {
	t := s.open[key[A]{peer, id}]
	if t == nil || !t.whole || t.out != nil {
		return
	}
	h := apdu.Header{Type: r.Type, InvokeID: id, Service: uint8(t.Service), Server: r.Type == apdu.Abort}
	if r.Type == apdu.Reject || r.Type == apdu.Abort {
		h.Service = r.Reason
	}
	if r.Type != apdu.ComplexAck {
		s.drop(t)
		s.out.Send(peer, append(apdu.Append(nil, h), r.Payload...), false)
		return
	}
	out, err := newSender(h, r.Payload, t.Limits, s.config.Window)
	if err != nil {
		reason := enum.AbortSegmentationNotSupported
		if t.Limits.Segments {
			reason = enum.AbortBufferOverflow
		}
		s.drop(t)
		s.abort(t.key, reason)
		return
	}
	if t.out = out; !out.head.Segmented {
		s.drop(t)
		s.out.Send(peer, out.segment(0), false)
		return
	}
	s.emit(now, t)
}

// emit sends the window and waits for its acknowledgement.
func (s *Server[A]) emit(now time.Time, t *served[A]) {
	t.out.fill(func(message []byte) { s.out.Send(t.Peer, message, true) })
	s.timers.Set(&t.timer, now.Add(s.config.SegmentTimeout))
}

// acknowledged takes an acknowledgement of segments of the answer (clause 5.4.5.4).
func (s *Server[A]) acknowledged(now time.Time, t *served[A], h apdu.Header) {
	switch t.out.acknowledge(h) {
	case sentAll:
		s.drop(t)
	case moved:
		s.emit(now, t)
	case again:
		if t.out.retries < s.config.Retries {
			t.out.retries++
			s.emit(now, t)
		}
	case noProgress:
	}
}

// Tick repeats or ends what is due.
func (s *Server[A]) Tick(now time.Time) {
	for due := s.timers.Due(now); due != nil; due = s.timers.Due(now) {
		t := due.Owner
		if t.out == nil || t.out.retries >= s.config.Retries {
			s.drop(t)
			continue
		}
		t.out.retries++
		s.emit(now, t)
	}
}

func (s *Server[A]) drop(t *served[A]) {
	s.timers.Stop(&t.timer)
	delete(s.open, t.key)
}

func (s *Server[A]) abort(k key[A], reason enum.AbortReason) {
	s.out.Send(k.peer, appendAbort(k.id, true, reason), false)
}
