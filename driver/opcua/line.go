package opcua

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/fault"
	"voltbus/protocol/opcua/client"
)

// line is a connection with a session. The goroutine that calls its sessions shares what the lock guards with those that get
// reports.
type line struct {
	conn       *client.Conn
	cfg        *Config
	namespaces []string
	most       limits
	hub        hub
	stop       context.CancelFunc
	work       sync.WaitGroup
	silent     int // requests in a row without an answer

	mu       sync.Mutex
	sessions map[*session]struct{}
}

// limits are how many nodes the server takes in one request.
type limits struct{ read, monitor, browse int }

func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	const op = "opcua.Dial"
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E(op, fault.Invalid, "", errors.New("the configuration is not that of the driver opcua"))
	}
	l := &line{cfg: c, sessions: make(map[*session]struct{})}
	l.hub.init(l)
	conn, err := connect(ctx, c, l.hub.published)
	if err != nil {
		return nil, lost(op, ctx, c.Endpoint, err)
	}
	l.conn = conn
	if err := l.learn(ctx); err != nil {
		_ = conn.Close()
		return nil, lost(op, ctx, c.Endpoint, err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.work.Go(func() { l.watch(background) })
	return l, nil
}

// connect opens a secure channel and a session.
func connect(ctx context.Context, c *Config, published func(*ua.PublishResponse)) (*client.Conn, error) {
	opts, err := c.options()
	if err != nil {
		return nil, err
	}
	endpoints, err := client.Endpoints(ctx, opts)
	if err != nil {
		return nil, err
	}
	chosen, err := c.choose(endpoints)
	if err != nil {
		return nil, err
	}
	if c.Security != securityNone || c.User != "" && len(chosen.ServerCertificate) > 0 {
		if err := c.trusted(chosen.ServerCertificate, time.Now()); err != nil {
			return nil, err
		}
		opts.Security.ServerCertificate = chosen.ServerCertificate
	}
	uri := "urn:voltbus"
	if c.Security != securityNone {
		self, err := c.identity()
		if err != nil {
			return nil, err
		}
		opts.Security.Policy, opts.Security.Sign = chosen.SecurityPolicyURI, c.Mode == modeSign
		opts.Security.Certificate, opts.Security.Key, uri = self.Certificate, self.Key, self.URI
	}
	opts.Published = published
	conn, err := client.Dial(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := conn.StartSession(ctx, uri, client.User{Name: c.User, Password: c.files.password, Plain: c.PlainPassword}); err != nil {
		_ = conn.Close()
		if errors.Is(err, ua.StatusBadUserAccessDenied) { // some servers say that of a wrong password
			err = ua.StatusBadIdentityTokenRejected
		}
		return nil, err
	}
	return conn, nil
}

func (c *Config) options() (client.Options, error) {
	u, err := c.url()
	if err != nil {
		return client.Options{}, err
	}
	return client.Options{Endpoint: u.String(), Address: u.Host, Timeout: c.Timeout}, nil
}

// Nodes of the standard (Part 6, annex A).
const (
	nodeNamespaces  = 2255  // Server_NamespaceArray
	nodeState       = 2259  // Server_ServerStatus_State
	nodeMostRead    = 11705 // ServerCapabilities_OperationLimits_MaxNodesPerRead
	nodeMostBrowse  = 11710 // ServerCapabilities_OperationLimits_MaxNodesPerBrowse
	nodeMostMonitor = 11714 // ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall
)

// usual is how many nodes a request has if the server does not say.
const usual = 1000

// learn asks for the namespaces and the limits of the server.
func (l *line) learn(ctx context.Context) error {
	var nodes []*ua.ReadValueID
	for _, id := range []uint32{nodeNamespaces, nodeMostRead, nodeMostMonitor, nodeMostBrowse} {
		nodes = append(nodes, valueOf(ua.NewNumericNodeID(0, id)))
	}
	results, err := read(ctx, l.conn, nodes, l.cfg.Timeout)
	if err != nil {
		return err
	}
	if names, is := valueIn(results[0]).([]string); is {
		l.namespaces = names
	}
	l.most = limits{l.cfg.most(results[1]), l.cfg.most(results[2]), l.cfg.most(results[3])}
	return nil
}

// most is a limit of the server, and of the configuration.
func (c *Config) most(v *ua.DataValue) int {
	n, _ := valueIn(v).(uint32)
	most := usual
	if n > 0 {
		most = int(min(n, 10*usual))
	}
	if c.MaxPerRequest > 0 {
		most = min(most, c.MaxPerRequest)
	}
	return most
}

// valueIn returns the value of a good result, nil for others.
func valueIn(v *ua.DataValue) any {
	if v == nil || v.Value == nil || isBad(v.Status) {
		return nil
	}
	return v.Value.Value()
}

// isBad reports whether a status code has the severity bad (Part 4, clause 7.39).
func isBad(code ua.StatusCode) bool { return code&ua.StatusBad != 0 }

// isUncertain reports whether a status code has the severity uncertain.
func isUncertain(code ua.StatusCode) bool { return !isBad(code) && code&ua.StatusUncertain != 0 }

func valueOf(id *ua.NodeID) *ua.ReadValueID { return attributeOf(id, ua.AttributeIDValue) }

func attributeOf(id *ua.NodeID, attribute ua.AttributeID) *ua.ReadValueID {
	return &ua.ReadValueID{NodeID: id, AttributeID: attribute, DataEncoding: &ua.QualifiedName{}}
}

// read sends one request (Part 4, clause 5.11.2).
func read(ctx context.Context, conn *client.Conn, nodes []*ua.ReadValueID, timeout time.Duration) ([]*ua.DataValue, error) {
	resp, err := conn.Do(ctx, &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth, NodesToRead: nodes}, timeout)
	if err != nil {
		return nil, err
	}
	answer, is := resp.(*ua.ReadResponse)
	if !is || len(answer.Results) != len(nodes) {
		return nil, fmt.Errorf("the server does not answer as asked: %T for %d nodes", resp, len(nodes))
	}
	return answer.Results, nil
}

// watch keeps the session from ending for want of requests, and tells the sessions when the connection has ended.
func (l *line) watch(ctx context.Context) {
	ticker := time.NewTicker(max(time.Second, min(l.conn.SessionTimeout(), 2*time.Minute)/3))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.conn.Lost():
			l.mu.Lock()
			defer l.mu.Unlock()
			for s := range l.sessions {
				s.news()
			}
			return
		case <-ticker.C:
			_, _ = read(ctx, l.conn, []*ua.ReadValueID{valueOf(ua.NewNumericNodeID(0, nodeState))}, l.cfg.Timeout)
		}
	}
}

// Open implements driver.Line.
func (l *line) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	const op = "opcua.Open"
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E(op, fault.Invalid, "", errors.New("the configuration is not that of the driver opcua"))
	}
	c.compile()
	s := &session{line: l, cfg: c, items: c.items, byName: make(map[string]int), news: func() {}}
	nodes := make(map[pointlist.Node]*node)
	for i := range s.items {
		t := &s.items[i]
		s.byName[t.Name] = i
		n := nodes[t.Node]
		if n == nil {
			n = &node{where: t.Node}
			n.id, n.missing = t.Node.Resolve(l.namespaces)
			nodes[t.Node] = n
			s.nodes = append(s.nodes, n)
		}
		n.items = append(n.items, i)
		s.at = append(s.at, n)
	}
	l.mu.Lock()
	l.sessions[s] = struct{}{}
	l.mu.Unlock()
	return s, nil
}

// Close implements driver.Line.
func (l *line) Close() error {
	if l.conn.Err() == nil {
		l.conn.CloseSession(context.Background())
	}
	l.stop()
	err := l.conn.Close()
	l.work.Wait()
	return err
}

// lost is the error of a line that cannot be opened.
func lost(op string, ctx context.Context, subject string, err error) error {
	kind := fault.Unreachable
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		kind = fault.Canceled
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		kind = fault.Timeout
	}
	return fault.E(op, kind, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, explain(err)))
}
