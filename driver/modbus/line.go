package modbus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/host"
)

// silences is how many requests in a row one unit may leave unanswered, with nothing else received either,
// before a TCP connection counts as lost.
const silences = 3

// selectLimit is the first file descriptor that select(2) cannot watch; the serial library uses it.
const selectLimit = 1024

// Reasons why a line fails, besides system errors.
var (
	errGarbled   = errors.New("the answer is garbled; check the cable, the serial settings, and that only one master is on the line")
	errNoAnswer  = errors.New("no answer")
	errClosed    = errors.New("the line was closed")
	errManyFiles = errors.New("the serial library cannot watch so many open files; give the serial port a node of its own, or fewer connections beside it")
)

// line is one connection: a socket or a serial port with one request at a time. The library sets the unit in
// one call and makes the request in another, which is safe since one goroutine owns the line.
type line struct {
	name    string
	rtu     bool // no transaction numbers: a late answer looks like the next one
	serial  bool
	set     settings
	client  *wire.ModbusClient
	lost    error         // why the line is dead; nil while it works
	silent  map[uint8]int // unanswered requests of each unit since anything was received
	stale   bool          // bytes of an old answer may still come: reopen before the next request
	unit    int           // the unit they come from; -1 for any
	quietAt time.Time     // when they should have come
}

// settings are what all devices of a line share.
type settings struct {
	timeout                   time.Duration
	baudrate, databits, stops int
	parity                    string
}

func (c *Config) settings() settings {
	s := settings{timeout: c.Timeout}
	if c.serial() {
		s.baudrate, s.databits, s.stops, s.parity = c.Baudrate, c.Databits, c.Stopbits, strings.ToLower(c.Parity)
	}
	return s
}

// dial opens the line of cfg, a *Config. The library cannot be interrupted while it connects: an address that
// drops packets takes 5 s.
func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	const op = "modbus.Dial"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), c.LineName(), err)
	}
	l := &line{
		name: c.LineName(), serial: c.serial(), rtu: !strings.EqualFold(c.Transport, transportTCP),
		set: c.settings(), silent: make(map[uint8]int),
	}
	parity := map[string]uint{"none": wire.PARITY_NONE, "even": wire.PARITY_EVEN, "odd": wire.PARITY_ODD}
	client, err := wire.NewClient(&wire.ClientConfiguration{
		URL: l.name, Timeout: c.Timeout, Speed: uint(c.Baudrate), DataBits: uint(c.Databits),
		Parity: parity[l.set.parity], StopBits: uint(c.Stopbits),
		Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // otherwise it writes to standard output
	})
	if err != nil {
		return nil, fault.E(op, fault.Invalid, l.name, err)
	}
	l.client = client
	if err := l.open(); err != nil {
		return nil, fault.E(op, fault.Unreachable, l.name, err)
	}
	return l, nil
}

// open opens the client; the error wraps ErrNotConnected and makes the line dead.
func (l *line) open() error {
	err := l.openClient()
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w; check the name of the serial port and that it is plugged in", err)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w; let the user into the port's group, mostly dialout", err)
	case !l.serial && !errors.Is(err, errManyFiles):
		err = fmt.Errorf("%w; check the address and that the device is on", err)
	}
	return l.lose(err)
}

func (l *line) openClient() (err error) {
	if !l.serial {
		return l.client.Open()
	}
	if err := host.SerialPort(strings.TrimPrefix(l.name, transportRTU+"://")); err != nil {
		return err
	}
	probe, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	descriptor := probe.Fd()
	_ = probe.Close()
	if descriptor >= selectLimit {
		return errManyFiles
	}
	defer func() { // others may open files meanwhile, which makes the library's select panic
		if recover() != nil {
			err = errManyFiles
		}
	}()
	return l.client.Open()
}

// lose makes the line dead.
func (l *line) lose(err error) error {
	l.lost = err
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
}

// Close implements driver.Line.
func (l *line) Close() error {
	if errors.Is(l.lost, errClosed) {
		return nil
	}
	l.lost = errClosed
	if err := l.client.Close(); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, fs.ErrClosed) {
		return fault.E("modbus.Close", fault.Internal, l.name, err)
	}
	return nil
}

// do makes one request to a unit. The error wraps ErrNotConnected if the line is lost, errNoAnswer if the
// unit is silent, errGarbled if the answer is invalid, or is the device's exception.
func (l *line) do(ctx context.Context, unit uint8, run func(*wire.ModbusClient) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.lost != nil {
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, l.lost)
	}
	if err := l.settle(ctx, unit); err != nil {
		return err
	}
	if err := l.client.SetUnitId(unit); err != nil {
		return err
	}
	return l.judge(unit, run(l.client))
}

// retry is do, repeated once if an answer was garbled on a line where that means noise or a late answer.
func (l *line) retry(ctx context.Context, unit uint8, run func(*wire.ModbusClient) error) error {
	err := l.do(ctx, unit, run)
	if l.rtu && errors.Is(err, errGarbled) {
		return l.do(ctx, unit, run)
	}
	return err
}

// judge decides what an error of the library means for the line.
func (l *line) judge(unit uint8, err error) error {
	var known wire.Error
	switch {
	case err == nil:
		clear(l.silent)
		return nil
	case !errors.As(err, &known):
		if isException(err) {
			clear(l.silent)
			return err
		}
		return l.lose(err) // a system error: reset, end of file, the port has disappeared
	}
	switch known {
	case wire.ErrRequestTimedOut:
		return l.silence(unit)
	case wire.ErrShortFrame, wire.ErrBadCRC, wire.ErrProtocolError, wire.ErrBadUnitId,
		wire.ErrBadTransactionId, wire.ErrUnknownProtocolId:
		clear(l.silent)
		if known == wire.ErrShortFrame && l.rtu && !l.serial {
			return l.lose(fmt.Errorf("the connection ended within an answer: %w", err))
		}
		l.distrust(-1)
		return fmt.Errorf("%w (%w)", errGarbled, err)
	case wire.ErrUnexpectedParameters, wire.ErrConfigurationError:
		return err
	}
	clear(l.silent)
	return err // an exception of the device
}

// silence records that a unit did not answer.
func (l *line) silence(unit uint8) error {
	l.silent[unit]++
	if !l.serial && l.silent[unit] >= silences {
		return l.lose(fmt.Errorf("nothing was heard for %d requests of unit %d", silences, unit))
	}
	if l.rtu {
		l.distrust(int(unit))
	}
	return fmt.Errorf("%w within %v", errNoAnswer, l.set.timeout)
}

// distrust records that bytes of an old answer may still come, from one unit or (-1) any.
func (l *line) distrust(unit int) {
	if l.stale && l.unit != unit {
		unit = -1
	}
	l.stale, l.unit, l.quietAt = true, unit, time.Now().Add(l.set.timeout)
}

// settle removes what may remain of an old answer: it reopens the line, which discards what has arrived.
// Without transaction numbers a late answer could pass for the next one of the same unit, so before that
// unit's next request the old answer gets one more time-out to arrive.
func (l *line) settle(ctx context.Context, unit uint8) error {
	if !l.stale {
		return nil
	}
	if wait := time.Until(l.quietAt); l.rtu && wait > 0 && (l.unit < 0 || l.unit == int(unit)) {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.stale = false
	_ = l.client.Close()
	return l.open()
}

// isException reports whether the library's error is an exception for which it has no name.
func isException(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown exception code")
}
