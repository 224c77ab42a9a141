package bacnet

import (
	"context"
	"errors"
	"fmt"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/fault"
)

var errClosed = errors.New("the line was closed")

// line is one device, or the devices of a network behind a router, on a socket that it shares with other lines.
type line struct {
	name     string
	socket   *network.Socket
	sessions map[*session]struct{}
	closed   bool
}

// dial uses the socket of cfg, a *Config.
func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	const op = "bacnet.Dial"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), c.LineName(), err)
	}
	settings, err := c.settings()
	if err != nil {
		return nil, fault.E(op, fault.Invalid, c.LineName(), err)
	}
	socket, err := sockets.Enter(ctx, settings)
	if err != nil {
		return nil, fault.E(op, fault.Unreachable, c.LineName(), fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	return &line{name: c.LineName(), socket: socket, sessions: make(map[*session]struct{})}, nil
}

// Open implements driver.Line. It causes no traffic.
func (l *line) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	const op = "bacnet.Open"
	c, ok := cfg.(*Config)
	if !ok || c.LineName() != l.name {
		return nil, fault.E(op, fault.Internal, l.name, fmt.Errorf("configuration %T is not for this line", cfg))
	}
	if l.closed {
		return nil, fault.E(op, fault.Unreachable, l.name, fmt.Errorf("%w: %w", driver.ErrNotConnected, errClosed))
	}
	c.compile()
	s, err := newSession(l, c)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, c.subject(), err)
	}
	l.sessions[s] = struct{}{}
	return s, nil
}

// Close implements driver.Line.
func (l *line) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	for s := range l.sessions {
		s.unlisten()
		s.changes.end()
		s.alarms.end()
		s.station.end()
	}
	l.socket.Leave()
	return nil
}
