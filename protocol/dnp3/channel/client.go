package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"voltbus/protocol/dnp3/station"
)

// Dialer opens a stream to the peer. A stream with SetReadDeadline and SetWriteDeadline,
// as every net.Conn has, is preferred.
type Dialer func(ctx context.Context) (io.ReadWriteCloser, error)

// ClientConfig describes a channel that is opened from this side.
type ClientConfig struct {
	Dial Dialer
	// Ports are the stations on the channel.
	Ports []*station.Port
	// RetryMin and RetryMax bound the pause before the channel is opened again, which
	// doubles with each failure; 0 means 1 s and 60 s.
	RetryMin, RetryMax time.Duration
	// Notify, if not nil, is called at every change of state, by the goroutine that runs
	// the channel.
	Notify func(s State)
}

// State is what a channel has come to.
type State struct {
	Online bool
	// Peer is the address of the other side, "" if there is none.
	Peer string
	// Err is why the channel is not, or no longer, online.
	Err error
}

// Defaults.
const (
	defaultRetryMin = time.Second
	defaultRetryMax = time.Minute
)

var (
	errDial  = errors.New("channel: a client needs a way to dial")
	errPorts = errors.New("channel: needs at least one port")
	errRetry = errors.New("channel: the pauses between tries must be zero or more, the longest not below the shortest")
)

// Client keeps one connection open. New starts nothing; Run does the work.
type Client struct {
	hub    *Hub
	config ClientConfig
}

// NewClient returns a client that is not running.
func NewClient(h *Hub, c ClientConfig) (*Client, error) {
	if c.RetryMin == 0 {
		c.RetryMin = defaultRetryMin
	}
	if c.RetryMax == 0 {
		c.RetryMax = max(defaultRetryMax, c.RetryMin)
	}
	switch {
	case c.Dial == nil:
		return nil, errDial
	case len(c.Ports) == 0:
		return nil, errPorts
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return nil, errRetry
	}
	return &Client{hub: h, config: c}, nil
}

// Run opens the channel, opens it again when it is lost, and returns nil when ctx ends.
// An error means that the ports cannot share a line.
func (c *Client) Run(ctx context.Context) error {
	delay := c.config.RetryMin
	for {
		online, err := c.once(ctx)
		switch {
		case errors.Is(err, errLine):
			return err
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the line was closed because ctx ended
		case online:
			delay = c.config.RetryMin
		}
		c.notify(State{Err: err})
		wait(ctx, delay+rand.N(delay/4+1))
		delay = min(2*delay, c.config.RetryMax)
	}
}

// errLine is the error about ports that cannot share a line.
var errLine = errors.New("channel: the ports do not fit on one line")

// once opens the channel and serves it until it is lost.
func (c *Client) once(ctx context.Context) (online bool, err error) {
	stream, err := c.config.Dial(ctx)
	if err != nil {
		return false, err
	}
	conn := newConn(c.hub, stream)
	for _, p := range c.config.Ports {
		if err := conn.add(p); err != nil {
			_ = conn.stream.Close()
			return false, fmt.Errorf("%w: %w", errLine, err)
		}
	}
	stop := context.AfterFunc(ctx, conn.stream.shut)
	defer stop()
	opened := func() { c.notify(State{Online: true, Peer: conn.stream.peer}) }
	return true, conn.serve(opened, func() {})
}

func (c *Client) notify(s State) {
	if c.config.Notify != nil {
		c.config.Notify(s)
	}
}

// wait returns after a time or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
