// Package broker is the MQTT broker of a node: it serves clients over TCP, TLS and WebSocket, enforces their rights, routes messages, and
// converts messages into samples of points by the templates of the configuration. A message with QoS 1 or 2 is answered when everything
// that it changes is on disk: its samples in the log, and what waits for clients that are away in the storage. It knows neither the log
// nor the bus; node gives it functions.
package broker

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"voltbus/broker/cluster"
	"voltbus/broker/door"
	"voltbus/broker/guard"
	"voltbus/broker/setting"
	"voltbus/broker/shelf"
	"voltbus/broker/tally"
	"voltbus/broker/template"
	"voltbus/broker/tenant"
	"voltbus/broker/unknown"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Config is what a broker is made from. What may be nil says so.
type Config struct {
	Setting   setting.Section
	Templates *template.Set
	// Find returns what takes messages of a topic before the templates are asked, the same for topics whose points are
	// shared; nil if they are for the templates. It is called with the lock held. nil: nothing does.
	Find func(topic string) *template.Match
	// Take takes a message of a device, or its will, before anybody else, and returns what to answer; nobody gets it if it is taken. It is
	// called with the lock held. nil: nothing does.
	Take    func(device string, m *session.Message, will bool) (code packet.Code, taken bool)
	Devices Devices
	// Storage keeps sessions and retained messages; nil keeps them in memory only.
	Storage Storage
	// Cluster keeps them instead, and is what the broker has in common with those of other replicas; nil at a node alone.
	Cluster *cluster.Cluster
	// List makes points known before their first samples are recorded. It returns for each why it is not taken, nil if it
	// is; an error if none could be listed.
	List func(ctx context.Context, fresh []point.Info) (refused []error, err error)
	// Record makes samples durable: when it returns nil they are on disk.
	Record func(ctx context.Context, samples []point.Sample) error
	// Offer records samples without waiting, and counts those that it must refuse.
	Offer func(samples []point.Sample) bool
	// Live tells whoever listens; nil tells nobody.
	Live func(*point.Scan)
	// Kept is told of each retained message that Load brings back; nil tells nobody.
	Kept func(topic string, payload []byte)
	// Commanded is told once of each point that can be commanded, with the topic that it was found in, when it is listed.
	// It must return at once. nil: nobody commands.
	Commanded func(topic string, c *template.Command)
	// Told is told of who was refused, for the audit log; nil tells nobody. It must return at once.
	Told func(Refusal)
	// Bounds say which times of payloads are believed.
	Bounds point.Bounds
	Now    func() time.Time
	Log    *slog.Logger
}

// Devices knows who may connect.
type Devices interface {
	// Login returns the kind of a device whose secret is shown; fault.Refused if it is not right.
	Login(name, secret string) (kind string, err error)
	// Certified returns the kind of a device that shows a certificate by its SHA-256.
	Certified(name string, fingerprint [32]byte) (kind string, err error)
}

// Storage keeps what has to survive a restart.
type Storage interface {
	// Load hands over every session and retained message, as Save got them.
	Load(ctx context.Context, session, retained func(key string, state []byte) error) error
	// Save keeps changes, all or none; they are on disk when it returns. A nil state removes.
	Save(ctx context.Context, c *Changes) error
}

// Changes are what Storage keeps, by the key of a session and by topic.
type Changes struct {
	Sessions map[string][]byte
	Retained map[string][]byte
}

// Refusal is somebody who was not let in, or may not do something.
type Refusal struct {
	Device, Client, Address string
	Action                  string // connect, publish or subscribe
	Topic                   string
	Why                     string
}

type (
	tree    = topic.Tree[*session.Session, session.Subscription]
	matches = topic.Matches[*session.Session, session.Subscription]
	group   = topic.Group[*session.Session, session.Subscription]
	member  = topic.Member[*session.Session, session.Subscription]
)

// Broker is the broker. Make it with New; its methods are safe for concurrent use.
type Broker struct {
	parts
	cfg     Config
	config  session.Config
	kinds   map[string]*setting.Kind
	guesses *guard.Guesses
	hall    door.Hall
	fresh   *guard.Arrivals

	mu       sync.Mutex
	table    *session.Table
	tree     *tree
	retained shelf.Shelf
	expired  int // where expire goes on
	matches  matches
	once     map[*session.Session]session.Delivery
	links    map[*link]struct{}
	tenants  tenant.Tenants[*link]
	active   *session.Session // is in Receive
	self     []session.Delivery
	wake     []*link // have something to send that nobody knows of
	assigned uint64
	counts   Counts

	bindings  map[string]*binding          // by topic
	templates uint64                       // counts the sets of templates
	shared    map[*template.Match]*binding // of several topics
	unknown   unknown.Topics
	work      work
	keeper    keeper
	joined    joined
	stopping  bool
	closed    bool          // nobody is let in, see Drain
	another   func() string // where they are sent
}

// Counts are what happened since the broker was made.
type Counts = tally.Counts

// New returns a broker without sessions. Load brings those back that were kept.
func New(cfg Config) *Broker {
	s := &cfg.Setting
	b := &Broker{
		cfg: cfg, kinds: map[string]*setting.Kind{}, tree: topic.NewTree[*session.Session, session.Subscription](),
		retained: shelf.New(s.Retained, s.RetainedBytes), once: map[*session.Session]session.Delivery{},
		links: map[*link]struct{}{}, tenants: tenant.Tenants[*link]{}, bindings: map[string]*binding{}, shared: map[*template.Match]*binding{},
		config: session.Config{
			Limits:    packet.Limits{Levels: 64, Filters: 100, UserProperties: 64},
			MaxPacket: s.Packet, TopicAliases: 32, KeepAlive: uint16(s.KeepAlive / time.Second), MaxExpiry: uint32(s.Expiry / time.Second),
			MaxQueued: s.Queue, MaxQueuedOctets: s.QueueBytes, MaxSubscriptions: 200,
		},
	}
	fallback := setting.Fallback()
	b.kinds[setting.DefaultKind] = &fallback
	for _, k := range s.Kinds {
		k = k.Bounded()
		b.kinds[k.Name] = &k
	}
	b.parts = parts{server{b}, handler{b}, router{b}, keeping{b}}
	b.table = session.NewTable(&b.config, watcher{b})
	b.guesses, b.fresh = guard.NewGuesses(cfg.Now), guard.NewArrivals(s.Clients)
	b.hall = door.Hall{Host: b.server, Gate: guard.NewTurnstile(s.Connects), Anonymous: s.Anonymous, Now: cfg.Now, Log: cfg.Log}
	b.work.init()
	b.keeper.init()
	b.keeper.off = cfg.Storage == nil && cfg.Cluster == nil
	return b
}

// Load brings sessions and retained messages back that were kept. Call it before Run.
func (b *Broker) Load(ctx context.Context) error {
	if b.keeper.off {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.cfg.Now()
	sessions := func(key string, state []byte) error {
		_, err := b.keeping.restore(now, key, state)
		return err
	}
	retained := func(device string, m *session.Message) {
		if m.Expires.IsZero() || m.Expires.After(now) {
			b.retained.Put(m, device)
			if b.cfg.Kept != nil {
				b.cfg.Kept(m.Topic, m.Payload)
			}
		}
	}
	if b.cfg.Cluster != nil {
		return b.cfg.Cluster.Load(ctx, sessions, retained)
	}
	return b.cfg.Storage.Load(ctx, sessions, func(name string, state []byte) error {
		m, err := session.ParseMessage(state)
		if err != nil {
			return fault.E("broker.Load", fault.Corrupt, name, err)
		}
		retained("", m)
		return nil
	})
}

// restore adds a session that was kept; it is nil if its time is over.
func (b keeping) restore(now time.Time, key string, state []byte) (*session.Session, error) {
	b.keeper.known[key] = struct{}{}
	t := b.tenants.Of(ownerOf(key))
	t.Sessions++ // until it ends, which may be at once
	s, err := b.table.Restore(now, state)
	if err != nil {
		t.Sessions--
		return nil, fault.E("broker.Load", fault.Corrupt, shownKey(key), err)
	}
	if b.table.Get(key) != s {
		return nil, nil
	}
	for f, sub := range s.Subscriptions() {
		b.tree.Add(f, s, sub)
	}
	return s, nil
}

// Run serves clients that come by the listeners until ctx ends, and does what is to be done beside. At the end it
// tells the clients, and records, keeps and answers what waits.
func (b *Broker) Run(ctx context.Context, doors ...door.Door) error {
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var serving, parts sync.WaitGroup
	errs := make(chan error, len(doors))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, d := range doors {
		serving.Go(func() {
			if err := b.hall.Serve(ctx, d); err != nil {
				errs <- err
				stop()
			}
		})
	}
	parts.Go(func() { b.record(work) })
	parts.Go(func() { b.keeping.keep(work) })
	b.watch(ctx)
	b.stop()
	serving.Wait()
	b.work.close()
	late := time.AfterFunc(leaveTime, end) // nobody may answer any more
	defer late.Stop()
	parts.Wait()
	close(errs)
	return <-errs
}

// Attend serves a client that comes by a connection that somebody else made, see [door.Hall.Attend].
func (b *Broker) Attend(ctx context.Context, conn net.Conn, peer netip.Addr, local bool) {
	b.hall.Attend(ctx, conn, peer, local)
}

// leaveTime is how long the storage, or a majority of the replicas, may take to keep what waits at the end.
const leaveTime = 8 * time.Second

// stopTime is how long clients may take to read that the broker stops.
const stopTime = time.Second

// stop ends all connections.
func (b *Broker) stop() {
	b.mu.Lock()
	b.stopping = true
	for l := range b.links {
		b.disconnect(l, packet.ServerShuttingDown)
		time.AfterFunc(stopTime, l.Shut)
	}
	b.unlock()
}

// watchEvery is how often deadlines are looked at.
const watchEvery = time.Second

// watch looks after deadlines until ctx ends.
func (b *Broker) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.tick()
		}
	}
}

// tick ends silent connections and sessions that are due, publishes wills, and makes points stale.
func (b *Broker) tick() {
	b.mu.Lock()
	defer b.unlock()
	now := b.cfg.Now()
	for l := range b.links {
		if l.conn == nil {
			continue
		}
		out, err := l.conn.Tick(now, l.out)
		l.out = out
		if err != nil || l.stuck(now) {
			b.close(l)
		}
		b.announce(l)
	}
	b.table.Tick(now)
	b.expire(now)
	b.work.add(pending{at: now}) // points that may be stale
	b.guesses.Forget()
	b.tenants.Forget(now)
	b.keeper.poke(&b.joined)
}

// most retained messages that are looked at, and forgotten, at once: the broker serves nobody meanwhile.
const (
	expireLook   = 10_000
	expireForget = 1000
)

// expire forgets retained messages whose time is over. It looks at a part of them each time and goes on behind it.
func (b *Broker) expire(now time.Time) {
	var over []string
	b.expired = b.retained.Some(b.expired, expireLook, func(name string, k shelf.Kept) bool {
		if !k.Message.Expires.IsZero() && !k.Message.Expires.After(now) {
			over = append(over, name)
		}
		return len(over) < expireForget
	})
	for _, name := range over {
		b.retained.Drop(name)
		if b.cfg.Cluster == nil { // each replica does so by itself
			b.keeping.retain(name, nil)
		}
		b.counts.Expired++
	}
}

// Counts returns what happened.
func (b *Broker) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts
}
