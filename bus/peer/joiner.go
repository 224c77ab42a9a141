// Package peer connects to the buses of other nodes: for a few requests, as a child, and as a listener.
package peer

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// Joiner is a connection to another node's bus that asks that node for a few things and ends: it does
// not come back when it is lost. Its methods are safe for concurrent use.
type Joiner struct {
	conn  *nats.Conn
	name  string
	ended chan struct{}
}

const (
	joinTimeout = 10 * time.Second
	silentPings = 2                // a connection that was cut without a word is found dead after one more
	joinSilence = 30 * time.Second //  after which a connection that was cut without a word is noticed
)

// Join connects to a node. config says which node it must be, and name is the caller, such as
// "+" and the ID of an invitation. It fails with fault.Unreachable if nobody answers, and with
// fault.Refused if another node answers, or the node does not know the key. Close it after use.
func Join(ctx context.Context, address string, config *tls.Config, key bus.Signer, name string) (*Joiner, error) {
	return join(ctx, Way{address, config, joinSilence}, key, name)
}

// Way is how another node is reached.
type Way struct {
	Address string
	TLS     *tls.Config // says which node it must be
	// Silence is how long the node may be silent before the connection ends; 0 for 30 s.
	Silence time.Duration
}

func join(ctx context.Context, to Way, key bus.Signer, name string) (*Joiner, error) {
	const op = "bus.Join"
	timeout := joinTimeout
	if end, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(end), time.Millisecond))
	}
	j := &Joiner{name: name, ended: make(chan struct{})}
	road := &dialer{ctx: ctx, timeout: timeout}
	var err error
	j.conn, err = nats.Connect("tls://"+to.Address, nats.Secure(to.TLS), nats.Nkey(key.Public(), key.Sign), nats.Timeout(timeout),
		nats.SetCustomDialer(road), nats.SkipHostLookup(),
		nats.NoReconnect(), nats.PingInterval(cmp.Or(to.Silence, joinSilence)/(silentPings+1)), nats.MaxPingsOutstanding(silentPings), nats.Name(name), nats.CustomInboxPrefix(wire.InboxPrefix+wire.Token(name)+"."+rand.Text()),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // who asks hears it
		nats.ClosedHandler(func(*nats.Conn) { close(j.ended) }))
	if lost := !road.release(); err == nil && !lost {
		return j, nil
	}
	if err == nil { // just before ctx ended
		j.Close()
		err = ctx.Err()
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, fault.E(op, fault.Canceled, to.Address, ctx.Err())
	}
	if refusal, ok := errors.AsType[*fault.Error](err); ok { // of the certificate
		return nil, refusal
	}
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) {
		return nil, fault.E(op, fault.Refused, to.Address, errStranger)
	}
	if road.made {
		return nil, fault.E(op, fault.Unreachable, to.Address, fmt.Errorf(
			"something answers there, but no connection came about: %w; the node may be starting or very busy: try again in a moment. If it stays, look whether it listens there (listen.bus), and whether something between lets no TLS pass", err))
	}
	return nil, fault.E(op, fault.Unreachable, to.Address, fmt.Errorf(
		"no connection to the node: %w; look whether it runs and listens there (listen.bus), and whether a firewall lets this one out", err))
}

// road is the context in which a connection is made: it ends with ctx, or when the other end does not answer.
type dialer struct {
	ctx     context.Context //nolint:containedctx // of the call that makes the connection
	timeout time.Duration
	made    bool // somebody answers at the address
	stop    func() bool
}

// Dial implements nats.CustomDialer.
func (r *dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: r.timeout}).DialContext(r.ctx, network, address)
	if err != nil {
		return nil, err
	}
	r.made, r.stop = true, context.AfterFunc(r.ctx, func() { _ = conn.Close() })
	return conn, nil
}

// release lets the connection live without ctx; false if that ended it.
func (r *dialer) release() bool { return r.stop == nil || r.stop() }

var (
	errStranger   = errors.New("the node does not know this code or key")
	errSilentNode = errors.New("the node answers nothing yet: it is starting or stopping; ask again in a moment")
)

// Ask asks the node for something, with a body and an answer in JSON. What goes wrong there is a
// *wire.Failure; fault.Unreachable says that the connection is lost, fault.Timeout that ctx ended.
func (j *Joiner) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	const op = "bus.Ask"
	m, err := j.conn.RequestWithContext(ctx, wire.CallSubject(wire.NodeName, j.name, method), body)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, fault.E(op, fault.KindOf(ctx.Err()), method, fmt.Errorf("the node does not answer; whether it did it is unknown: %w", ctx.Err()))
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fault.E(op, fault.Unreachable, method, errSilentNode)
	default:
		return nil, fault.E(op, fault.Unreachable, method, fmt.Errorf("the connection to the node was lost: %w", trouble.Of(err)))
	}
	reply, err := wire.ParseReply(m.Data)
	if err != nil {
		return nil, fault.E(op, fault.Corrupt, method, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if f := reply.Error; f != nil {
		kind, known := fault.ParseKind(f.Kind)
		if !known {
			kind = fault.Internal
		}
		return nil, fault.E(op, kind, f.Subject, f)
	}
	return reply.Result, nil
}

// Ended is closed when the connection has ended.
func (j *Joiner) Ended() <-chan struct{} { return j.ended }

// Close ends the connection.
func (j *Joiner) Close() { j.conn.Close() }
