// Package client is a client of OPC UA servers over opc.tcp (OPC 10000-6, UA TCP and UA Secure Conversation): a connection with a
// secure channel and a session. Types and their encoding, and the algorithms of security policies, are those of
// github.com/gopcua/opcua.
//
//   - frame.go and secure.go are chunks of messages, conn.go sends requests and gets answers, renew.go opens the channel and
//     renews its keys.
//   - session.go is the session of a user, endpoint.go asks what a server offers, certificate.go makes the client's own.
//
// A message that cannot be decoded ends the connection, not the process.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// ErrLost says that the connection has ended; it wraps the reason.
var ErrLost = errors.New("the connection is lost")

// ErrTimeout says that the server did not answer in time.
var ErrTimeout = errors.New("the server does not answer in time")

// Options are how a server is reached.
type Options struct {
	Endpoint string // the URL that the server knows itself by
	Address  string // host:port to connect to
	Security Security
	Timeout  time.Duration // of one request
	Lifetime time.Duration // of a key; 1h if 0
	// Published takes each answer to a Publish request, in the order in which they come. It does not wait.
	Published func(*ua.PublishResponse)
}

// Conn is a connection with an open secure channel. All methods may be called by any goroutine.
type Conn struct {
	opts   Options
	tcp    net.Conn
	limits limits
	done   chan struct{} // the reader has ended
	lost   chan struct{} // closed when the connection has ended

	sending  sync.Mutex // guards the rest of this block, and the order of chunks
	sequence uint32
	channel  uint32
	out      *key

	renewing sync.Mutex // one renewal at a time

	mu      sync.Mutex // guards what follows
	err     error
	request uint32
	waiting map[uint32]chan answer
	opening *opening // of the renewal under way
	in      keyring
	parts   map[uint32]*parts
	partial int // bytes in parts
	session session
}

// key is a security token with its algorithms.
type key struct {
	token   uint32
	algo    *uapolicy.EncryptionAlgorithm
	renewAt time.Time
}

type answer struct {
	resp ua.Response
	err  error
}

// parts are the chunks so far of a message.
type parts struct {
	body []byte
	n    int
}

// Dial connects, and opens a secure channel.
func Dial(ctx context.Context, opts Options) (*Conn, error) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	tcp, err := d.DialContext(ctx, "tcp", opts.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	l, err := hello(tcp, opts.Endpoint)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = tcp.Close()
		return nil, explainEnd(err)
	}
	c := &Conn{
		opts: opts, tcp: tcp, limits: l, done: make(chan struct{}), lost: make(chan struct{}),
		waiting: make(map[uint32]chan answer), in: make(keyring), parts: make(map[uint32]*parts),
	}
	go c.receive()
	if err := c.open(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// explainEnd says what the end of a connection during its beginning means.
func explainEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the server ended the connection at once: check that the port is that of an OPC UA server")
	}
	return err
}

// Lost is closed when the connection has ended.
func (c *Conn) Lost() <-chan struct{} { return c.lost }

// Err returns why the connection has ended, nil while it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// End ends the connection for a reason, without waiting.
func (c *Conn) End(why error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = fmt.Errorf("%w: %w", ErrLost, why)
		close(c.lost)
	}
	c.mu.Unlock()
	_ = c.tcp.Close()
}

var errClosed = errors.New("it was closed")

// Close ends the connection. The server notices it by the end of the TCP connection; CloseSession tells it before.
func (c *Conn) Close() error {
	c.End(errClosed)
	<-c.done
	return nil
}

// Do sends a request and returns its answer. A service result that is bad is returned as ua.StatusCode; other errors are ErrLost,
// ErrTimeout and that of ctx.
func (c *Conn) Do(ctx context.Context, req ua.Request, timeout time.Duration) (ua.Response, error) {
	if err := c.renew(ctx); err != nil {
		return nil, err
	}
	return c.exchange(ctx, req, timeout, c.send)
}

// exchange registers a request, sends it with send, and waits.
func (c *Conn) exchange(ctx context.Context, req ua.Request, timeout time.Duration, send func(id uint32, body []byte, limit time.Time) error) (ua.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, ch, err := c.register(req, timeout)
	if err != nil {
		return nil, err
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	body, err := encode(req)
	if err != nil {
		return nil, err
	}
	if err := send(id, body, time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case a := <-ch:
		return a.resp, a.err
	case <-c.lost:
		return nil, c.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, ErrTimeout
	}
}

// register gives a request its header and a place for the answer.
func (c *Conn) register(req ua.Request, timeout time.Duration) (uint32, chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.request++
	id := c.request
	ch := make(chan answer, 1)
	c.waiting[id] = ch
	token := c.session.token
	if token == nil {
		token = ua.NewTwoByteNodeID(0)
	}
	req.SetHeader(&ua.RequestHeader{
		AuthenticationToken: token, Timestamp: time.Now(), RequestHandle: id, TimeoutHint: uint32(min(timeout.Milliseconds(), 1<<31)), //nolint:gosec // bounded
	})
	return id, ch, nil
}

func encode(req ua.Request) ([]byte, error) {
	typeID, err := ua.NewFourByteExpandedNodeID(0, ua.ServiceTypeID(req)).Encode()
	if err != nil {
		return nil, err
	}
	body, err := ua.Encode(req)
	return append(typeID, body...), err
}

// errTooLarge says that a request is larger than the server takes.
var errTooLarge = errors.New("the request is larger than the server takes; write a smaller max_per_request")

// send sends a message in as many chunks as it needs (Part 6, clause 6.7.2).
func (c *Conn) send(id uint32, body []byte, limit time.Time) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	encrypt := c.opts.Security.mode() == ua.MessageSecurityModeSignAndEncrypt
	algo := c.out.algo
	room := c.limits.chunk - 16
	if encrypt {
		room = room/algo.BlockSize()*algo.BlockSize() - 1
	}
	room -= 8 + algo.SignatureLength()
	if n := (len(body) + room - 1) / room; c.limits.message > 0 && len(body) > c.limits.message || c.limits.chunks > 0 && n > c.limits.chunks {
		return errTooLarge
	}
	for last := false; !last; {
		n := min(room, len(body))
		last = n == len(body)
		kind := "MSGC"
		if last {
			kind = "MSGF"
		}
		header := ua.NewBuffer([]byte{})
		header.Write([]byte(kind))
		header.WriteUint32(0)
		header.WriteUint32(c.channel)
		header.WriteUint32(c.out.token)
		if err := c.chunk(chunk{header.Bytes(), id, body[:n], algo, encrypt}, limit); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// chunk is a part of a message, and how it is secured.
type chunk struct {
	header  []byte
	id      uint32 // of the request
	body    []byte
	algo    *uapolicy.EncryptionAlgorithm
	encrypt bool
}

// chunk sends one chunk. The sending lock is held.
func (c *Conn) chunk(k chunk, limit time.Time) error {
	c.sequence++
	plain := ua.NewBuffer(nil)
	plain.WriteUint32(c.sequence)
	plain.WriteUint32(k.id)
	plain.Write(k.body)
	sealed, err := seal(k.algo, k.header, plain.Bytes(), k.encrypt)
	if err != nil {
		return err
	}
	_ = c.tcp.SetWriteDeadline(limit)
	if _, err := c.tcp.Write(sealed); err != nil {
		c.End(err)
		return c.Err()
	}
	return nil
}
