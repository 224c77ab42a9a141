package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// peer is another replica.
type peer struct {
	name string

	// The lock of the cluster guards these.
	reached bool
	seen    time.Time // when it was reached last
	gone    bool      // it has not been reached for long, and nothing is there that others have not taken over
	heard   time.Time // when it said last that its filters are those that are known; zero if not all are known
	epoch   uint64    // its start, and the version of its filters that is known
	version uint64
	answers time.Time // when it answered last that it knows the own filters of a version
	knows   uint64

	telling sync.Mutex
	told    uint64 // the version of the own filters that it has; guarded by telling
}

// meet follows the list of replicas: it knows those who were added, and forgets those who were removed when others have their sessions.
func (c announcing) meet() {
	names := c.cfg.Mesh.Others()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if c.peers[name] == nil { // who does not know this replica yet may trust what it knows for as long as if it had answered now
			c.peers[name] = &peer{name: name, answers: c.cfg.Now()}
		}
	}
	for name, p := range c.peers {
		if p.gone && !slices.Contains(names, name) {
			delete(c.peers, name)
		}
	}
}

// remember knows also those who were removed while this replica was away, until others have their sessions.
func (c announcing) remember() {
	for _, s := range c.sessions {
		if s.owner != c.Self() && c.peers[s.owner] == nil {
			c.peers[s.owner] = &peer{name: s.owner}
		}
	}
}

// How filters are told.
const (
	tellTime = time.Second // how long another replica may take to answer
	// trustTime is how long filters count without news of their replica. Then it may have others, and a replica that tells its own
	// waits twice as long for one that does not answer.
	trustTime  = time.Second
	tellAgain  = 50 * time.Millisecond
	mostAtOnce = 20_000 // filters in one message
)

// The answers to filters.
const (
	answerGot  = "got"
	answerFull = "full" // something before is missing: tell all
)

// Announce tells the others which filters have other members, and returns when each of them knows it, or knows that it may not know all.
func (c *Cluster) Announce(ctx context.Context, changes map[string]Members) {
	c.mu.Lock()
	for f, m := range changes {
		if c.filters[f] == m {
			delete(changes, f)
		}
	}
	if len(changes) == 0 {
		c.mu.Unlock()
		return
	}
	c.version++
	for f, m := range changes {
		if m.Count == 0 {
			delete(c.filters, f)
		} else {
			c.filters[f] = m
		}
	}
	t := telling{c.version, changes, !c.tellAll.IsZero()}
	c.tellAll = time.Time{}
	c.mu.Unlock()
	c.announcing.each(func(p *peer) { c.announcing.insist(ctx, p, t) })
}

// insist tells a replica until it knows, or trusts what it knows no longer.
func (c announcing) insist(ctx context.Context, p *peer, t telling) {
	for ctx.Err() == nil {
		if c.known(p, t.version) {
			return
		}
		c.tell(ctx, p, t)
		if c.known(p, t.version) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(tellAgain):
		}
	}
}

// known reports whether a replica has a version of the own filters, or has not answered for so long that it trusts none.
func (c announcing) known(p *peer, version uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return p.knows >= version || c.cfg.Now().Sub(p.answers) > 2*trustTime
}

// each calls a function for each other replica, at once.
func (c announcing) each(do func(*peer)) {
	c.mu.Lock()
	peers := slices.Collect(maps.Values(c.peers))
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range peers {
		all.Go(func() { do(p) })
	}
	all.Wait()
}

// sync tells all filters to those who do not have them.
func (c announcing) sync(ctx context.Context) {
	c.mu.Lock()
	t := telling{version: c.version, anew: !c.tellAll.IsZero() && c.cfg.Now().Sub(c.tellAll) > 2*tellTime}
	if t.anew {
		c.tellAll = time.Time{}
	}
	c.mu.Unlock()
	c.announcing.each(func(p *peer) { c.announcing.tell(ctx, p, t) })
}

// telling is what is told.
type telling struct {
	version uint64
	changes map[string]Members // that lead to it; nil asks whether the other one has it
	anew    bool               // everything is told, even if the other one has it
}

// tell tells changes, or everything if that is needed.
func (c announcing) tell(ctx context.Context, p *peer, t telling) {
	if t.changes != nil || t.anew {
		p.telling.Lock()
	} else if !p.telling.TryLock() {
		return // it is being told
	}
	defer p.telling.Unlock()
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	if !t.anew && (p.told > t.version || p.told == t.version && t.changes != nil) {
		return
	}
	if !t.anew && (p.told == t.version || p.told+1 == t.version && t.changes != nil) {
		if c.announcing.push(ctx, p, part{from: p.told, to: t.version, filters: t.changes}) {
			p.told = t.version
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
	p.told = 0
	c.announcing.tellFull(ctx, p)
}

// tellFull tells everything, in parts.
func (c announcing) tellFull(ctx context.Context, p *peer) {
	c.mu.Lock()
	version := c.version
	all := maps.Clone(c.filters)
	c.mu.Unlock()
	names := slices.Collect(maps.Keys(all))
	for i := 0; ; i += mostAtOnce {
		some := map[string]Members{}
		for _, f := range names[min(i, len(names)):min(i+mostAtOnce, len(names))] {
			some[f] = all[f]
		}
		last := i+mostAtOnce >= len(names)
		if !c.announcing.push(ctx, p, part{to: version, full: true, first: i == 0, last: last, filters: some}) {
			return
		}
		if last {
			p.told = version
			return
		}
	}
}

// part is a message about filters.
type part struct {
	from, to          uint64
	full, first, last bool
	filters           map[string]Members
}

// push sends a part and reports whether the other one has it.
func (c announcing) push(ctx context.Context, p *peer, one part) bool {
	w := writer{}
	w.uint(c.epoch)
	w.uint(c.leading.at())
	w.uint(one.from)
	w.uint(one.to)
	w.flag(one.full)
	w.flag(one.first)
	w.flag(one.last)
	w.uint(uint64(len(one.filters)))
	for f, m := range one.filters {
		w.text(f)
		w.uint(uint64(m.Count))
		w.uint(uint64(m.Connected))
	}
	answer, err := c.cfg.Mesh.Ask(ctx, p.name, "filters", w.b)
	if err != nil || string(answer) != answerGot {
		return false
	}
	if !one.full || one.last {
		c.mu.Lock()
		p.knows, p.answers = one.to, c.cfg.Now()
		c.mu.Unlock()
	}
	return true
}

// hear takes what another replica tells of its filters.
func (c announcing) hear(from string, data []byte) []byte {
	r := reader{b: data}
	epoch, applied := r.uint(), r.uint()
	one := part{from: r.uint(), to: r.uint(), full: r.byte() != 0, first: r.byte() != 0, last: r.byte() != 0, filters: map[string]Members{}}
	for range r.count() {
		one.filters[r.text()] = Members{int(r.uint()), int(r.uint())}
	}
	c.mu.Lock()
	_, known := c.peers[from]
	c.mu.Unlock()
	if !known { // it may have been added just now
		c.announcing.meet()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[from]
	switch {
	case p == nil || r.bad:
		return nil
	case one.full && one.first:
		c.routes.clear(from, applied)
		p.epoch, p.version, p.heard = epoch, 0, time.Time{}
	case p.epoch != epoch || !one.full && (p.version != one.from || p.heard.IsZero()):
		return []byte(answerFull)
	}
	for f, m := range one.filters {
		c.routes.hear(from, f, m, applied)
	}
	if !one.full || one.last {
		p.version, p.heard = one.to, c.cfg.Now()
	}
	return []byte(answerGot)
}
