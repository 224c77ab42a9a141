package mongodb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	wire "voltbus/protocol/mongodb"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

const (
	defaultPort = "27017"
	dialTime    = 10 * time.Second
)

// server is a server, or the members of a replica set. It is safe for concurrent use.
type server struct {
	entry    *setting.Sink
	members  []string
	database string
	source   string // the database that knows the user
	secure   *tls.Config

	mu   sync.Mutex
	idle []*wire.Conn
}

// newServer reads the address, such as mongodb://host:port,host:port/database?authSource=admin.
func newServer(s *setting.Sink) (*server, error) {
	scheme, rest, _ := strings.Cut(s.URL, "://")
	rest, query, _ := strings.Cut(rest, "?")
	hosts, database, _ := strings.Cut(rest, "/")
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, err)
	}
	if database == "" {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, errors.New("the address has no database; write mongodb://host:port/database"))
	}
	for name := range options {
		if name != "authSource" && name != "replicaSet" {
			return nil, fault.E("sinks.Open", fault.Invalid, s.URL, fmt.Errorf("the option %q is not known here; there is authSource", name))
		}
	}
	to := &server{entry: s, database: database, source: options.Get("authSource")}
	if to.source == "" {
		to.source = database // as the standard of these addresses says
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		to.members = append(to.members, host)
	}
	if scheme == "mongodbs" {
		to.secure, err = endpoint.TLS(s)
	}
	return to, err
}

// take returns a connection, to be given back.
func (s *server) take(ctx context.Context) (*wire.Conn, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	var first error
	for _, member := range s.members {
		c, err := s.dial(ctx, member)
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = fault.E("sinks.Append", fault.Unavailable, s.entry.URL, s.plain(err))
		}
	}
	return nil, first
}

var errNotPrimary = errors.New("it is not the primary of its replica set; write the addresses of all members, host:port,host:port")

// dial connects to a member that takes writes.
func (s *server) dial(ctx context.Context, member string) (*wire.Conn, error) {
	raw, err := s.connect(ctx, member)
	if err != nil {
		return nil, err
	}
	c := wire.New(raw)
	if err := s.greet(ctx, c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (s *server) connect(ctx context.Context, member string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTime}
	if s.secure == nil {
		return d.DialContext(ctx, "tcp", member)
	}
	return (&tls.Dialer{NetDialer: d, Config: s.secure}).DialContext(ctx, "tcp", member)
}

func (s *server) greet(ctx context.Context, c *wire.Conn) error {
	a, err := c.Hello(ctx, "voltbus")
	if err != nil {
		return err
	}
	if primary, known := a["isWritablePrimary"].(bool); known && !primary {
		return errNotPrimary
	}
	if s.entry.User == "" {
		return nil
	}
	password, err := endpoint.Password(s.entry)
	if err != nil {
		return err
	}
	return c.Authenticate(ctx, s.source, s.entry.User, password)
}

// give takes a connection back. After an error all are closed: the server may have gone, or be no primary any more.
func (s *server) give(c *wire.Conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, c)
	if err != nil {
		s.closeAll()
	}
}

// closeAll closes connections. The caller holds mu.
func (s *server) closeAll() {
	for _, c := range s.idle {
		_ = c.Close()
	}
	s.idle = nil
}

// Close implements destination.Writer.
func (s *server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAll()
	return nil
}

// The errors of MongoDB that people can mend, or that another member does not have.
const (
	unauthorized         = 13
	authenticationFailed = 18
)

var notPrimary = []int64{91, 189, 10107, 11600, 11602, 13435, 13436} //nolint:gochecknoglobals // a table

// plain says in plain words why nothing can be sent at present.
func (s *server) plain(err error) error {
	var e *wire.Error
	switch {
	case !errors.As(err, &e):
		return endpoint.Plain(err)
	case e.Code == authenticationFailed:
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file, and at authSource in url", s.entry.User)
	case e.Code == unauthorized && s.entry.User == "":
		return errors.New("it wants a user; write user and password_file")
	case e.Code == unauthorized:
		return fmt.Errorf("the user %q may not do this: %s; grant it readWrite on %s", s.entry.User, e.Text, s.database)
	case slices.Contains(notPrimary, e.Code):
		return errNotPrimary
	}
	return err
}
