// Package client is what agents written in Go use to be on the bus of a node: they publish and
// receive live samples and free messages, call methods of other agents and answer calls, record
// samples durably, read the history, and say how they are. Every agent has a key and a name; what
// it may do the node decides, and what it may not do comes back as fault.Refused with the
// capability that is missing.
package client

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/api/answer"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/identity"
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

	// Report is told what goes wrong where nobody waits for it: a refusal that came late, messages
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
	opts  Options
	conn  *nats.Conn
	inbox string // the subject before the number of a call

	calls        calls
	declarations declarations
	refusals     refusals
	methods      methods
	configs      configs
	alerts       alerts

	standing  atomic.Pointer[identity.Standing]
	fresh     chan struct{} // a new connection, holds one
	renew     chan struct{} // the standing changed, holds one
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
	c := &Client{
		opts: o, inbox: wire.InboxPrefix + wire.Token(o.Name) + "." + rand.Text() + ".",
		fresh: make(chan struct{}, 1), renew: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
	c.calls.init()
	c.refusals.init()
	c.methods.init(o.Handlers)
	c.standing.Store(&identity.Standing{})
	var err error
	if c.conn, err = nats.Connect("tls://"+o.Address, c.options(ctx)...); err != nil {
		return nil, c.connectError(op, err)
	}
	if err := c.open(ctx); err != nil {
		c.conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) options(ctx context.Context) []nats.Option {
	timeout := dialTimeout
	if at, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(at), time.Millisecond))
	}
	return []nats.Option{
		nats.Name(c.opts.Name), nats.Secure(&tls.Config{RootCAs: c.opts.CA, MinVersion: tls.VersionTLS13}),
		nats.Nkey(c.opts.Key.Public(), c.opts.Key.Sign), nats.Timeout(timeout),
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(pause), nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // an agent that is admitted again later returns
		nats.ErrorHandler(c.onError), nats.DisconnectErrHandler(c.onDisconnect),
		nats.ReconnectHandler(func(*nats.Conn) { signal(c.fresh) }),
		nats.PingInterval(20 * time.Second), nats.MaxPingsOutstanding(2),
	}
}

// pause is how long to wait before the attempt: it doubles.
func pause(attempts int) time.Duration {
	return min(firstPause<<min(attempts, 16), longestPause)
}

// connectError names why there is no connection.
func (c *Client) connectError(op string, err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return fault.E(op, fault.Refused, c.opts.Name, fmt.Errorf(
			"the node does not know the key %s, or it was revoked; register it with voltbus agent register", c.opts.Key.Public()))
	case errors.Is(err, nats.ErrBadSubject):
		return fault.E(op, fault.Invalid, c.opts.Name, err)
	}
	return fault.E(op, fault.Unreachable, c.opts.Address, fmt.Errorf("no connection to the node: %w", trouble.Of(err)))
}

// open subscribes to what every agent hears, and says hello.
func (c *Client) open(ctx context.Context) error { //nolint:contextcheck // what it starts lives until Close
	const op = "client.Connect"
	self := wire.Token(c.opts.Name)
	for subject, receive := range map[string]nats.MsgHandler{
		c.inbox + "*":                   c.calls.answer,
		wire.NewsPrefix + self + ".*":   c.onNews,
		wire.CallPrefix + self + ".*.*": c.onRequest,
	} {
		sub, err := c.conn.Subscribe(subject, receive)
		if err != nil {
			return fault.E(op, fault.Unreachable, c.opts.Address, trouble.Of(err))
		}
		if err := sub.SetPendingLimits(-1, pendingBytes); err != nil {
			return fault.E(op, fault.Internal, subject, err)
		}
		if strings.HasPrefix(subject, wire.CallPrefix) {
			c.methods.sub = sub
		}
	}
	if err := c.hello(ctx); err != nil {
		return err
	}
	c.methods.standard(c)
	run, end := context.WithCancel(context.Background())
	c.end = end
	c.running.Go(func() { c.attend(run) })
	return nil
}

// Close ends the connection, after what was published is sent, and waits for calls that are being
// answered. Calls that wait fail with fault.Canceled.
// Closing it again does nothing.
func (c *Client) Close() { c.closeOnce.Do(c.close) }

func (c *Client) close() {
	c.end()
	c.leave()
	if c.conn.IsConnected() {
		_ = c.conn.FlushTimeout(time.Second) // what cannot be sent any more is lost with the connection
	}
	c.conn.Close()
	c.calls.fail(fault.E("client.Close", fault.Canceled, c.opts.Name, errClosed))
	c.running.Wait()
}

// leave ends the answering of calls: whoever calls from now on hears that nobody is there.
func (c *Client) leave() {
	gone := make(chan struct{})
	c.methods.sub.SetClosedHandler(func(string) { close(gone) })
	err := c.methods.sub.Drain() // what came already is answered: that it is too late
	c.methods.close()
	if err != nil || !c.conn.IsConnected() {
		return
	}
	select {
	case <-gone:
	case <-time.After(leaveTimeout):
	}
}

var errClosed = errors.New("the connection to the node was closed")

// Name returns the agent's name.
func (c *Client) Name() string { return c.opts.Name }

// Standing returns what the agent may do, as the node said last. It must not be changed.
func (c *Client) Standing() *identity.Standing { return c.standing.Load() }

// Stopping is closed when the node asks the agent to end.
func (c *Client) Stopping() <-chan struct{} { return c.stopping }

// Connected reports whether there is a connection now.
func (c *Client) Connected() bool { return c.conn.IsConnected() }

func (c *Client) onDisconnect(_ *nats.Conn, err error) {
	if err == nil {
		err = errClosed
	}
	lost := fault.E("client", fault.Unreachable, c.opts.Address, fmt.Errorf(
		"the connection to the node was lost before the answer; whether it was carried out is unknown: %w", err))
	c.calls.fail(lost)
	if !c.conn.IsClosed() {
		c.opts.Report(fault.E("client", fault.Unreachable, c.opts.Address, fmt.Errorf("the connection to the node was lost and comes back by itself: %w", err)))
	}
}

// hello says who connected, and keeps the standing.
func (c *Client) hello(ctx context.Context) error {
	var h answer.Hello
	host, pid := whoami()
	if err := c.Node(ctx, "hello", map[string]any{"sdk": sdkName, "pid": pid, "host": host, "version": c.opts.Version}, &h); err != nil {
		return err
	}
	c.standing.Store(&h.Standing)
	return nil
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
