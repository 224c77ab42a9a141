package dnp3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/protocol/dnp3/channel"
)

// dialLimit is how long opening a line may take, unless the context ends sooner.
const dialLimit = 10 * time.Second

// Dialer returns a function that opens the configured stream; not for devices that dial in. The configuration
// must be loaded and valid.
func (c *Config) Dialer() channel.Dialer {
	switch c.Transport {
	case transportUDP:
		return channel.DialUDP(c.LocalAddress, c.hostPort())
	case transportSerial:
		set := c.serial()
		return func(context.Context) (io.ReadWriteCloser, error) { return openSerial(set) }
	}
	first := channel.DialTCP(c.hostPort(), c.TLS.client(c.hostPort()))
	if len(c.Alternatives) == 0 {
		return first
	}
	ways := []channel.Dialer{first}
	for _, address := range c.Alternatives {
		address = withPort(address)
		ways = append(ways, channel.DialTCP(address, c.TLS.client(address)))
	}
	return channel.DialFirst(ways...)
}

// serialSettings are the settings of a serial port.
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
func (e *engine) dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	const op = "dnp3.Dial"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, cfg.LineName(), fmt.Errorf("configuration is a %T", cfg))
	}
	if c.TLS.wanted() && c.TLS.files == (secrets{}) {
		return nil, fault.E(op, fault.Invalid, c.LineName(), errors.New("its certificates are not loaded; load the configuration first"))
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	l := newLine(c, e)
	if c.Transport == transportListen {
		listener, err := c.Listen(ctx, l.refuse)
		if err != nil {
			return nil, notConnected(op, c.LineName(), err)
		}
		if err := l.serve(listener); err != nil { //nolint:contextcheck // its connections outlive the dialling
			return nil, fault.E(op, fault.Internal, c.LineName(), errors.Join(err, listener.Close()))
		}
		return l, nil
	}
	stream, err := c.Dialer()(ctx)
	if err != nil {
		return nil, notConnected(op, c.LineName(), err)
	}
	l.use(stream) //nolint:contextcheck // it outlives the dialling
	return l, nil
}

// notConnected is the error about a line that is not, or no longer, connected.
func notConnected(op, line string, cause error) error {
	if cause == nil {
		return fault.E(op, fault.Unreachable, line, driver.ErrNotConnected)
	}
	return fault.E(op, fault.Unreachable, line, fmt.Errorf("%w: %w", driver.ErrNotConnected, cause))
}

// Listen opens the configured listener, for devices that dial in. refused, if not nil, is called with
// connections from addresses that the configuration does not allow.
func (c *Config) Listen(ctx context.Context, refused func(from net.Addr)) (net.Listener, error) {
	listener, err := channel.Listen(ctx, c.hostPort(), c.TLS.server())
	if err != nil || len(c.Allow) == 0 {
		return listener, err
	}
	var allowed []netip.Prefix
	for _, text := range c.Allow {
		prefix, err := channel.ParseAllowed(text)
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		allowed = append(allowed, prefix)
	}
	return channel.Allow(listener, allowed, refused), nil
}
