package transaction

import (
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/service"
)

// Request is a confirmed service to carry out.
type Request[A comparable] struct {
	Peer    A
	Limits  Limits
	Service service.Confirmed
	Payload []byte // must not change until Done
	// Done is called once with the parameters of the answer, nil for a simple acknowledgement, or
	// an error: ErrTimeout, service.Error, RejectError or AbortError. It may start other requests.
	// The parameters may refer to what Receive was given.
	Done func(answer []byte, err error)
}

// Client carries out requests.
type Client[A comparable] struct {
	config Config
	out    Output[A]
	next   uint8
	open   map[key[A]]*asked[A]
	timers deadline.Queue[*asked[A]]
}

// asked is a request that waits for its answer.
type asked[A comparable] struct {
	Request[A]

	key      key[A]
	timer    deadline.Timer[*asked[A]]
	out      *sender
	sending  bool      // segments of the request are not all acknowledged
	in       *receiver // nil: no segment of the answer arrived
	attempts int
}

// NewClient makes a client that sends through out.
func NewClient[A comparable](config Config, out Output[A]) *Client[A] {
	return &Client[A]{config: config.withDefaults(), out: out, open: map[key[A]]*asked[A]{}}
}

// Open returns how many requests wait for an answer.
func (c *Client[A]) Open() int { return len(c.open) }

// Next returns when Tick has something to do; the zero time means never.
func (c *Client[A]) Next() time.Time { return c.timers.Next() }

// Start sends a request. ErrBusy and ErrTooLong are returned at once, without a call of Done.
func (c *Client[A]) Start(now time.Time, r Request[A]) error {
	id, ok := c.freeID(r.Peer)
	if !ok {
		return ErrBusy
	}
	out, err := newSender(apdu.Header{
		Type: apdu.ConfirmedRequest, SegmentedAccepted: true, MaxSegments: apdu.MoreSegments,
		MaxAPDU: apdu.MaxAPDUOf(c.config.MaxAPDU), InvokeID: id, Service: uint8(r.Service),
	}, r.Payload, r.Limits, c.config.Window)
	if err != nil {
		return err
	}
	t := &asked[A]{Request: r, key: key[A]{r.Peer, id}, out: out}
	t.timer.Owner = t
	c.open[t.key] = t
	c.send(now, t)
	return nil
}

// freeID returns an invoke id that no open request to the peer has. Ids go round over all
// peers, so that an answer that comes late meets no new request.
func (c *Client[A]) freeID(peer A) (uint8, bool) {
	for range 256 {
		id := c.next
		c.next++
		if _, used := c.open[key[A]{peer, id}]; !used {
			return id, true
		}
	}
	return 0, false
}

// send begins an attempt.
func (c *Client[A]) send(now time.Time, t *asked[A]) {
	t.out.restart()
	t.in, t.sending = nil, t.out.head.Segmented
	c.emit(t)
	c.arm(now, t)
}

func (c *Client[A]) emit(t *asked[A]) {
	t.out.fill(func(message []byte) { c.out.Send(t.Peer, message, true) })
}

// arm sets the timer for what the transaction waits for.
func (c *Client[A]) arm(now time.Time, t *asked[A]) {
	wait := c.config.Timeout
	if t.Limits.Timeout > 0 {
		wait = t.Limits.Timeout
	}
	switch {
	case t.in != nil:
		wait = 4 * c.config.SegmentTimeout
	case t.sending:
		wait = c.config.SegmentTimeout
	}
	c.timers.Set(&t.timer, now.Add(wait))
}

// Tick repeats or ends what is due.
func (c *Client[A]) Tick(now time.Time) {
	for t := c.timers.Due(now); t != nil; t = c.timers.Due(now) {
		c.expire(now, t.Owner)
	}
}

func (c *Client[A]) expire(now time.Time, t *asked[A]) {
	switch {
	case t.in != nil: // segments of the answer stopped
		c.finish(t, nil, ErrTimeout)
	case t.sending && t.out.retries < c.retries(t):
		t.out.retries++
		c.emit(t)
		c.arm(now, t)
	case !t.sending && t.attempts < c.retries(t):
		t.attempts++
		c.send(now, t)
	default:
		c.finish(t, nil, ErrTimeout)
	}
}

// retries returns how often a request is repeated.
func (c *Client[A]) retries(t *asked[A]) int {
	if t.Limits.Retries != 0 {
		return max(t.Limits.Retries, 0)
	}
	return c.config.Retries
}

func (c *Client[A]) finish(t *asked[A], answer []byte, err error) {
	c.timers.Stop(&t.timer)
	delete(c.open, t.key)
	t.Done(answer, err)
}

// Cancel ends all requests to a peer with an error.
func (c *Client[A]) Cancel(peer A, err error) {
	for k, t := range c.open {
		if k.peer == peer {
			c.finish(t, nil, err)
		}
	}
}

// CancelAll ends all requests with an error.
func (c *Client[A]) CancelAll(err error) {
	for _, t := range c.open {
		c.finish(t, nil, err)
	}
}

// Receive takes an APDU for a client: an answer, or an acknowledgement of a server. It reports
// whether there is such a request of the peer.
func (c *Client[A]) Receive(now time.Time, from A, h apdu.Header, payload []byte) bool {
	t := c.open[key[A]{from, h.InvokeID}]
	if t == nil {
		if h.Type == apdu.ComplexAck && h.Segmented { // clause 5.4.4.1, UnexpectedSegmentReceived
			c.out.Send(from, appendAbort(h.InvokeID, false, enum.AbortInvalidAPDUInThisState), false)
		}
		return false
	}
	switch h.Type {
	case apdu.SimpleAck, apdu.ComplexAck, apdu.Error:
		if service.Confirmed(h.Service) != t.Service {
			return false // a late answer to an earlier request
		}
		c.answer(now, t, h, payload)
	case apdu.Reject:
		c.finish(t, nil, RejectError{enum.RejectReason(h.Service)})
	case apdu.Abort:
		if h.Server {
			c.finish(t, nil, AbortError{Reason: enum.AbortReason(h.Service)})
		}
	case apdu.SegmentAck:
		if h.Server {
			c.acknowledged(now, t, h)
		}
	default:
		return false
	}
	return true
}

func (c *Client[A]) answer(now time.Time, t *asked[A], h apdu.Header, payload []byte) {
	switch {
	case h.Type == apdu.SimpleAck:
		c.finish(t, nil, nil)
	case h.Type == apdu.Error:
		e, err := service.DecodeError(payload)
		if err != nil {
			c.finish(t, nil, err)
			return
		}
		c.finish(t, nil, e)
	case !h.Segmented:
		c.finish(t, payload, nil)
	default:
		c.segment(now, t, h, payload)
	}
}

// segment takes a segment of the answer (clause 5.4.4.3 and 5.4.4.4).
func (c *Client[A]) segment(now time.Time, t *asked[A], h apdu.Header, payload []byte) {
	if t.in == nil {
		in, ok := newReceiver(h, payload, c.config)
		if !ok {
			return // the first segment was lost: the device or we try again
		}
		t.in, t.sending = in, false
		c.out.Send(t.Peer, in.ack(h.InvokeID, false, false), false)
		if !h.More {
			c.finish(t, in.data, nil)
			return
		}
		c.arm(now, t)
		return
	}
	before := t.in.last
	switch v := t.in.add(h, payload); v {
	case complete:
		c.out.Send(t.Peer, t.in.ack(h.InvokeID, false, false), false)
		c.finish(t, t.in.data, nil)
		return
	case overflow:
		c.out.Send(t.Peer, appendAbort(h.InvokeID, false, enum.AbortBufferOverflow), false)
		c.finish(t, nil, AbortError{Reason: enum.AbortBufferOverflow, Ours: true})
		return
	case acknowledge, complain:
		c.out.Send(t.Peer, t.in.ack(h.InvokeID, false, v == complain), false)
	case wait:
	}
	if t.in.last != before {
		c.arm(now, t)
	}
}

// acknowledged takes an acknowledgement of segments of the request (clause 5.4.4.2).
func (c *Client[A]) acknowledged(now time.Time, t *asked[A], h apdu.Header) {
	if !t.sending {
		return
	}
	switch t.out.acknowledge(h) {
	case sentAll:
		t.sending = false
	case moved:
		c.emit(t)
	case again:
		if t.out.retries >= c.retries(t) {
			return
		}
		t.out.retries++
		c.emit(t)
	case noProgress:
		return
	}
	c.arm(now, t)
}
