package peer

import (
	"crypto/tls"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Client is a connection to a node's bus from another place, over TLS and with a key of its own.
// Its methods are safe for concurrent use.
type Client struct {
	conn *nats.Conn
}

// Dial connects to a bus. report is called, from any goroutine, with what goes wrong later, such as
// messages that were lost because deliver was slow. It fails with fault.Unreachable.
func Dial(address string, config *tls.Config, key bus.Signer, report func(error)) (*Client, error) {
	conn, err := nats.Connect("tls://"+address, nats.Secure(config), nats.Nkey(key.Public(), key.Sign),
		nats.Timeout(10*time.Second),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { report(err) }))
	if err != nil {
		return nil, fault.E("bus.Dial", fault.Unreachable, address, trouble.Of(err))
	}
	return &Client{conn: conn}, nil
}

// Listen calls deliver with every message whose subject matches, from one goroutine. At most
// pending bytes wait for it, and what comes then is lost and reported; 0 sets no bound. When
// Listen has returned, the server knows the subscription. The data must not be changed.
func (c *Client) Listen(subject string, pending int, deliver func(subject string, data []byte)) error {
	sub, err := c.conn.Subscribe(subject, func(m *nats.Msg) { deliver(m.Subject, m.Data) })
	if err != nil {
		return fault.E("bus.Listen", fault.Unavailable, subject, trouble.Of(err))
	}
	if pending == 0 {
		pending = -1
	}
	if err := sub.SetPendingLimits(-1, pending); err != nil {
		return fault.E("bus.Listen", fault.Invalid, subject, err)
	}
	if err := c.conn.Flush(); err != nil {
		return fault.E("bus.Listen", fault.Unavailable, subject, trouble.Of(err))
	}
	return nil
}

// Close ends the connection. deliver may still run for a moment.
func (c *Client) Close() { c.conn.Close() }
