// Package bus carries live messages, and holds the log. It embeds a NATS server and is the only package that knows NATS: parts of this
// process use it in memory, everything else connects to it over TLS with its own key.
package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/bus/blocklog"
	"voltbus/bus/dispatch"
	"voltbus/bus/permit"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// Limits of the bus. A subscriber that falls behind by maxPending bytes is cut off.
const (
	maxPayload   = blocklog.MaxBlock
	maxPending   = 64 << 20
	startTimeout = 20 * time.Second

	maxSubscribed  = 1 << 16 // subscriptions of one connection
	maxOutside     = 60_000  // connections from outside
	ownConnections = 16      // those in memory, and as many again while they are made anew
	silence        = 45 * time.Second
	pingsOut       = 2 // a connection that was cut without a word is found dead after one more
)

var errListen = errors.New("write host:port, such as 127.0.0.1:4222")

// Config is what a bus needs.
type Config struct {
	Name   string      // the node's name, for logs and monitoring
	Dir    string      // where the log lives
	Listen string      // host:port for connections from outside this process; "" for none
	TLS    *tls.Config // server side; must be set with Listen
	Key    Signer      // the node's key; its own connections may do everything
	// Admit returns what the holder of a public key may do; false for a stranger. It is called for
	// each new connection and by Repermit, one call at a time, and must neither wait nor use the
	// bus. When it changes, call Repermit.
	Admit func(publicKey string) (permit.Permit, bool)
	// Refused is called with what connections tried and may not, and who was cut off; nil: nobody is called.
	// One goroutine calls it, which it must not hold up.
	Refused func(Violation)
	// Event is called when a connection with an exclusive name came or ended, within a quarter of a second; what ends
	// with the bus is left out. nil: nobody is called. The goroutine of Refused calls it, too.
	Event  func(ConnectionEvent)
	Limits Limits // for each connection from outside; zero for the defaults
	// Connections is how many there may be from outside; 0 for 60,000. Where three quarters are taken, those who
	// have not shown a key yet are closed, the oldest first.
	Connections int
	// Silence is how long a connection from outside may be silent before it is closed:
	// default 45 s.
	Silence time.Duration
	// Cluster are the replicas that this bus is one of; the zero value for a node alone. Only the log is common to them.
	Cluster Cluster
	Log     *slog.Logger
}

// Signer is a private key that proves who connects.
type Signer interface {
	Public() string // the public nkey, which begins with U
	Sign(nonce []byte) ([]byte, error)
}

// Bus is a running server with the node's own connection to it. It is safe for concurrent use.
type Bus struct {
	cfg  Config
	srv  *server.Server
	jets *server.JetStreamConfig

	// Connections in memory, beside those of the parts, one a direction, so that a storm of live messages does not
	// hold up the log.
	in, log, mesh, quarantined *nats.Conn

	*connections
	*requester
	*children
	*inspector
	guard *guard

	mu          sync.Mutex
	dispatchers []*dispatch.Dispatcher
}

// Open starts the server and connects the node to it. A port that is taken gives fault.Conflict,
// a directory that cannot be written fault.Unavailable.
func Open(cfg Config) (*Bus, error) {
	b := &Bus{cfg: cfg, jets: &server.JetStreamConfig{
		StoreDir: cfg.Dir, MaxMemory: 16 << 20, MaxStore: 1 << 50,
	}}
	opts, err := b.options()
	if err != nil {
		return nil, err
	}
	if err := checkPort(cfg.Listen); err != nil {
		return nil, err
	}
	if b.srv, err = server.NewServer(opts); err != nil {
		return nil, fault.E("bus.Open", fault.Invalid, cfg.Listen, err)
	}
	b.assemble()
	log := &serverLog{log: cfg.Log, guard: b.guard}
	b.srv.SetLoggerV2(log, false, false, false)
	b.begin()
	if err := log.fatal.Await(b.srv.ReadyForConnections, startTimeout); err != nil {
		b.srv.Shutdown()
		return nil, fault.E("bus.Open", fault.Unavailable, cfg.Dir, err)
	}
	if err := b.join(); err != nil {
		b.srv.Shutdown()
		return nil, err
	}
	b.guard.start()
	return b, nil
}

// assemble makes the parts, which know each other.
func (b *Bus) assemble() {
	p := &probe{srv: b.srv}
	b.connections = newConnections(&b.cfg, p)
	b.guard = newGuard(&b.cfg, b.connections)
	b.requester = &requester{connections: b.connections}
	b.connections.guard, b.connections.requester = b.guard, b.requester
	b.children = &children{foreign: b.foreignReply}
	b.inspector = &inspector{probe: p, cfg: &b.cfg, connections: b.connections}
}

// begin starts the server. The log belongs to its only account: another one is made afterwards, and
// before anybody is admitted.
func (b *Bus) begin() {
	b.connections.mu.Lock()
	defer b.connections.mu.Unlock()
	b.srv.Start()
	quarantine := quarantineAccount
	if b.cfg.Cluster.Enabled() { // what the replicas do not share is in accounts that only one of them has
		quarantine += "_" + b.cfg.Name
		b.connections.local, _ = b.srv.LookupOrRegisterAccount(localAccount + b.cfg.Name)
	}
	b.connections.quarantine, _ = b.srv.LookupOrRegisterAccount(quarantine)
}

// join opens the node's own connections.
func (b *Bus) join() error {
	own := map[string]**nats.Conn{
		"node publish": &b.requester.out, "node subscribe": &b.in, logConn: &b.log, "node requests": &b.requester.requests,
		"node blocks": &b.children.blocks, "node flows": &b.children.flows, quarantineConn: &b.quarantined,
	}
	if b.cfg.Cluster.Enabled() {
		own[meshConn] = &b.mesh
	}
	for name, conn := range own {
		var err error
		if *conn, err = b.connect(name); err != nil {
			return err
		}
	}
	b.inspector.requests = b.requester.requests
	_, err := b.quarantined.Subscribe(wire.CallPrefix+wire.NodeName+".>", b.answerQuarantined)
	if err == nil {
		err = b.quarantined.Flush()
	}
	if err != nil {
		return fault.E("bus.Open", fault.Unavailable, b.cfg.Name, trouble.Of(err))
	}
	return nil
}

// options builds the server's options. There are no users, no anonymous access and no monitoring
// port: every connection is checked by keyring.
func (b *Bus) options() (*server.Options, error) {
	opts := &server.Options{
		ServerName: b.cfg.Name, NoSigs: true, NoLog: true,
		DontListen:                 b.cfg.Listen == "",
		MaxPayload:                 maxPayload,
		MaxPending:                 maxPending,
		MaxControlLine:             4096,
		MaxSubs:                    maxSubscribed,
		MaxConn:                    b.cfg.most() + ownConnections,
		PingInterval:               b.cfg.pingEvery(),
		MaxPingsOut:                pingsOut,
		DisableShortFirstPing:      true, // it would come to those who wait at the door: see doorTime
		WriteDeadline:              5 * time.Second,
		AlwaysEnableNonce:          true,
		CustomClientAuthentication: &keyring{bus: b},
		JetStream:                  true,
		StoreDir:                   b.jets.StoreDir,
		JetStreamMaxMemory:         b.jets.MaxMemory,
		JetStreamMaxStore:          b.jets.MaxStore,
		SyncAlways:                 true,
	}
	if b.cfg.Cluster.Enabled() {
		if err := b.cfg.Cluster.Apply(opts); err != nil {
			return nil, err
		}
	}
	if b.cfg.Listen == "" {
		if b.cfg.Cluster.Enabled() { // the server joins others only if it listens for clients: none can show the key
			opts.DontListen, opts.Host, opts.Port, opts.TLSConfig = false, "127.0.0.1", server.RANDOM_PORT, opts.Cluster.TLSConfig
		}
		return opts, nil
	}
	host, port, err := net.SplitHostPort(b.cfg.Listen)
	if err != nil {
		return nil, fault.E("bus.Open", fault.Invalid, b.cfg.Listen, errListen)
	}
	if opts.Port, err = strconv.Atoi(port); err != nil {
		return nil, fault.E("bus.Open", fault.Invalid, b.cfg.Listen, errListen)
	}
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	opts.Host = host
	opts.TLSConfig = b.cfg.TLS
	opts.TLSTimeout = 5
	return opts, nil
}

// most is how many connections from outside there may be.
func (c *Config) most() int { return cmp.Or(c.Connections, maxOutside) }

// pingEvery is how often the server asks a connection for a sign of life.
func (c *Config) pingEvery() time.Duration { return cmp.Or(c.Silence, silence) / (pingsOut + 1) }

// checkPort finds out in time whether the port is free: the server itself would stop the process.
func checkPort(listen string) error {
	if listen == "" {
		return nil
	}
	l, err := net.Listen("tcp", listen) //nolint:noctx // local and immediate
	if err != nil {
		return fault.E("bus.Open", fault.Conflict, listen,
			fmt.Errorf("cannot listen for bus connections: %w; stop the program that uses the port, or set listen.bus to another address", err))
	}
	return l.Close()
}

// connect opens one of the node's own connections, in memory.
func (b *Bus) connect(name string) (*nats.Conn, error) {
	return b.inside("bus.connect", nats.Name(name), nats.ReconnectWait(insideWait), nats.ErrorHandler(b.connError))
}

const insideWait = 50 * time.Millisecond // between two attempts to connect in memory

// inside connects in memory, with the node's key. The server's bound of connections holds for the node's own, too: while strangers use it
// up, it is tried again, for startTimeout, since those that showed no key make room.
func (b *Bus) inside(op string, how ...nats.Option) (*nats.Conn, error) {
	how = append(how, nats.InProcessServer(b.srv), nats.Nkey(b.cfg.Key.Public(), b.cfg.Key.Sign), nats.MaxReconnects(-1), nats.Timeout(startTimeout))
	again := time.NewTicker(insideWait)
	defer again.Stop()
	for end := time.Now().Add(startTimeout); ; <-again.C {
		conn, err := nats.Connect("", how...)
		switch {
		case err == nil:
			return conn, nil
		case !b.srv.Running() || time.Now().After(end):
			return nil, fault.E(op, fault.Unavailable, b.cfg.Name, trouble.Of(err))
		}
	}
}

func (b *Bus) connError(_ *nats.Conn, sub *nats.Subscription, err error) {
	attrs := []any{slog.Any("err", err)}
	if sub != nil {
		attrs = append(attrs, slog.String("subject", sub.Subject))
	}
	b.cfg.Log.Warn("bus connection reports an error", attrs...)
}

// OpenLog opens the log, and makes it if there is none.
func (b *Bus) OpenLog(ctx context.Context, cfg blocklog.Config) (*blocklog.Log, error) {
	if b.cfg.Cluster.Enabled() {
		cfg.Replica, cfg.Replicas = b.cfg.Cluster.Self, b.cfg.Cluster.Size
	}
	return blocklog.Open(ctx, b.engine(), cfg)
}

// Addr returns the address for connections from outside, or "" if there is none.
func (b *Bus) Addr() string {
	if b.cfg.Listen == "" || b.srv.Addr() == nil {
		return ""
	}
	return b.srv.Addr().String()
}

// Clients returns the number of connections, this process's own included.
func (b *Bus) Clients() int { return b.srv.NumClients() }

// Close ends all connections and the server, after what was published is handed over.
// Closing it again does nothing.
func (b *Bus) Close() error {
	b.closeDispatchers()
	b.guard.stop()
	err := b.requester.out.FlushTimeout(time.Second)
	for _, conn := range []*nats.Conn{b.requester.out, b.in, b.log, b.mesh, b.requester.requests, b.children.blocks, b.children.flows, b.quarantined} {
		conn.Close()
	}
	b.srv.Shutdown()
	b.srv.WaitForShutdown()
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("flush the bus: %w", err)
	}
	return nil
}
