package broker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"voltbus/broker/template"
	"voltbus/protocol/mqtt/session"
)

// Unknown is a topic whose messages no template takes, or whose payload is not what its template says.
type Unknown struct {
	Topic    string
	Device   string // the name of the device that sent last, "" for a client without one
	Template string // "" if none fits the topic
	Why      string // what is wrong with the payload, "" if no template fits
	Payload  []byte // of the last message, its beginning
	Count    uint64
	At       time.Time // of the last message
	Proposal string    // a template that would take it, in YAML; "" if none can be proposed
}

// The bounds of what is shown.
const (
	mostUnknown = 500
	mostPayload = 1 << 10
	mostText    = 200
)

// unknowns are the topics whose messages were not taken, the last ones of them. The broker's lock guards it.
type unknowns struct{ topics map[string]*Unknown }

func (u *unknowns) note(m Unknown) {
	if u.topics == nil {
		u.topics = map[string]*Unknown{}
	}
	if known := u.topics[m.Topic]; known != nil {
		m.Count += known.Count
		*known = m
		return
	}
	if len(u.topics) >= mostUnknown {
		var oldest *Unknown
		for _, k := range u.topics {
			if oldest == nil || k.At.Before(oldest.At) {
				oldest = k
			}
		}
		delete(u.topics, oldest.Topic)
	}
	u.topics[m.Topic] = &m
}

func unknownMessage(now time.Time, l *link, m *session.Message, why string) Unknown {
	return Unknown{Topic: m.Topic, Device: l.tenant.name, Why: why, Payload: clipPayload(m.Payload), Count: 1, At: now}
}

func clipPayload(p []byte) []byte { return slices.Clone(p[:min(len(p), mostPayload)]) }

func clipText(s string) string {
	if len(s) <= mostText {
		return s
	}
	return strings.ToValidUTF8(s[:mostText], "") + "…"
}

// Unknown lists the topics whose messages were not taken, the last one first.
func (b *Broker) Unknown() []Unknown {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Unknown, 0, len(b.unknown.topics))
	for _, u := range b.unknown.topics {
		shown := *u
		if u.Template == "" {
			shown.Proposal = template.Propose(u.Topic, u.Device, u.Payload)
		}
		list = append(list, shown)
	}
	slices.SortFunc(list, func(x, y Unknown) int { return cmp.Or(y.At.Compare(x.At), strings.Compare(x.Topic, y.Topic)) })
	return list
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
			c.Address, c.Version, c.Secure, c.Connected = l.peer.String(), int(s.Conn().Version()), l.secure != nil, l.since
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
	return State{Connected: len(b.links), Sessions: b.table.Len(), Subscriptions: b.tree.Len(), Retained: b.retained.total.messages, Waiting: len(b.work.list)}
}
