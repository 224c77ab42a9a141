// Package client connects agents written in Go to the bus of a node: they publish and receive live samples and other messages, call and
// serve methods, record samples durably, query the history, and report their health. Every agent has a key and a name; what it may do the
// node decides, and what it may not do comes back as fault.Refused with the capability that is missing.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// Signer is a private key that proves who connects, such as an *identity.Key.
type Signer interface {
	Public() string // the public nkey, which begins with U
	Sign(nonce []byte) ([]byte, error)
}

// Options say where the node is and who connects. Address, CA, Key and Name must be there.
type Options struct {
	Address string         // host:port of the node's bus
	CA      *x509.CertPool // who signed the node's certificate; data/tls/ca.pem
	Key     Signer         // the agent's own key
	Name    string         // the agent's name, as it is registered
	Version string         // of the agent, for people; "" for none

	// Report is called with errors that no caller waits for: a refusal that came late, messages
	// that were lost because they were not taken in time, a connection that was lost and that is
	// there again (nil). It returns soon, and may be called from several goroutines. nil: nobody.
	Report func(error)
	// Timeout is how long a call waits if its context has no deadline; 0 for 30 s.
	Timeout time.Duration
	// Handlers is how many calls to this agent run at once; 0 for 64. More wait.
	Handlers int
}

// The rhythm of reconnecting.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	dialTimeout  = 10 * time.Second
)

const (
	callTimeout  = 30 * time.Second
	leaveTimeout = time.Second // for the server to know that nobody answers calls any more
	handlers     = 64
	pendingBytes = 64 << 20 // of one subscription that is not taken in time
)

// sdkName is how this package calls itself.
const sdkName = "voltbus-go"

// Client is an agent's connection. When it is lost it comes back by itself, for ever, with all its
// subscriptions; meanwhile calls and messages fail with fault.Unreachable. Its methods are safe for
// concurrent use.
type Client struct {
	link         link
	calls        calls
	presence     presence
	methods      methods
	configs      configs
	alerts       alerts
	declarations declarations

	stopping  chan struct{} // the node asks the agent to end
	stopOnce  sync.Once
	closeOnce sync.Once
	end       context.CancelFunc
	running   sync.WaitGroup
}

var errOptions = errors.New("an agent needs the node's address, its CA, a key and a name to connect")

// Connect connects to the node and says hello. It fails with fault.Unreachable if the node does not
// answer, fault.Refused if it does not know the key, fault.Conflict if the name is connected
// already. Close it after use.
func Connect(ctx context.Context, o Options) (*Client, error) {
	const op = "client.Connect"
	if o.Address == "" || o.CA == nil || o.Key == nil || o.Name == "" {
		return nil, fault.E(op, fault.Invalid, o.Name, errOptions)
	}
	if o.Timeout == 0 {
		o.Timeout = callTimeout
	}
	if o.Handlers == 0 {
		o.Handlers = handlers
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	c := &Client{stopping: make(chan struct{})}
	c.link.opts = o
	c.link.refusals.init()
	c.calls.init(&c.link)
	c.presence.init(&c.link, &c.calls, func() { c.configs.tell(ConfigChange{Action: ConfigMissed}) })
	c.methods.init(&c.link, &c.calls, &c.presence)
	c.alerts.link = &c.link
	var err error
	if c.link.conn, err = nats.Connect("tls://"+o.Address, append(options(ctx, &o),
		nats.ErrorHandler(c.onError), nats.DisconnectErrHandler(c.onDisconnect),
		nats.ReconnectHandler(func(*nats.Conn) { signal(c.presence.fresh) }))...); err != nil {
		return nil, connectError(op, &o, err)
	}
	if err := c.open(ctx); err != nil {
		c.link.conn.Close()
		return nil, err
	}
	return c, nil
}

func options(ctx context.Context, o *Options) []nats.Option {
	timeout := dialTimeout
	if at, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(at), time.Millisecond))
	}
	return []nats.Option{
		nats.Name(o.Name), nats.Secure(&tls.Config{RootCAs: o.CA, MinVersion: tls.VersionTLS13}),
		nats.Nkey(o.Key.Public(), o.Key.Sign), nats.Timeout(timeout),
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(pause), nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // an agent that is admitted again later returns
		nats.PingInterval(20 * time.Second), nats.MaxPingsOutstanding(2),
	}
}

// pause is how long to wait before the attempt: it doubles.
func pause(attempts int) time.Duration {
	return min(firstPause<<min(attempts, 16), longestPause)
}

// connectError names why there is no connection.
func connectError(op string, o *Options, err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return fault.E(op, fault.Refused, o.Name, fmt.Errorf(
			"the node does not know the key %s, or it was revoked; register it with voltbus agent register", o.Key.Public()))
	case errors.Is(err, nats.ErrBadSubject):
		return fault.E(op, fault.Invalid, o.Name, err)
	}
	return fault.E(op, fault.Unreachable, o.Address, fmt.Errorf("no connection to the node: %w", trouble.Of(err)))
}

// open subscribes to what every agent receives, and says hello.
func (c *Client) open(ctx context.Context) error { //nolint:contextcheck // what it starts lives until Close
	const op = "client.Connect"
	self := wire.Token(c.link.opts.Name)
	for subject, receive := range map[string]nats.MsgHandler{
		c.calls.inbox + "*":             c.calls.answer,
		wire.NewsPrefix + self + ".*":   c.onNews,
		wire.CallPrefix + self + ".*.*": c.methods.onRequest,
	} {
		sub, err := c.link.conn.Subscribe(subject, receive)
		if err != nil {
			return fault.E(op, fault.Unreachable, c.link.opts.Address, trouble.Of(err))
		}
		if err := sub.SetPendingLimits(-1, pendingBytes); err != nil {
			return fault.E(op, fault.Internal, subject, err)
		}
		if strings.HasPrefix(subject, wire.CallPrefix) {
			c.methods.sub = sub
		}
	}
	if err := c.presence.hello(ctx); err != nil {
		return err
	}
	c.methods.standard()
	run, end := context.WithCancel(context.Background())
	c.end = end
	c.running.Go(func() { c.presence.attend(run) })
	return nil
}

// Close ends the connection, after what was published is sent, and waits for calls that are being
// answered. Calls that wait fail with fault.Canceled.
// Closing it again does nothing.
func (c *Client) Close() {
	c.closeOnce.Do(func() {
		c.end()
		c.methods.leave()
		if c.link.conn.IsConnected() {
			_ = c.link.conn.FlushTimeout(time.Second) // what cannot be sent any more is lost with the connection
		}
		c.link.conn.Close()
		c.calls.fail(fault.E("client.Close", fault.Canceled, c.link.opts.Name, errClosed))
		c.running.Wait()
	})
}

var errClosed = errors.New("the connection to the node was closed")

// Name returns the agent's name.
func (c *Client) Name() string { return c.link.opts.Name }

// Permissions returns what the agent may do, as the node said last. It must not be changed.
func (c *Client) Permissions() *registry.Permissions { return c.presence.standing.Load() }

// Stopping is closed when the node asks the agent to end.
func (c *Client) Stopping() <-chan struct{} { return c.stopping }

// Connected reports whether there is a connection now.
func (c *Client) Connected() bool { return c.link.conn.IsConnected() }

func (c *Client) onDisconnect(_ *nats.Conn, err error) {
	if err == nil {
		err = errClosed
	}
	lost := fault.E("client", fault.Unreachable, c.link.opts.Address, fmt.Errorf(
		"the connection to the node was lost before the answer; whether it was carried out is unknown: %w", err))
	c.calls.fail(lost)
	if !c.link.conn.IsClosed() {
		c.link.opts.Report(fault.E("client", fault.Unreachable, c.link.opts.Address, fmt.Errorf("the connection to the node was lost and comes back by itself: %w", err)))
	}
}

// onNews handles a message of the node.
func (c *Client) onNews(m *nats.Msg) {
	kind := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	switch kind {
	case wire.NewsStanding:
		signal(c.presence.renew)
	case wire.NewsStop:
		c.stopOnce.Do(func() { close(c.stopping) })
	case wire.NewsAlert:
		if err := c.alerts.answer(m.Data); err != nil {
			c.link.opts.Report(err)
		}
	case wire.NewsConfig:
		var change ConfigChange
		if err := json.Unmarshal(m.Data, &change); err != nil {
			c.link.opts.Report(fault.E("client.news", fault.Corrupt, kind, err))
			return
		}
		c.configs.tell(change)
	}
}
