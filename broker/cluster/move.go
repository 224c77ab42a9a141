package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"voltbus/fault"
)

// ErrRefused is why a turn is not kept: another replica owns a session of it.
var ErrRefused = errors.New("another replica has taken over sessions that it changes")

// mostEntry bounds what stands in one entry, in bytes; a single session may have more.
const mostEntry = 4 << 20

// mostRecord is what the journal takes at once, in bytes.
const mostRecord = 8<<20 - 64<<10

// Commit writes entries to the journal, and returns when this replica has applied them: they are on the disks of a majority then.
// Another attempt with the same entry counts once. It tries again until ctx ends. ErrRefused if a session belongs to another replica.
func (c *Cluster) Commit(ctx context.Context, e *Entry) error {
	if e.empty() {
		return nil
	}
	var err error
	for _, part := range e.split() {
		if one := c.leading.commit(ctx, part); one != nil && !errors.Is(one, ErrRefused) {
			return one
		} else if one != nil {
			err = one
		}
	}
	return err
}

// split divides an entry that is too large for one record: messages come first, so that one whose identifier stands behind is not lost.
func (e *Entry) split() (list []*Entry) {
	now := &Entry{Applied: e.Applied}
	octets := 0
	room := func(n int) *Entry {
		if octets+n > mostEntry && octets > 0 {
			list, now, octets = append(list, now), &Entry{Applied: e.Applied}, 0
		}
		octets += n
		return now
	}
	for _, m := range e.Messages {
		to := room(len(m.Topic) + len(m.Payload) + len(m.Properties))
		to.Messages = append(to.Messages, m)
	}
	for _, r := range e.Retained {
		n := len(r.Topic)
		if r.Message != nil {
			n += len(r.Message.Payload) + len(r.Message.Properties)
		}
		to := room(n)
		to.Retained = append(to.Retained, r)
	}
	for _, s := range e.Sessions {
		to := room(len(s.Key) + len(s.State))
		to.Sessions = append(to.Sessions, s)
	}
	for _, d := range e.Devices {
		to := room(len(d.Name) + len(d.State))
		to.Devices = append(to.Devices, d)
	}
	now.Claims = e.Claims
	list = append(list, now)
	for _, one := range list[:len(list)-1] {
		one.Applied = 0 // the sessions are whole with the last part only
	}
	return list
}

// addTime is how long an answer of the journal is waited for before the same is written again.
const addTime = 3 * time.Second

func (c leading) commit(ctx context.Context, e *Entry) error {
	select { // entries of one replica are numbered in the order in which they are written
	case c.adding <- struct{}{}:
		defer func() { <-c.adding }()
	case <-ctx.Done():
		return fault.E("cluster.Commit", fault.Unavailable, c.Self(), ctx.Err())
	}
	c.number++
	e.Replica, e.Epoch, e.Number = c.Self(), c.epoch, c.number
	if e.Applied == 0 {
		c.mu.Lock()
		e.Applied = c.tails[e.Replica].applied
		c.mu.Unlock()
	}
	data := e.Append(nil)
	if len(data) > mostRecord {
		return fault.E("cluster.Commit", fault.Invalid, e.Replica, fmt.Errorf(
			"a session with all that waits for it has %d bytes, and the journal takes %d: write 4194304 or less as mqtt.queue_bytes", len(data), mostRecord))
	}
	mine := func() bool { return c.handled >= e.Number }
	for {
		one, cancel := context.WithTimeout(ctx, addTime)
		err := c.cfg.Journal.Add(one, data)
		if err == nil {
			err = c.leading.wait(one, mine)
		} else if ctx.Err() == nil {
			pause, stop := context.WithTimeout(one, readAgain)
			if c.leading.wait(pause, mine) == nil {
				err = nil
			}
			stop()
		}
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return fault.E("cluster.Commit", fault.Unavailable, e.Replica, fmt.Errorf("the journal of the brokers: %w", err))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	refused := c.refused[e.Number]
	delete(c.refused, e.Number)
	if len(refused) > 0 {
		return fault.E("cluster.Commit", fault.Conflict, e.Replica, ErrRefused)
	}
	return nil
}

// Owns reports whether this replica owns a session and has it.
func (c *Cluster) Owns(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.sessions[key]
	return o != nil && o.owner == c.Self() && !c.leading.isMoving(key)
}

// How long a session may take to move, and how long its owner is waited for.
const (
	moveTime = 8 * time.Second
	giveTime = 2 * time.Second
)

// Move has this replica own a session, whose state the broker is handed if there is one: its owner gives it up, or it is taken from an
// owner that does not answer. Unavailable if no majority of the replicas is there.
func (c *Cluster) Move(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	for ctx.Err() == nil {
		if err := c.Trouble(); err != nil {
			return err
		}
		owner, reached := c.leading.ownerOf(key)
		switch {
		case owner == "" && c.leading.taken(ctx, key):
			return c.leading.wait(ctx, func() bool { return !c.leading.isMoving(key) })
		case owner == "":
		case reached && c.leading.ask(ctx, owner, key):
		default:
			c.leading.claim(ctx, Claim{owner, key})
		}
	}
	return fault.E("cluster.Move", fault.Unavailable, key, fmt.Errorf("the replica that has the session of the client does not answer: %w", ctx.Err()))
}

// taken tells the others that a client connects here, and reports whether none of them keeps its session: one that does not stand in
// what was read of the journal yet is waited for.
func (c leading) taken(ctx context.Context, key string) bool {
	c.mu.Lock()
	_, known := c.sessions[key]
	c.mu.Unlock()
	if known {
		return true
	}
	ctx, stop := context.WithTimeout(ctx, tellTime)
	defer stop()
	var kept atomic.Bool
	c.announcing.each(func(p *peer) {
		c.mu.Lock()
		asked := p.reached && c.cfg.Now().Sub(p.answers) <= 2*trustTime // another one has nothing to say, or is stopped
		c.mu.Unlock()
		if !asked {
			_ = c.cfg.Mesh.Tell(p.name, "taken", []byte(key))
			return
		}
		answer, err := c.cfg.Mesh.Ask(ctx, p.name, "taken", []byte(key))
		if err == nil && string(answer) == "kept" {
			kept.Store(true)
		}
	})
	if kept.Load() {
		_ = c.wait(ctx, func() bool { return c.sessions[key] != nil })
	}
	return !kept.Load()
}

// ownerOf returns which other replica owns a session, "" for none, and whether it is reached.
func (c leading) ownerOf(key string) (owner string, reached bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.sessions[key]
	if o == nil || o.owner == c.Self() {
		return "", false
	}
	return o.owner, c.reaches(o.owner)
}

// ask asks another replica to give up a session, and reports whether it did.
func (c leading) ask(ctx context.Context, owner, key string) bool {
	ctx, stop := context.WithTimeout(ctx, giveTime)
	defer stop()
	if _, err := c.cfg.Mesh.Ask(ctx, owner, "give", []byte(key)); err != nil {
		return false
	}
	return c.leading.wait(ctx, func() bool { return c.sessions[key] == nil || c.sessions[key].owner != owner }) == nil
}

func (c leading) isMoving(key string) bool {
	_, is := c.moving[key]
	return is
}

// Inherit notes that a replica has the filters of a session from now on.
func (c *Cluster) Inherit(replica string, state []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading.inherit(replica, state, c.position+1)
}

// claimTime is how long a claim may take.
const claimTime = 5 * time.Second

// mostClaims is how many claims stand in one entry.
const mostClaims = 2000

// claim takes over sessions of another replica. Claims of many clients that move at once go into one entry: each entry with claims costs
// every replica a flush to its disk.
func (c leading) claim(ctx context.Context, cl Claim) {
	c.mu.Lock()
	c.wanted = append(c.wanted, cl)
	c.mu.Unlock()
	select {
	case c.claiming <- struct{}{}:
		defer func() { <-c.claiming }()
	case <-ctx.Done(): // nobody waits for it any more, and its replica may be back by then
		c.mu.Lock()
		if i := slices.Index(c.wanted, cl); i >= 0 {
			c.wanted = slices.Delete(slices.Clone(c.wanted), i, i+1)
		}
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	n := min(len(c.wanted), mostClaims)
	list := c.wanted[:n:n]
	c.wanted = c.wanted[n:]
	c.mu.Unlock()
	if n == 0 { // they went with those of another client
		return
	}
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	_ = c.leading.commit(ctx, &Entry{Claims: list}) // it is tried again
}

// markEvery is after how many entries of others a replica says how far it is, if it has nothing else to say.
const markEvery = 1000

// mark says how far this replica is, so that little has to be read again for its sessions.
func (c leading) mark() {
	c.mu.Lock()
	far := c.position > c.tails[c.Self()].applied+markEvery
	c.mu.Unlock()
	if far && c.host != nil {
		c.host.Mark()
	}
}

// Change has devices added, changed or removed at all replicas, and returns when they are at this one.
func (c *Cluster) Change(ctx context.Context, list []Device) error {
	if err := c.Trouble(); err != nil {
		return err
	}
	return c.Commit(ctx, &Entry{Devices: list})
}
