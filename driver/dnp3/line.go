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
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/station"
)

// alienLimit is how long a device that dialled in may take to identify itself.
const alienLimit = 30 * time.Second

var (
	errEnded = errors.New("the connection was closed by the other side")
	errDead  = errors.New("no device on the line answers, not even a request for its link status")
	errShut  = errors.New("the line was closed")
)

// line is one connection with all its outstations, or a listener to which they dial in.
type line struct {
	name    string
	set     lineSettings
	engine  *engine
	turn    *master.Turn       // nil if answers need not come one at a time
	only    *channel.Line      // the connection; nil for a listener
	accepts net.Listener       // nil for a connection
	server  *channel.Server    // of the listener
	stop    context.CancelFunc // ends the listener
	running sync.WaitGroup
	nudged  chan struct{} // a session of the line has something to take

	mu       sync.Mutex
	closed   bool
	begun    bool  // the connection is being read
	failed   error // why the listener ended on its own
	stations map[addresses]*remote
	refused  string // address of the last refused connection
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

func newLine(c *Config, e *engine) *line {
	l := &line{
		name: c.LineName(), set: c.lineSettings(), engine: e, nudged: make(chan struct{}, 1),
		stations: make(map[addresses]*remote),
	}
	if l.set.half {
		l.turn = &master.Turn{}
	}
	return l
}

// use turns a stream into the line. Nothing is read before the first station has joined.
func (l *line) use(stream io.ReadWriteCloser) { l.only = channel.NewLine(l.engine.enter(), stream) }

// serve accepts devices that dial in.
func (l *line) serve(listener net.Listener) error {
	server, err := channel.NewServer(l.engine.enter(), channel.ServerConfig{Ask: true, Anonymous: alienLimit, Gone: l.gone})
	if err != nil {
		l.engine.leave()
		return err
	}
	l.accepts, l.server = listener, server
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	l.running.Go(func() {
		if err := server.Run(ctx, listener); err != nil {
			l.fail(err)
		}
	})
	return nil
}

// fail records that devices can no longer dial in.
func (l *line) fail(err error) {
	l.mu.Lock()
	l.failed = err
	l.mu.Unlock()
	l.tellAll()
}

// gone notifies the sessions of a device that it has closed its connection.
func (l *line) gone(p *station.Port) {
	l.mu.Lock()
	s := l.stations[addresses{p.Local(), p.Remote()}]
	l.mu.Unlock()
	if s != nil {
		s.disconnected()
	}
}

// Open implements driver.Line. It causes traffic only if the station is new on the line.
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

// join returns the station of a configuration, on its connection if there is one, with one more user, whose
// collector gets what arrives. A new station has the collector before anything can arrive: events come only
// once.
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
	begins := !l.begun && l.only != nil
	l.begun = true
	l.mu.Unlock()
	if l.server != nil {
		l.server.Add(s.port)
		return s, nil
	}
	_ = l.only.Add(s.port) // it fails on a line that has just ended, which the next request reports
	if begins {
		l.running.Go(func() {
			_ = l.only.Run()
			l.tellAll()
		})
	}
	return s, nil
}

// leave ends one use of a station.
func (l *line) leave(s *remote) {
	l.mu.Lock()
	s.users--
	last := s.users == 0
	if last {
		delete(l.stations, s.addresses())
	}
	l.mu.Unlock()
	switch {
	case !last:
	case l.server != nil:
		l.server.Remove(s.port)
	default:
		l.only.Remove(s.port)
	}
}

// lost returns why the line is dead, nil while it works.
func (l *line) lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return errShut
	case l.only != nil:
		return whyEnded(l.only.Err())
	}
	return l.failed
}

// whyEnded explains to the operator why a connection ended; nil if it did not.
func whyEnded(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errEnded
	case errors.Is(err, channel.ErrDead):
		return errDead
	}
	return err
}

// away returns an error if a station has not dialled in.
func (l *line) away(s *remote) error {
	if l.server == nil || l.server.Connected(s.port) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != "" {
		return fmt.Errorf("%w; the last connection from an address that allow does not hold came from %s", errAway, l.refused)
	}
	return errAway
}

// refuse records a connection from an address that is not allowed.
func (l *line) refuse(from net.Addr) {
	host, _, err := net.SplitHostPort(from.String())
	if err != nil {
		host = from.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = host
}

// tellAll notifies all sessions that the line has ended.
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
	l.mu.Unlock()
	if l.only != nil {
		l.only.Close()
	} else {
		l.stop()
	}
	l.running.Wait()
	l.engine.leave()
	return nil
}

var _ driver.Pauser = (*line)(nil)

// Pause implements driver.Pauser: incoming data stays in the stream.
func (l *line) Pause() {
	if l.only != nil {
		l.only.Pause()
	} else {
		l.server.Pause()
	}
}

// Resume implements driver.Pauser.
func (l *line) Resume() {
	if l.only != nil {
		l.only.Resume()
	} else {
		l.server.Resume()
	}
}
