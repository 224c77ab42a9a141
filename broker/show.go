package broker

import (
	"slices"
	"time"

	"voltbus/broker/unknown"
)

// Unknown lists the topics whose messages were not taken, the last one first.
func (b *Broker) Unknown() []unknown.Topic {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unknown.List()
}

// Client is a session of a client, connected or away.
type Client struct {
	ID        string
	Device    string
	Address   string // "" while it is away
	Version   int    // of MQTT: 4 is 3.1.1
	Secure    bool   // by a certificate of its own
	Connected time.Time
	Expiry    uint32 // in seconds
	Filters   int
	Waiting   int // messages with QoS 1 or 2
	Dropped   uint64
}

// Clients lists sessions in the order of device and client identifier, behind a place, at most limit of them.
func (b *Broker) Clients(after string, limit int) (list []Client, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var keys []string
	for key := range b.table.Keys() {
		if shownKey(key) > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	more = len(keys) > limit
	for _, key := range keys[:min(limit, len(keys))] {
		s := b.table.Get(key)
		c := Client{ID: clientOf(key), Device: ownerOf(key), Expiry: s.Expiry(), Dropped: s.Dropped()}
		for range s.Subscriptions() {
			c.Filters++
		}
		for range s.Unfinished() {
			c.Waiting++
		}
		if l := linkOf(s.Conn()); l != nil {
			c.Address, c.Version, c.Secure, c.Connected = l.Peer.String(), int(s.Conn().Version()), l.Secure != nil, l.since
		}
		list = append(list, c)
	}
	return list, more
}

// State is how many of each there are.
type State struct {
	Connected, Sessions, Subscriptions, Retained, Waiting int
}

// State returns how many there are now.
func (b *Broker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return State{Connected: len(b.links), Sessions: b.table.Len(), Subscriptions: b.tree.Len(), Retained: b.retained.Len(), Waiting: len(b.work.list)}
}
