package dnp3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/station"
)

// maxStrangers is how many connections of unknown devices a line keeps beside those that it
// knows; more are closed at once.
const maxStrangers = 100

// line is one connection with all its outstations, or a listener that they dial.
type line struct {
	name    string
	set     lineSettings
	pool    *station.Pool
	turn    *master.Turn // nil if answers need not come one at a time
	only    *wire        // the connection; nil for a listener
	accepts net.Listener // nil for a connection
	running sync.WaitGroup
	nudged  chan struct{} // somebody on the line has something to be taken

	mu       sync.Mutex
	closed   bool
	begun    bool // the connection is read
	held     bool // between Pause and Resume
	stations map[addresses]*remote
	guests   map[*wire]struct{} // connections of a listener
	stranger string             // address of the last connection that was not allowed
}

// addresses are the two ends of an association.
type addresses struct{ master, outstation link.Address }

// lineSettings are what devices on one line must have in common.
type lineSettings struct {
	serial    serialSettings
	half      bool
	local     string
	others    string // addresses
	allow     string
	tls       [4]string
	keepAlive time.Duration
}

func (c *Config) lineSettings() lineSettings {
	s := lineSettings{
		half: c.OneAtATime || c.Transport == transportSerial, local: c.LocalAddress,
		others: strings.Join(c.Alternatives, " "), allow: strings.Join(c.Allow, " "),
		tls: [4]string{c.TLS.Certificate, c.TLS.Key, c.TLS.CA, c.TLS.Name}, keepAlive: c.KeepAlive,
	}
	if c.Transport == transportSerial {
		s.serial = c.serial()
	}
	return s
}

func newLine(c *Config) *line {
	l := &line{
		name: c.LineName(), set: c.lineSettings(), pool: station.NewPool(station.FragmentSize),
		nudged:   make(chan struct{}, 1),
		stations: make(map[addresses]*remote), guests: make(map[*wire]struct{}),
	}
	if l.set.half {
		l.turn = &master.Turn{}
	}
	return l
}

// use makes a stream the line. Nothing is read before the first station is there.
func (l *line) use(stream io.ReadWriteCloser) { l.only = newWire(stream, l.pool) }

// serve accepts devices that dial in.
func (l *line) serve(listener net.Listener) {
	l.accepts = listener
	l.running.Go(func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			if !l.welcome(stream) {
				_ = stream.Close()
			}
		}
	})
}

// Open implements driver.Line. It causes traffic only where the station is new on the line.
func (l *line) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	const op = "dnp3.Open"
	c, ok := cfg.(*Config)
	if !ok || c.LineName() != l.name {
		return nil, fault.E(op, fault.Internal, l.name, fmt.Errorf("configuration %T is not for this line", cfg))
	}
	if err := l.lost(); err != nil {
		return nil, notConnected(op, l.name, err)
	}
	if c.lineSettings() != l.set {
		return nil, fault.E(op, fault.Invalid, l.name, errors.New(
			"devices on one line differ in alternatives, allow, TLS, keep_alive, one_at_a_time or serial settings; write the same for all of them"))
	}
	c.compile()
	values := newCollector(c)
	s, err := l.join(c, values)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, c.subject(), err)
	}
	return newSession(l, s, c, values), nil
}

// join returns the station of a configuration, on the wire if there is one, with one user more, whose
// collector gets what arrives. A new station has it before anything can arrive: events come once.
func (l *line) join(c *Config, values *collector) (*remote, error) {
	l.mu.Lock()
	key := addresses{link.Address(c.Master), link.Address(c.Outstation)}
	if s := l.stations[key]; s != nil {
		if !s.fits(c) {
			l.mu.Unlock()
			return nil, errors.New("two devices are this outstation and differ in what concerns both; write the same for them, or join their registries")
		}
		s.users++
		l.mu.Unlock()
		s.join(values)
		return s, nil
	}
	s, err := newRemote(c, l.turn)
	if err != nil {
		l.mu.Unlock()
		return nil, err
	}
	s.join(values)
	l.stations[key] = s
	s.wire = l.only
	began := l.begun
	if !began && l.only != nil {
		l.begun, l.only.held = true, l.held
	}
	l.mu.Unlock()
	add := func(now time.Time, out *station.Output) { attach(l.only, s, now, out) }
	switch {
	case l.only == nil:
		l.introduce(s)
	case began:
		l.only.do(add)
	default:
		opened := make(chan struct{})
		l.running.Go(func() {
			l.only.run(func(now time.Time, out *station.Output) {
				defer close(opened)
				add(now, out)
			})
			l.tellAll()
		})
		<-opened
	}
	return s, nil
}

// attach puts a station on a wire. Only the wire's loop may call it.
func attach(w *wire, s *remote, now time.Time, out *station.Output) {
	if w.add(s.port) == nil {
		s.port.Open(now, out)
	}
}

// leave ends one use of a station.
func (l *line) leave(s *remote) {
	l.mu.Lock()
	s.users--
	last, w := s.users == 0, s.wire
	if last {
		delete(l.stations, s.addresses())
		s.wire = nil
	}
	l.mu.Unlock()
	if last && w != nil {
		w.do(func(now time.Time, out *station.Output) {
			s.port.Tick(now, out) // what is kept is confirmed
			w.remove(s.port, now)
		})
	}
}

// lost returns why the line is dead, nil while it lives.
func (l *line) lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return errShut
	case l.only != nil && !l.only.alive():
		return l.only.err
	}
	return nil
}

// away says so if a station has not dialled in.
func (l *line) away(s *remote) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s.wire != nil:
		return nil
	case l.stranger != "":
		return fmt.Errorf("%w; the last connection from an address that allow does not hold came from %s", errAway, l.stranger)
	}
	return errAway
}

// refuse notes a connection from an address that is not allowed.
func (l *line) refuse(from net.Addr) {
	host, _, err := net.SplitHostPort(from.String())
	if err != nil {
		host = from.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stranger = host
}

// tellAll says to all sessions that the line has ended.
func (l *line) tellAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stations {
		s.ended()
	}
}

// Close implements driver.Line.
func (l *line) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	idle := l.only != nil && !l.begun
	open := l.wires()
	l.mu.Unlock()
	if l.accepts != nil {
		_ = l.accepts.Close()
	}
	if idle {
		_ = l.only.stream.Close()
		close(l.only.done)
	}
	for _, w := range open {
		w.close()
	}
	l.running.Wait()
	return nil
}
