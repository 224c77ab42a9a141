package cluster

import (
	"math/rand/v2"
	"slices"

	"voltbus/protocol/mqtt/topic"
)

// Members are who subscribes to a filter at one replica.
type Members struct{ Count, Connected int }

// Group is a shared subscription that a message matches, with its members at this replica.
type Group struct {
	Share, Filter string
	Members
}

// Plan says where else a message goes.
type Plan struct {
	Replicas []string // those where subscriptions match that are not shared
	All      bool     // it goes to each of the others, since somebody may match
	Groups   []Target // shared subscriptions of which a member at another replica was chosen
	Away     []bool   // for each group of this replica, whether it is among them
}

// Any reports whether the message goes elsewhere.
func (p *Plan) Any() bool { return p.All || len(p.Replicas)+len(p.Groups) > 0 }

// remote is what a replica told of a filter.
type remote struct {
	Members
	since uint64 // the place in the journal where the replica took the filter over, 0 if it told of it
}

// routes are the filters of other replicas.
type routes struct {
	tree    *topic.Tree[string, remote]
	of      map[string]map[string]remote
	matches topic.Matches[string, remote]
}

func newRoutes() *routes {
	return &routes{tree: topic.NewTree[string, remote](), of: map[string]map[string]remote{}}
}

func (r *routes) has(replica string) bool { return len(r.of[replica]) > 0 }

// set notes who subscribes to a filter at a replica.
func (r *routes) set(replica, filter string, m remote) {
	f, err := topic.Parse(filter, 0)
	if err != nil {
		return
	}
	set := r.of[replica]
	if m.Count == 0 {
		delete(set, filter)
		r.tree.Remove(f, replica)
		return
	}
	if set == nil {
		set = map[string]remote{}
		r.of[replica] = set
	}
	set[filter] = m
	r.tree.Add(f, replica, m)
}

// hear notes what a replica told that has applied the journal up to a place: a filter that it took over later is there even so.
func (r *routes) hear(replica, filter string, m Members, applied uint64) {
	if old := r.of[replica][filter]; m.Count == 0 && old.since > applied {
		return
	}
	r.set(replica, filter, remote{Members: m})
}

// clear forgets what a replica told before.
func (r *routes) clear(replica string, applied uint64) {
	for f := range r.of[replica] {
		r.hear(replica, f, Members{}, applied)
	}
}

// inherit notes that a replica takes a filter over.
func (r *routes) inherit(replica, filter string, m Members, sequence uint64) {
	old := r.of[replica][filter]
	r.set(replica, filter, remote{Members{max(m.Count, old.Count), old.Connected}, sequence})
}

// inheritAll notes that a replica takes over all filters of another one.
func (r *routes) inheritAll(replica, from string, sequence uint64) {
	for f, m := range r.of[from] {
		r.inherit(replica, f, m.Members, sequence)
	}
	r.clear(from, ^uint64(0))
}

// Choose says where else a message of a topic goes, which matches groups at this replica. One that must arrive is sure.
func (c *Cluster) Choose(name string, groups []Group, sure bool) (p Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.All = sure && c.leading.unsure()
	m := &c.routes.matches
	c.routes.tree.Match([]byte(name), m)
	for _, set := range m.Sets {
		for _, one := range set {
			if !slices.Contains(p.Replicas, one.Subscriber) {
				p.Replicas = append(p.Replicas, one.Subscriber)
			}
		}
	}
	if len(groups) > 0 {
		p.Away = make([]bool, len(groups))
	}
	for _, g := range m.Groups {
		i := slices.IndexFunc(groups, func(l Group) bool { return l.Share == g.Name() && l.Filter == g.Filter() })
		local := Members{}
		if i >= 0 {
			local = groups[i].Members
		}
		if to := c.leading.pick(g, local); to != "" {
			p.Groups = append(p.Groups, Target{to, g.Name(), g.Filter()})
			if i >= 0 {
				p.Away[i] = true
			}
		}
	}
	return p
}

// ChooseAgain returns another replica for a shared subscription that has no member here; false if there is none.
func (c *Cluster) ChooseAgain(t Target) (Target, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := Target{}
	for replica, set := range c.routes.of {
		if r, ok := set["$share/"+t.Share+"/"+t.Filter]; ok && replica != t.Replica && (found.Replica == "" || r.Connected > 0) {
			found = Target{replica, t.Share, t.Filter}
		}
	}
	return found, found.Replica != ""
}

// pick chooses a replica for a shared subscription by the numbers of its members, "" for this one: one where a member is connected, if
// there is any.
func (c leading) pick(g *topic.Group[string, remote], local Members) string {
	weigh := func(m Members, there bool, connected bool) int {
		if connected {
			if there {
				return m.Connected
			}
			return 0
		}
		return m.Count
	}
	for _, connected := range []bool{true, false} {
		total := weigh(local, true, connected)
		for m := range g.Members() {
			total += weigh(m.Value.Members, c.leading.reaches(m.Subscriber), connected)
		}
		if total == 0 {
			continue
		}
		n := rand.IntN(total) - weigh(local, true, connected)
		if n < 0 {
			return ""
		}
		for m := range g.Members() {
			if n -= weigh(m.Value.Members, c.leading.reaches(m.Subscriber), connected); n < 0 {
				return m.Subscriber
			}
		}
	}
	return ""
}

// reaches reports whether another replica is reached; one that is not in the list never is. The lock is held.
func (c leading) reaches(replica string) bool {
	p := c.peers[replica]
	return p != nil && p.reached
}

// SendLive hands a message with QoS 0 to the replicas of a plan. It may be lost.
func (c *Cluster) SendLive(m *Message, p *Plan) {
	to := slices.Clone(p.Replicas)
	for _, t := range p.Groups {
		if !slices.Contains(to, t.Replica) {
			to = append(to, t.Replica)
		}
	}
	w := writer{}
	m.All = len(p.Replicas) > 0
	m.Groups = p.Groups
	w.message(m)
	for _, replica := range to {
		_ = c.cfg.Mesh.Tell(replica, "live", w.b) // at most once
	}
}

// live takes a message of another replica.
func (c leading) live(_ string, data []byte) []byte {
	r := reader{b: data}
	m := r.message()
	if !r.bad {
		c.host.Live(&m)
	}
	return nil
}

// Self returns the name of this replica.
func (c *Cluster) Self() string { return c.cfg.Mesh.Self() }
