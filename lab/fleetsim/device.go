package fleetsim

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// wish is a message that is due.
type wish struct {
	due    time.Time
	octets int
}

// sent is one without an answer.
type sent struct {
	id  uint16
	due time.Time
}

// device is one of a fleet. Its mutex guards all of it; run owns the connection's reading.
type device struct {
	p      *process
	number int
	shard  *shard
	config *tls.Config // nil without TLS

	mu        sync.Mutex
	session   *session.Client
	conn      net.Conn
	out       []byte
	body      []byte
	waiting   []wish
	flight    []sent
	value     uint64
	online    bool
	cut       bool // by the fleet
	subscribe bool // has to
	planned   bool // its messages are
	counted   bool // among those that are connected
}

func newDevice(p *process, number int, s *shard) *device {
	d := &device{p: p, number: number, shard: s}
	name := fmt.Sprint(p.fleet.Prefix, number)
	c := packet.Connect{Version: packet.V5, CleanStart: !p.fleet.Keep, KeepAlive: 600, ClientID: []byte(name)}
	if p.fleet.Secret != "" {
		c.UserName, c.Password = []byte(name), []byte(SecretOf(p.fleet.Secret, number))
	}
	if p.fleet.Old {
		c.Version = packet.V311
	} else if p.fleet.Keep {
		c.Properties = c.Properties.WithUint(packet.SessionExpiry, uint32(time.Hour/time.Second))
	}
	d.session = session.NewClient(c, session.Events{
		Connected: d.connected, Answered: d.answered, Ponged: d.ponged, Message: d.message, Subscribed: d.subscribed,
	})
	if p.trust != nil {
		d.config = p.trust
		if p.fleet.Resume {
			d.config = p.trust.Clone()
			d.config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		}
	}
	return d
}

// firstWait and longestWait bound how long a device waits before it connects again.
const (
	firstWait   = 50 * time.Millisecond
	longestWait = 2 * time.Second
)

// run keeps the device connected until ctx ends.
func (d *device) run(ctx context.Context) {
	wait := firstWait
	for attempt := 0; ctx.Err() == nil; attempt++ {
		was, err := d.once(ctx, attempt)
		if ctx.Err() != nil {
			return
		}
		switch was {
		case cutByFleet:
			wait = firstWait
			continue
		case served:
			d.p.lost(err)
			wait = firstWait
		default:
			d.p.failed(err)
			wait = min(2*wait, longestWait)
		}
		pause(ctx, wait/2+d.shard.jitter(wait))
	}
}

// ending is how a connection ended.
type ending int

const (
	refused    ending = iota // it was never made
	served                   // it was lost
	cutByFleet               // it was cut by order
)

// once makes a connection and reads until it ends.
func (d *device) once(ctx context.Context, attempt int) (ending, error) {
	conn, err := d.dial(ctx, attempt)
	if err != nil {
		return refused, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	if err := d.hello(conn); err != nil {
		return refused, err
	}
	was := refused
	buffer := make([]byte, 1024)
	for {
		n, err := conn.Read(buffer)
		if n > 0 {
			if bad := d.receive(buffer[:n]); bad != nil {
				err = bad
			}
		}
		if err != nil {
			if d.gone() {
				was = served
			}
			if d.wasCut() {
				was = cutByFleet
			}
			return was, err
		}
	}
}

// dial makes a network connection. Few devices do so at a time, as listeners queue few.
func (d *device) dial(ctx context.Context, attempt int) (net.Conn, error) {
	select {
	case d.p.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.p.dialing }()
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	address := d.p.fleet.Brokers[(d.number+attempt)%len(d.p.fleet.Brokers)]
	conn, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", address)
	if err != nil || d.config == nil {
		return conn, err
	}
	t := tls.Client(conn, d.config)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}

// dialTime is how long a connection may take, and dialers how many are made at a time.
const (
	dialTime = 20 * time.Second
	dialers  = 128
)

// hello sends the CONNECT.
func (d *device) hello(conn net.Conn) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conn, d.cut = conn, false
	if d.out, err = d.session.Start(time.Now(), d.out[:0]); err != nil {
		return err
	}
	return d.flush()
}

// flush writes what is to be sent. The mutex is held.
func (d *device) flush() error {
	if len(d.out) == 0 {
		return nil
	}
	_, err := d.conn.Write(d.out)
	d.out = d.out[:0]
	if cap(d.out) > 4<<10 {
		d.out = nil
	}
	return err
}

func (d *device) receive(data []byte) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out, err = d.session.Receive(time.Now(), data, d.out); err != nil {
		return err
	}
	if d.subscribe {
		d.subscribe = false
		filter := []byte(named(d.p.fleet.Filter, d.number+d.p.fleet.Offset, 0))
		s := packet.Subscribe{Subscriptions: []packet.Subscription{{Filter: filter, Options: packet.Options(d.p.fleet.QoS)}}} //nolint:gosec // 0 to 2
		if d.out, _, err = d.session.Subscribe(time.Now(), s, d.out); err != nil {
			return err
		}
	}
	d.send()
	return d.flush()
}

// connected is told of the answer to a CONNECT.
func (d *device) connected(ack *packet.Connack) {
	if ack.Code != packet.Success {
		d.p.failed(fmt.Errorf("the broker answers %v", ack.Code))
		return
	}
	d.online = true
	if d.p.fleet.QoS == 0 { // what was not answered never is
		d.flight = d.flight[:0]
	}
	if d.subscribe = d.p.fleet.Filter != "" && !ack.SessionPresent; !d.subscribe {
		d.ready()
	}
}

// ready notes that the device is connected, and has subscribed.
func (d *device) ready() {
	if !d.counted {
		d.counted = true
		d.p.online(+1)
	}
}

// subscribed is told of the answer to a SUBSCRIBE.
func (d *device) subscribed(ack *packet.Suback) {
	if len(ack.Codes) > 0 && ack.Codes[0].Failed() {
		d.p.failed(fmt.Errorf("the broker refuses the subscription: %v", ack.Codes[0]))
		return
	}
	d.ready()
}

// gone notes that the connection has ended, and reports whether it had been made.
func (d *device) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.online
	d.online = false
	if d.counted {
		d.counted = false
		d.p.online(-1)
	}
	return was
}

func (d *device) wasCut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cut
}

// sever cuts the connection as a broken link does.
func (d *device) sever() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil && d.online {
		d.cut = true
		_ = d.conn.Close()
	}
}

// answered is told of the answer to a message with QoS 1 or 2.
func (d *device) answered(id uint16, code packet.Code) {
	for i, s := range d.flight {
		if s.id == id {
			d.flight = append(d.flight[:i], d.flight[i+1:]...)
			d.shard.answered(s.due, code.Failed())
			return
		}
	}
}

// ponged is told that the broker answered a PINGREQ, which follows each message with QoS 0.
func (d *device) ponged() {
	if d.p.fleet.QoS == 0 && len(d.flight) > 0 {
		d.shard.answered(d.flight[0].due, false)
		d.flight = append(d.flight[:0], d.flight[1:]...)
	}
}

// message is told of a message of others.
func (d *device) message(p *packet.Publish) {
	if due, ok := dueOf(p.Payload); ok {
		d.shard.received(due)
	}
}

// want has the device send a message that is due.
func (d *device) want(w wish) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := !d.online || len(d.flight) >= d.p.fleet.Window
	if held && len(d.waiting) >= d.p.fleet.Patience {
		d.shard.skipped()
		return
	}
	d.waiting = append(d.waiting, w)
	d.shard.due(w.due, held)
	d.send()
	if d.conn != nil && d.online {
		_ = d.flush() // a broken connection shows when it is read
	}
}

// prime has a message wait, whatever the bounds are; kick sends it.
func (d *device) prime(w wish) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, w)
}

func (d *device) kick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.send()
	if d.conn != nil && d.online {
		_ = d.flush() // a broken connection shows when it is read
	}
}

// send appends what waits and may be sent. The mutex is held.
func (d *device) send() {
	n := 0
	for ; n < len(d.waiting) && d.online && len(d.flight) < d.p.fleet.Window; n++ {
		w := d.waiting[n]
		d.value++
		d.body = appendMessage(d.body[:0], w.due, d.value, w.octets)
		topic := named(d.p.fleet.Topic, d.number, int(d.value%uint64(d.p.fleet.Topics)))           //nolint:gosec // few
		p := packet.Publish{Topic: []byte(topic), QoS: packet.QoS(d.p.fleet.QoS), Payload: d.body} //nolint:gosec // 0 to 2
		out, id, err := d.session.Publish(time.Now(), p, d.out)
		if err != nil {
			break
		}
		if d.out = out; p.QoS == 0 {
			d.out = packet.AppendPing(d.out, packet.PINGREQ)
		}
		d.flight = append(d.flight, sent{id, w.due})
		d.shard.sent()
	}
	d.waiting = append(d.waiting[:0], d.waiting[n:]...)
}

// settled reports whether nothing waits, and how many messages have no answer.
func (d *device) settled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting) == 0 && len(d.flight) == 0
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// SecretOf is the secret of a device.
func SecretOf(secret string, number int) string { return fmt.Sprintf("%s-%08d", secret, number) }
