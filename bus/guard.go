package bus

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"voltbus/bus/permit"
)

// Limits bound what one connection from outside sends, in messages and in bytes a second over
// floodTime. Who sends more is cut off, and must stay away for a pause that grows each time.
type Limits struct {
	Messages int64 // 0 for 150,000; negative: no bound
	Bytes    int64 // 0 for 96 MiB; negative: no bound
	// Subscriptions is how many one connection may have; 0 for 10,000. A few more pass for a moment;
	// then the connection is cut off like one that sends too much.
	Subscriptions int
	// Connections is how many the holder of a key may have at a time, those kept in quarantine counted; 0 for
	// 32. More are refused like a key that is not known.
	Connections int
}

const (
	defaultMessages = 150_000
	defaultBytes    = 96 << 20

	defaultSubscriptions = 10_000
	defaultConnections   = 32
)

func (l Limits) orDefaults() Limits {
	if l.Messages == 0 {
		l.Messages = defaultMessages
	}
	if l.Bytes == 0 {
		l.Bytes = defaultBytes
	}
	if l.Subscriptions == 0 {
		l.Subscriptions = defaultSubscriptions
	}
	if l.Connections == 0 {
		l.Connections = defaultConnections
	}
	return l
}

// The rhythm of the guard.
const (
	guardTick   = 250 * time.Millisecond
	floodTime   = 2 * time.Second  // how long a connection may send more than the limits
	firstStay   = time.Second      // the first pause; each next one is twice as long
	longStay    = time.Minute      // the longest
	forgiven    = 10 * time.Minute // without a flood, after which it begins with firstStay again
	reportEvery = time.Second      // how often the same violation is reported

	quarantineEvery = time.Minute // how often is reported that the same key comes twice
	expiredEvery    = time.Hour   // and that one of a bundle that has expired comes, which goes on coming

	trespasses  = 4096 // reports of the server that may wait
	maxReported = 1000 // different violations that are counted at a time
)

// pause keeps a client away that flooded the bus.
type pause struct {
	until  time.Time
	length time.Duration
	why    string
}

func (p *pause) reason(now time.Time) error {
	return fmt.Errorf("was cut off because it %s; it may come back in %v: send less, or less often",
		p.why, max(p.until.Sub(now).Round(time.Second), time.Second))
}

// guard watches the connections from outside, in one goroutine.
type guard struct {
	cfg         *Config
	connections *connections
	limits      Limits
	reports     chan trespass
	missed      atomic.Uint64 // reports that did not fit
	quit        chan struct{} // closed by stop
	once        sync.Once
	done        sync.WaitGroup

	reported map[trespass]*repeated
	total    Traffic           // of all, at the last look
	at       time.Time         // of the last look
	subs     int               // of all, when each connection's were counted last
	held     []ConnectionEvent // that are told with the next tick

	evicted       uint64 // connections that were closed to make room
	evictReported time.Time
}

// repeated counts a violation that is reported again and again.
type repeated struct {
	v    Violation
	next time.Time
}

func newGuard(cfg *Config, guests *connections) *guard {
	return &guard{
		cfg: cfg, connections: guests, limits: cfg.Limits.orDefaults(), reports: make(chan trespass, trespasses),
		quit: make(chan struct{}), reported: map[trespass]*repeated{},
	}
}

// offer takes a report of the server. It never waits: what does not fit is counted.
func (g *guard) offer(t trespass) {
	select {
	case g.reports <- t:
	default:
		g.missed.Add(1)
	}
}

func (g *guard) start() {
	g.done.Go(g.run)
}

// stop may be called again.
func (g *guard) stop() {
	g.once.Do(func() { close(g.quit) })
	g.done.Wait()
}

func (g *guard) run() {
	tick := time.NewTicker(guardTick)
	defer tick.Stop()
	for {
		select {
		case <-g.quit:
			g.drain()
			g.report(time.Time{})
			return
		case t := <-g.reports:
			g.note(t)
		case now := <-tick.C:
			g.drain() // before who left is forgotten
			g.report(now)
			g.measure(now)
			closing, passed := g.connections.sweep(now)
			g.connections.disconnect(closing)
			g.notifyEvents(passed)
			g.evict()
		}
	}
}

func (g *guard) drain() {
	for {
		select {
		case t := <-g.reports:
			g.note(t)
		default:
			return
		}
	}
}

// note reports a violation at once, and counts it if it was reported a moment ago.
func (g *guard) note(t trespass) {
	if k := g.reported[t]; k != nil {
		k.v.Count++
		return
	}
	n := g.connections.find(t.id)
	if n == nil || len(g.reported) >= maxReported {
		g.missed.Add(1)
		return
	}
	v := Violation{Name: n.permit.Name, Key: n.key, Subject: t.subject, Publish: t.publish, Count: 1}
	if t.quarantine != "" { // each attempt is another connection, but one story
		t = trespass{subject: n.key, quarantine: t.quarantine}
		v.Conflict, v.Address, v.Quarantine = n.quarantine.Err.Err.Error(), n.address, t.quarantine
		if k := g.reported[t]; k != nil {
			k.v.Count++
			return
		}
	}
	g.refused(v)
	v.Count = 0
	g.reported[t] = &repeated{v: v, next: time.Now().Add(t.every())}
}

// every is how often the same is reported.
func (t *trespass) every() time.Duration {
	switch t.quarantine {
	case "":
		return reportEvery
	case permit.QuarantineExpired:
		return expiredEvery
	}
	return quarantineEvery
}

// report reports what was counted since; the zero time reports all.
func (g *guard) report(now time.Time) {
	for t, k := range g.reported {
		if !now.IsZero() && now.Before(k.next) {
			continue
		}
		if k.v.Count == 0 {
			delete(g.reported, t)
			continue
		}
		g.refused(k.v)
		k.v.Count, k.next = 0, now.Add(t.every())
	}
	if n := g.missed.Swap(0); n > 0 {
		g.cfg.Log.Warn("more violations on the bus than can be told one by one", slog.Uint64("count", n))
	}
}

func (g *guard) refused(v Violation) {
	if g.cfg.Refused != nil {
		g.cfg.Refused(v)
	}
}

// measure looks for connections that send or subscribe more than the limits. No single one does
// while all together do not, or while there are few more subscriptions than at the last look: that
// is cheap to know.
func (g *guard) measure(now time.Time) {
	passed := now.Sub(g.at)
	if passed < guardTick/2 {
		return
	}
	vars, err := g.connections.srv.Varz(nil)
	if err != nil {
		return
	}
	sum := Traffic{vars.InMsgs, vars.InBytes}
	quiet := !g.limits.exceeded(g.total, sum, passed)
	g.total, g.at = sum, now
	few := int(vars.Subscriptions) <= g.subs+g.limits.Subscriptions/10
	if quiet && few && !g.connections.anyHeavy() {
		g.subs = min(g.subs, int(vars.Subscriptions))
		return
	}
	g.subs = int(vars.Subscriptions)
	conns, err := g.connections.srv.Connz(&server.ConnzOptions{Limit: 1 << 20})
	if err != nil {
		return
	}
	cut, closing := g.connections.measure(conns.Conns, g.limits, now)
	g.connections.disconnect(closing)
	for _, v := range cut {
		g.cfg.Log.Warn("bus connection is cut off", slog.String("name", v.Name), slog.String("why", v.Flood))
		g.refused(v)
	}
}

// evict closes connections that have not shown a key, the oldest first, while three quarters of the places are
// taken: who only connects keeps nobody out.
func (g *guard) evict() {
	over := g.connections.srv.NumClients() - ownConnections - g.cfg.most()*3/4
	if over <= 0 {
		return
	}
	conns, err := g.connections.srv.Connz(&server.ConnzOptions{Limit: 1 << 20, Username: true, Sort: server.ByCid})
	if err != nil {
		return
	}
	var closing []uint64
	for _, c := range conns.Conns {
		if c.AuthorizedUser == "" && len(closing) < over {
			closing = append(closing, c.Cid)
		}
	}
	g.connections.disconnect(closing)
	if n := len(closing); n > 0 {
		g.evicted += uint64(n)
		if now := time.Now(); now.Sub(g.evictReported) >= quarantineEvery {
			g.evictReported = now
			g.cfg.Log.Warn("connections that showed no key are closed to make room on the bus", slog.Uint64("count", g.evicted))
		}
	}
}

// exceeded reports whether more was sent between two looks than may be.
func (l *Limits) exceeded(before, after Traffic, passed time.Duration) bool {
	s := passed.Seconds()
	return (l.Messages > 0 && float64(after.Messages-before.Messages) > float64(l.Messages)*s) ||
		(l.Bytes > 0 && float64(after.Bytes-before.Bytes) > float64(l.Bytes)*s)
}
