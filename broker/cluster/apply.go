package cluster

import (
	"context"
	"log/slog"
	"time"

	"voltbus/protocol/mqtt/session"
)

// change is what an entry changes for this replica.
type change struct {
	lost    []string            // own sessions that another one has now
	refused []string            // sessions of the writer that it does not own
	given   []Adopted           // sessions that their owner handed over to this replica
	claimed map[string][]string // keys of sessions that this replica took over, by who had them
	after   map[string]uint64   // of those, by key
	states  map[string][]byte   // of sessions that are claimed one by one
}

// take applies a record of the journal.
func (c reading) take(ctx context.Context, sequence uint64, data []byte) {
	e, err := ParseEntry(data)
	if err != nil {
		c.cfg.Log.ErrorContext(ctx, "a record of the journal of the brokers is skipped", slog.Uint64("sequence", sequence), slog.Any("err", err))
		e = &Entry{}
	}
	c.mu.Lock()
	if sequence <= c.position {
		c.mu.Unlock()
		return
	}
	fresh := c.tails[e.Replica].before(e)
	c.mu.Unlock()
	if !fresh {
		e = &Entry{}
	}
	var ch change
	if len(e.Claims) > 0 { // the states of sessions are read from the store
		c.reading.persist(ctx, "stored", c.storing.flush)
		c.reading.persist(ctx, "read", func(ctx context.Context) error { return c.reading.claimed(ctx, e, &ch) })
	}
	c.mu.Lock()
	if fresh {
		c.reading.account(sequence, e, &ch)
	}
	c.position = sequence
	c.mu.Unlock()
	own := e.Replica == c.Self() && e.Epoch == c.epoch
	for _, d := range e.Devices {
		c.cfg.Devices.Apply(d)
	}
	if c.host != nil {
		c.host.Apply(&Applied{Sequence: sequence, Entry: e, Own: own, Lost: ch.lost})
		c.reading.adopt(ctx, sequence, e, &ch)
	}
	c.mu.Lock()
	if own {
		c.handled = e.Number
		if len(ch.refused) > 0 {
			c.refused[e.Number] = ch.refused
		}
	}
	clear(c.moving)
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// claimed reads the states of sessions that are claimed one by one.
func (c reading) claimed(ctx context.Context, e *Entry, ch *change) error {
	ch.states = map[string][]byte{}
	for _, cl := range e.Claims {
		if cl.Key == "" {
			continue
		}
		row, err := c.cfg.Store.Row(ctx, SessionRow, cl.Key)
		if err != nil {
			return err
		}
		ch.states[cl.Key] = row.Body
	}
	return nil
}

// persist does something until it succeeds or ctx ends.
func (c reading) persist(ctx context.Context, what string, do func(context.Context) error) {
	for ctx.Err() == nil {
		err := do(ctx)
		if err == nil {
			return
		}
		c.cfg.Log.WarnContext(ctx, "sessions of MQTT clients cannot be handled and it is tried again", slog.String("what", what), slog.Any("err", err))
		select {
		case <-ctx.Done():
		case <-time.After(readAgain):
		}
	}
}

// account notes what an entry says. The lock is held.
func (c reading) account(sequence uint64, e *Entry, ch *change) {
	for i := range e.Sessions {
		c.reading.accountSession(sequence, e, &e.Sessions[i], ch)
	}
	for _, cl := range e.Claims {
		c.reading.accountClaim(sequence, e, cl, ch)
	}
	for _, r := range e.Retained {
		row := Row{Kind: RetainedRow, Key: r.Topic, Owner: r.Device, At: sequence}
		if r.Message != nil {
			row.Body = session.AppendMessage(nil, r.Message)
		}
		c.put(row)
	}
	for _, d := range e.Devices {
		c.put(Row{Kind: DeviceRow, Key: d.Name, At: sequence, Body: d.State})
	}
	c.tails[e.Replica] = tail{e.Epoch, e.Number, max(e.Applied, c.tails[e.Replica].applied)}
}

func (c reading) accountSession(sequence uint64, e *Entry, s *Session, ch *change) {
	o := c.sessions[s.Key]
	if o != nil && o.at >= sequence { // a page of another replica was newer
		return
	}
	if o != nil && o.owner != e.Replica {
		ch.refused = append(ch.refused, s.Key)
		if e.Replica == c.Self() {
			ch.lost = append(ch.lost, s.Key)
		}
		return
	}
	if s.State == nil {
		delete(c.sessions, s.Key)
		c.put(Row{Kind: SessionRow, Key: s.Key, At: sequence})
		return
	}
	n := &owned{owner: e.Replica, at: sequence}
	if s.To != "" {
		n.owner, n.behind = s.To, max(s.After, 1)
		c.reading.inherit(s.To, s.State, sequence)
		if s.To == c.Self() {
			ch.given = append(ch.given, Adopted{s.Key, s.State, s.After})
			c.moving[s.Key] = struct{}{}
		}
	}
	c.sessions[s.Key] = n
	c.put(Row{Kind: SessionRow, Key: s.Key, Owner: n.owner, Behind: n.behind, At: sequence, Body: s.State})
}

// inherit notes that a replica has the filters of a session from now on. The lock is held.
func (c reading) inherit(replica string, state []byte, sequence uint64) {
	if replica == c.Self() {
		return
	}
	for f := range session.Filters(state) {
		c.routes.inherit(replica, f, Members{Count: 1}, sequence)
	}
}

func (c reading) accountClaim(sequence uint64, e *Entry, cl Claim, ch *change) {
	take := func(key string, o *owned) {
		if o.owner != cl.From || o.owner == e.Replica || o.at >= sequence {
			return
		}
		if o.behind == 0 {
			o.behind = max(c.tails[cl.From].applied, 1)
		}
		o.owner, o.at = e.Replica, sequence
		c.put(Row{Kind: SessionRow, Key: key, Owner: o.owner, Behind: o.behind, At: sequence, Same: true})
		switch c.Self() {
		case e.Replica:
			if ch.claimed == nil {
				ch.claimed, ch.after = map[string][]string{}, map[string]uint64{}
			}
			ch.claimed[cl.From], ch.after[key] = append(ch.claimed[cl.From], key), o.behind
			c.moving[key] = struct{}{}
		case cl.From:
			ch.lost = append(ch.lost, key)
		}
	}
	if cl.Key != "" {
		if o := c.sessions[cl.Key]; o != nil {
			take(cl.Key, o)
		}
		c.reading.inherit(e.Replica, ch.states[cl.Key], sequence)
		return
	}
	for key, o := range c.sessions {
		take(key, o)
	}
	if e.Replica == c.Self() {
		c.routes.clear(cl.From, ^uint64(0))
		c.tellAll = c.cfg.Now() // what others think that this replica took over may be too much
		if ch.claimed == nil {
			ch.claimed = map[string][]string{}
		}
		ch.claimed[cl.From] = append(ch.claimed[cl.From], []string(nil)...)
	} else if cl.From != c.Self() {
		c.routes.inheritAll(e.Replica, cl.From, sequence)
	}
}

// adopt hands the broker the sessions that this replica owns from an entry on, and the messages that they missed.
func (c reading) adopt(ctx context.Context, sequence uint64, e *Entry, ch *change) {
	if len(ch.given) > 0 {
		c.reading.reroute(ctx, ch.given, e.Replica, sequence, false)
	}
	for from, keys := range ch.claimed {
		var list []Adopted
		c.reading.persist(ctx, "read", func(ctx context.Context) (err error) {
			list, err = c.reading.states(ctx, keys, ch.after)
			return err
		})
		c.cfg.Log.InfoContext(ctx, "sessions of a replica that does not answer go on here", slog.String("replica", from), slog.Int("sessions", len(list)))
		c.reading.reroute(ctx, list, from, sequence, true)
	}
}

// states reads the states of sessions from the store.
func (c reading) states(ctx context.Context, keys []string, after map[string]uint64) (list []Adopted, err error) {
	for _, key := range keys {
		row, err := c.cfg.Store.Row(ctx, SessionRow, key)
		if err != nil {
			return nil, err
		}
		if row.Body != nil {
			list = append(list, Adopted{key, row.Body, after[key]})
		}
	}
	return list, nil
}

// reroute adds sessions to the broker that another replica had, and hands them the messages in the journal before a place that they
// missed: those of the other one itself are in their states. With group those count too that were for its members of a shared subscription.
func (c reading) reroute(ctx context.Context, list []Adopted, from string, sequence uint64, group bool) {
	c.host.Adopt(list)
	first := sequence
	for _, a := range list {
		first = min(first, a.After+1)
	}
	if len(list) == 0 && group {
		c.mu.Lock()
		first = c.tails[from].applied + 1
		c.mu.Unlock()
	}
	members := ""
	if group {
		members = from
	}
	c.reading.replay(ctx, first, sequence, func(at uint64, e *Entry) {
		if e.Replica != from {
			c.host.Reroute(at, e, members)
		}
	})
	c.host.Done(sequence)
}

// replay reads entries of the journal again, from a place on and before another one.
func (c reading) replay(ctx context.Context, first, before uint64, do func(at uint64, e *Entry)) {
	if first >= before {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.reading.persist(ctx, "brought up to date", func(ctx context.Context) error {
		return c.cfg.Journal.Read(ctx, first, func(at uint64, data []byte) error {
			if at < before {
				if e, err := ParseEntry(data); err == nil && at >= first {
					do(at, e)
				}
				first = at + 1
			}
			if at+1 >= before {
				stop()
			}
			return nil
		})
	})
}

// rejoin hands the own sessions the messages that came while this replica was away.
func (c reading) rejoin(ctx context.Context) {
	c.mu.Lock()
	var list []Adopted
	for key, o := range c.sessions {
		if o.owner == c.Self() {
			after := o.behind
			if after == 0 {
				after = c.tails[c.Self()].applied
			}
			list = append(list, Adopted{Key: key, After: after})
		}
	}
	position := c.position
	c.mu.Unlock()
	c.reading.reroute(ctx, list, c.Self(), position+1, false)
}
