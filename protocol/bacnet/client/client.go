package client

import (
	"context"
	"sync"
	"time"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/internal/deadline"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Client talks to devices. It may be used by several goroutines.
type Client struct {
	config Config
	port   *ip.Port

	mu       sync.Mutex
	closed   bool
	requests *transaction.Client[ip.Address]
	answers  *transaction.Server[ip.Address]
	peers    map[ip.Address]*peer
	inFlight int
	ready    []*peer // wait until fewer requests are under way
	paced    deadline.Queue[*peer]
	renewals deadline.Queue[*Subscription]
	subs     map[uint32]*Subscription
	process  uint32
	began    time.Time // from which the places of renewals count
	scans    map[*scan]struct{}
	timer    *time.Timer
	armed    time.Time // when the timer fires
}

// Remote is a device that a client asks.
type Remote struct {
	Device

	client *Client
}

// At returns a device to be asked.
func (c *Client) At(d Device) Remote { return Remote{Device: d, client: c} }

// Client returns the client that asks the device.
func (d Remote) Client() *Client { return d.client }

// Open opens the socket of a client. Close ends it.
func Open(ctx context.Context, config Config) (*Client, error) {
	if config.MaxInFlight <= 0 {
		config.MaxInFlight = 256
	}
	if config.MaxQueue <= 0 {
		config.MaxQueue = 4096
	}
	c := &Client{config: config, began: time.Now(), peers: map[ip.Address]*peer{}, subs: map[uint32]*Subscription{}, scans: map[*scan]struct{}{}}
	c.requests = transaction.NewClient(config.Transaction, (*output)(c))
	c.answers = transaction.NewServer(config.Transaction, (*output)(c), c.asked)
	c.timer = time.AfterFunc(time.Hour, c.tick)
	c.timer.Stop()
	c.config.IP.Handler = c.receive
	c.mu.Lock() // nothing is received before the port is known
	defer c.mu.Unlock()
	port, err := ip.Open(ctx, c.config.IP)
	if err != nil {
		return nil, err
	}
	c.port = port
	return c, nil
}

// Close ends all requests with ErrClosed and closes the socket. Subscriptions are not cancelled:
// they end by themselves.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.timer.Stop()
	for _, p := range c.peers {
		p.fail(ErrClosed)
	}
	c.requests.CancelAll(ErrClosed)
	c.mu.Unlock()
	return c.port.Close()
}

// Port returns the socket.
func (c *Client) Port() *ip.Port { return c.port }

// output sends for the transactions. It is the client under another name, to keep Send out of the
// client's methods.
type output Client

// Send sends an APDU; what cannot be sent is repeated as if it were lost.
func (o *output) Send(to ip.Address, message []byte, reply bool) {
	_ = o.port.Send(to, message, reply)
}

// tick does what is due.
func (c *Client) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.armed = time.Time{}
	now := time.Now()
	c.requests.Tick(now)
	c.answers.Tick(now)
	for t := c.paced.Due(now); t != nil; t = c.paced.Due(now) {
		c.pump(now, t.Owner)
	}
	for t := c.renewals.Due(now); t != nil; t = c.renewals.Due(now) {
		t.Owner.renew(now)
	}
	c.arm(now)
}

// arm sets the timer to the next deadline. A timer that fires too early does no harm.
func (c *Client) arm(now time.Time) {
	next := deadline.Earlier(c.requests.Next(), c.answers.Next())
	next = deadline.Earlier(deadline.Earlier(next, c.paced.Next()), c.renewals.Next())
	if next.IsZero() || !c.armed.IsZero() && !next.Before(c.armed) || c.closed {
		return
	}
	c.armed = next
	c.timer.Reset(max(next.Sub(now), 0))
}

// receive takes an application message.
func (c *Client) receive(m ip.Message) {
	h, payload, err := apdu.Parse(m.APDU)
	if err != nil {
		return
	}
	if h.Type == apdu.UnconfirmedRequest {
		c.unconfirmed(m, service.Unconfirmed(h.Service), payload)
		return
	}
	if m.Broadcast {
		return // confirmed services are not broadcast
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	switch h.Type {
	case apdu.ConfirmedRequest:
		c.answers.Receive(now, m.From, h, payload)
	case apdu.SegmentAck, apdu.Abort:
		if !h.Server {
			c.answers.Receive(now, m.From, h, payload)
			break
		}
		c.requests.Receive(now, m.From, h, payload)
	default:
		c.requests.Receive(now, m.From, h, payload)
	}
	c.arm(now)
}

func (c *Client) unconfirmed(m ip.Message, s service.Unconfirmed, payload []byte) {
	switch s {
	case service.IAm:
		if a, err := service.DecodeAnnouncement(payload); err == nil {
			c.announced(Device{
				Address: m.From, Instance: a.Device.Instance, MaxAPDU: int(min(a.MaxAPDU, 1476)),
				Segmentation: a.Segmentation, Vendor: a.Vendor,
			})
		}
	case service.UnconfirmedCOVNotification:
		if n, err := service.DecodeNotification(payload); err == nil {
			c.notified(m.From, n)
		}
	case service.UnconfirmedEventNotification:
		if n, err := service.DecodeEventNotification(payload); err == nil && c.config.Event != nil {
			c.config.Event(m.From, n)
		}
	default:
	}
	if c.config.Unconfirmed != nil {
		c.config.Unconfirmed(m, s, payload)
	}
}

// asked answers a request to us. The lock is held.
func (c *Client) asked(now time.Time, i transaction.Indication[ip.Address]) {
	var r transaction.Response
	switch {
	case i.Service == service.ConfirmedCOVNotification:
		r = c.confirmedNotification(i)
	case i.Service == service.ConfirmedEventNotification && c.config.Event != nil:
		n, err := service.DecodeEventNotification(i.Payload)
		if err != nil {
			r = transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectInvalidTag)}
			break
		}
		r = transaction.Response{Type: apdu.SimpleAck}
		c.mu.Unlock()
		c.config.Event(i.Peer, n)
		c.mu.Lock()
	case c.config.Serve != nil:
		c.mu.Unlock()
		c.config.Serve(i)
		c.mu.Lock()
		return
	default:
		r = transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)}
	}
	c.answers.Respond(now, i.Peer, i.InvokeID, r)
}

// Respond answers a request that Serve was given.
func (c *Client) Respond(i transaction.Indication[ip.Address], r transaction.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	now := time.Now()
	c.answers.Respond(now, i.Peer, i.InvokeID, r)
	c.arm(now)
}

func deviceID(instance uint32) encoding.ObjectID {
	return encoding.ObjectID{Type: enum.Device, Instance: instance}
}
