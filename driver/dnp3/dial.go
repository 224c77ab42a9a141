package dnp3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/protocol/dnp3/channel"
)

// dialLimit is how long opening a line may take, if the context says nothing shorter.
const dialLimit = 10 * time.Second

// Dialer returns a way to open the stream that the configuration names; not for devices that dial
// in. The configuration must be loaded and valid.
func (c *Config) Dialer() channel.Dialer {
	switch c.Transport {
	case transportUDP:
		return channel.DialUDP(c.LocalAddress, c.hostPort())
	case transportSerial:
		set := c.serial()
		return func(context.Context) (io.ReadWriteCloser, error) { return openSerial(set) }
	}
	return channel.DialTCP(c.hostPort(), c.TLS.client(c.hostPort()))
}

// serialSettings are those of a serial port.
type serialSettings struct {
	device   string
	baudrate int
	databits int
	parity   string
	stopbits int
}

func (c *Config) serial() serialSettings {
	return serialSettings{device: c.Address, baudrate: c.Baudrate, databits: c.Databits, parity: c.Parity, stopbits: c.Stopbits}
}

// dial opens the line.
func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	const op = "dnp3.Dial"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, cfg.LineName(), fmt.Errorf("configuration is a %T", cfg))
	}
	if c.TLS.wanted() && c.TLS.made == nil {
		return nil, fault.E(op, fault.Invalid, c.LineName(), errors.New("its certificates are not loaded; load the configuration first"))
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	l := newLine(c)
	if c.Transport == transportListen {
		listener, err := c.Listen(ctx)
		if err != nil {
			return nil, notConnected(op, c.LineName(), err)
		}
		l.serve(listener)
		return l, nil
	}
	stream, err := c.Dialer()(ctx)
	if err != nil {
		return nil, notConnected(op, c.LineName(), err)
	}
	l.use(stream)
	return l, nil
}

// notConnected says that the line is not, or no longer, there.
func notConnected(op, line string, cause error) error {
	if cause == nil {
		return fault.E(op, fault.Unreachable, line, driver.ErrNotConnected)
	}
	return fault.E(op, fault.Unreachable, line, fmt.Errorf("%w: %w", driver.ErrNotConnected, cause))
}

// Listen opens the listener that the configuration names, for devices that dial in.
func (c *Config) Listen(ctx context.Context) (net.Listener, error) {
	return channel.Listen(ctx, c.hostPort(), c.TLS.server())
}
