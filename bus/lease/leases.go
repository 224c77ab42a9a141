package lease

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
)

// The times of leases. A renewal counts from when it was sent, and Term from when another replica read it, so that clocks may differ in
// speed by much before two replicas have the same item.
const (
	Renew = time.Second     // between two renewals
	Use   = 3 * time.Second // after a confirmed renewal, items are used for this long
	Term  = 5 * time.Second // a replica without a renewal for this long loses what it has

	steadyAfter = time.Minute            // a replica that was there for this long gets items of others, to share the work
	shareEvery  = 10 * time.Second       // between two of them
	retry       = 250 * time.Millisecond // after a renewal that failed
	callTime    = 2 * time.Second        // for one renewal
	collisions  = 10                     // attempts in one renewal, when others write at the same time
)

// Message is one in the stream.
type Message struct {
	Seq   uint64
	Topic string
	Data  []byte
}

// Register is a replicated stream that keeps the last message of each topic.
type Register interface {
	// Read returns the last message of each topic, in order, as far as it is behind a sequence.
	Read(ctx context.Context, after uint64) ([]Message, error)
	// Write appends a message if last is the sequence of the last one, and returns its sequence when a majority has it on disk. Otherwise the
	// error is ErrBehind.
	Write(ctx context.Context, topic string, data []byte, last uint64) (uint64, error)
}

// ErrBehind says that the stream has messages that the writer has not read.
var ErrBehind = errors.New("another replica has written meanwhile")

// Config is what leases need. All fields but Now are required.
type Config struct {
	Self     string
	Others   func() []string // the names of the other replicas
	Register Register
	Log      *slog.Logger
	Now      func() time.Duration // a clock that does not stand still while the process does; nil for that of the machine
}

// Leases are the leases of one replica. It is safe for concurrent use.
type Leases struct {
	cfg  Config
	kick chan struct{}

	mu      sync.Mutex
	wants   map[string]string
	busy    func(name string) bool
	drained bool
	giving  int
	state   *table           // as last confirmed
	holds   map[string]*Hold // what is used here
	until   time.Duration    // when they end without a renewal
	changed chan struct{}    // closed when holds or owners change
	trouble error            // why the last renewal failed

	// Of the goroutine of Run.
	table   *table
	last    uint64
	peers   map[string]*peer
	started time.Duration
	shared  time.Duration   // when something was given to another replica to share the work
	leaving map[string]bool // what is being given to others for that
	away    map[string]bool // what is being given to others for whatever reason
}

// peer is another replica as seen from here.
type peer struct {
	seq     uint64
	seen    time.Duration // when its last sign of life was read
	since   time.Duration // when the first one was, after a silence
	drained bool
	ever    bool
}

// sign is a sign of life.
type sign struct {
	Drained bool `json:"drained,omitempty"`
}

// New returns the leases of a replica, which has none before Run. It starts nothing.
func New(cfg Config) *Leases {
	if cfg.Now == nil {
		cfg.Now = steadyClock()
	}
	l := &Leases{
		cfg: cfg, kick: make(chan struct{}, 1), wants: map[string]string{}, state: newTable(), table: newTable(),
		holds: map[string]*Hold{}, changed: make(chan struct{}), peers: map[string]*peer{}, leaving: map[string]bool{},
	}
	return l
}

// Want says what this replica can use from now on. busy reports whether something that it lost is still in use here: it is given to
// others only afterwards. It may be nil.
func (l *Leases) Want(items []Item, busy func(name string) bool) {
	l.mu.Lock()
	l.wants = make(map[string]string, len(items))
	for _, i := range items {
		l.wants[i.Name] = i.Group
	}
	l.busy = busy
	l.mu.Unlock()
	l.nudge()
}

// Drain has the others take what this replica has, as far as they can, and keeps it from getting more; false ends that.
func (l *Leases) Drain(drained bool) {
	l.mu.Lock()
	l.drained, l.giving = drained, max(l.giving, len(l.holds))
	l.mu.Unlock()
	l.nudge()
}

// Giving returns how much another replica will have that is still here, such as while this one is drained.
func (l *Leases) Giving() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.giving
}

func (l *Leases) nudge() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Hold returns the right to use an item; nil if this replica does not have it.
func (l *Leases) Hold(name string) *Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds[name]
}

// Owner returns who has an item, as far as is known; "" for nobody.
func (l *Leases) Owner(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.state.Entries[name]; e != nil {
		return e.Owner
	}
	return ""
}

// Owned counts the items of each replica.
func (l *Leases) Owned() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	load, _ := l.state.loads()
	return load
}

// Changed returns a channel that is closed when this replica gets or loses an item, or another owner is known.
func (l *Leases) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Trouble returns why leases were not renewed when it was tried last; nil if all is well.
func (l *Leases) Trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// lapsed reports whether there was no renewal for too long.
func (l *Leases) lapsed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg.Now() >= l.until
}

// Run renews the leases until ctx ends, and then gives them back.
func (l *Leases) Run(ctx context.Context) error {
	l.started = l.cfg.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	lapse := time.NewTimer(0)
	defer lapse.Stop()
	for {
		select {
		case <-ctx.Done():
			l.leave(context.WithoutCancel(ctx))
			return nil
		case <-l.kick:
		case <-timer.C:
		case <-lapse.C:
			l.endLapsed()
			continue
		}
		timer.Reset(l.renew(ctx))
		lapse.Reset(max(l.left(), 0))
	}
}

// left is how long items may be used without a renewal.
func (l *Leases) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until - l.cfg.Now()
}

// renew renews once, and returns when to do it again.
func (l *Leases) renew(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := l.round(ctx, false)
	l.mu.Lock()
	before := l.trouble
	l.trouble = err
	l.mu.Unlock()
	switch {
	case err == nil && before != nil:
		l.cfg.Log.InfoContext(ctx, "leases are renewed again")
	case err != nil && before == nil:
		l.cfg.Log.WarnContext(ctx, "leases are not renewed", slog.Any("err", err))
	}
	if err != nil {
		l.endLapsed()
		return retry
	}
	return Renew
}

// round reads what others wrote, changes the table if it has to, and renews.
func (l *Leases) round(ctx context.Context, leaves bool) error {
	for range collisions {
		err := l.attempt(ctx, leaves)
		if !errors.Is(err, ErrBehind) {
			return err
		}
		pause := time.NewTimer(rand.N(20 * time.Millisecond)) //nolint:gosec // it only keeps two writers apart
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
	return fault.E("lease.renew", fault.Unavailable, l.cfg.Self, ErrBehind)
}

func (l *Leases) attempt(ctx context.Context, leaves bool) error {
	if err := l.read(ctx); err != nil {
		return err
	}
	v := l.look(leaves)
	l.give(v)
	next := l.table.clone()
	if next.plan(v) {
		data, err := next.encode()
		if err != nil {
			return fault.E("lease.renew", fault.Internal, l.cfg.Self, err)
		}
		seq, err := l.cfg.Register.Write(ctx, tableTopic, data, l.last)
		if err != nil {
			return err
		}
		l.table, l.last = next, seq
	}
	if leaves {
		return nil
	}
	sent := l.cfg.Now()
	l.mu.Lock()
	own := sign{Drained: l.drained}
	l.mu.Unlock()
	data, err := json.Marshal(own)
	if err != nil {
		return fault.E("lease.renew", fault.Internal, l.cfg.Self, err)
	}
	if l.last, err = l.cfg.Register.Write(ctx, signTopic+l.cfg.Self, data, l.last); err != nil {
		return err
	}
	l.confirmed(sent)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giving = len(l.table.unwanted(v))
	return nil
}

// The topics of the stream.
const (
	tableTopic = "table"
	signTopic  = "sign."
)

// read takes in what others wrote.
func (l *Leases) read(ctx context.Context) error {
	list, err := l.cfg.Register.Read(ctx, l.last)
	if err != nil {
		return err
	}
	for i := range list {
		m := &list[i]
		if m.Topic == tableTopic {
			t, err := decodeTable(m.Data)
			if err != nil {
				return fault.E("lease.read", fault.Corrupt, tableTopic, err)
			}
			l.table = t
		} else {
			l.hear(m)
		}
		l.last = m.Seq
	}
	return nil
}

// hear takes in a sign of life.
func (l *Leases) hear(m *Message) {
	var s sign
	if len(m.Topic) <= len(signTopic) || json.Unmarshal(m.Data, &s) != nil {
		return
	}
	name, now := m.Topic[len(signTopic):], l.cfg.Now()
	p := l.peers[name]
	if p == nil {
		p = &peer{since: now}
		l.peers[name] = p
	}
	if now-p.seen > Term {
		p.since = now
	}
	p.ever = p.seq > 0 // the first one may be old
	p.seq, p.seen, p.drained = m.Seq, now, s.Drained
}

// look describes what the table is judged by.
func (l *Leases) look(leaves bool) *view {
	now := l.cfg.Now()
	v := &view{self: l.cfg.Self, gone: map[string]bool{}, able: map[string]bool{}, steady: map[string]bool{}, released: map[string]bool{}}
	l.mu.Lock()
	v.wants, v.able[l.cfg.Self] = l.wants, !l.drained
	l.mu.Unlock()
	if leaves {
		v.wants, v.able[l.cfg.Self] = map[string]string{}, false
	}
	others := l.cfg.Others()
	for owner := range l.owners() {
		v.gone[owner] = owner != "" && owner != l.cfg.Self && !slices.Contains(others, owner)
	}
	for _, name := range others {
		p := l.peers[name]
		switch {
		case p == nil:
			v.gone[name] = now-l.started > Term
			v.wait = v.wait || !v.gone[name]
		case now-p.seen > Term:
			v.gone[name] = true
		case !p.ever:
			v.wait = true
		default:
			v.able[name] = !p.drained
			v.steady[name] = !p.drained && now-p.since > steadyAfter
		}
	}
	return v
}

func (l *Leases) owners() map[string]bool {
	list := map[string]bool{}
	for _, e := range l.table.Entries {
		list[e.Owner] = true
	}
	return list
}

// give ends the use of what this replica should give away, and notes what is not used any more.
func (l *Leases) give(v *view) {
	away := l.table.unwanted(v)
	now := l.cfg.Now()
	if len(l.leaving) == 0 && len(v.steady) > 0 && now-l.shared > shareEvery {
		l.leaving, l.shared = l.table.surplus(v), now
	}
	maps.DeleteFunc(l.leaving, func(name string, _ bool) bool {
		e := l.table.Entries[name]
		return e == nil || e.Owner != l.cfg.Self
	})
	maps.Copy(away, l.leaving)
	l.away = away
	l.mu.Lock()
	var ended bool
	for name := range away {
		if h := l.holds[name]; h != nil {
			h.end()
			delete(l.holds, name)
			ended = true
		}
	}
	if ended {
		l.tell()
	}
	busy := l.busy
	l.mu.Unlock()
	for name := range away {
		if busy == nil || !busy(name) {
			v.released[name] = true
		}
	}
}

// confirmed takes over what a renewal has confirmed.
func (l *Leases) confirmed(sent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lapsed := l.cfg.Now() >= l.until
	l.until = sent + Use
	changed := false
	for name, h := range l.holds {
		e := l.table.Entries[name]
		if lapsed || e == nil || e.Owner != l.cfg.Self || e.Epoch != h.epoch {
			h.end()
			delete(l.holds, name)
			changed = true
		}
	}
	for name, e := range l.table.Entries {
		if _, wants := l.wants[name]; !wants || e.Owner != l.cfg.Self || l.away[name] || l.holds[name] != nil {
			continue
		}
		l.holds[name] = newHold(l, e.Epoch)
		changed = true
	}
	if changed || l.state != l.table {
		l.state = l.table
		l.tell()
	}
}

// tell wakes those who wait for a change. The caller holds the mutex.
func (l *Leases) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// endLapsed ends the use of everything if there was no renewal for too long.
func (l *Leases) endLapsed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.holds) == 0 || l.cfg.Now() < l.until {
		return
	}
	l.endAll()
}

func (l *Leases) endAll() {
	for _, h := range l.holds {
		h.end()
	}
	clear(l.holds)
	l.tell()
}

// leave gives everything back: nothing here uses it any more.
func (l *Leases) leave(ctx context.Context) {
	l.mu.Lock()
	l.endAll()
	l.busy = nil
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := l.round(ctx, true); err != nil {
		l.cfg.Log.InfoContext(ctx, "leases are not given back; others take them after the term", slog.Any("err", err))
	}
}
