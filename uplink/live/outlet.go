package live

import (
	"slices"
	"strings"
	"sync"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// Rules decide what may go to the other end of a link, and under which name.
type Rules struct {
	Naming uplink.Naming   // of paths at the other end
	Grants identity.Grants // of the other end: what it may subscribe to here, under this node's names
	Self   string          // the other end's name for this node
	// Judged reports whether rules judge the readings of a point before they are sent: its messages would pass them by, and are not sent. Nil: of none.
	Judged func(point.Path) bool
}

// may reports whether the messages of a point or topic may be sent.
func (r *Rules) may(path point.Path) bool {
	return r.Grants.MaySubscribe(path) == nil && (r.Judged == nil || !r.Judged(path))
}

// part returns the part of a scan that may be sent; nil for all of it, and false for nothing.
func (r *Rules) part() (*wire.Selection, bool) {
	s := &wire.Selection{}
	if r.Judged != nil {
		s.Keep = func(p point.Path) bool { return !r.Judged(p) }
	}
	if !r.Grants.Administer {
		s.Patterns = r.Grants.Subscribe
		return s, len(s.Patterns) > 0
	}
	if s.Keep == nil {
		return nil, true
	}
	return s, true
}

// maxPlans bounds the cached subjects.
const maxPlans = 1 << 16

// plan tells how the messages of a subject are sent. Nil: they are not sent.
type plan struct {
	kind    string          // the prefix of the subject
	subject string          // at the other end
	path    point.Path      // here
	to      point.Path      // there
	part    *wire.Selection // the permitted part of a scan; nil: all
	splits  bool            // the scan's points go to several places
}

// outlet decides what is sent. It is safe for concurrent use.
type outlet struct {
	mu    sync.Mutex
	rules Rules
	wants []string // subjects at the other end
	plans map[string]*plan
}

// set changes what the other end wants and may receive.
func (o *outlet) set(wants []string, rules *Rules) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wants, o.rules, o.plans = wants, *rules, map[string]*plan{}
}

// plan returns how the messages of a subject of this node are sent.
func (o *outlet) plan(subject string) *plan {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p, known := o.plans[subject]; known {
		return p
	}
	if len(o.plans) >= maxPlans {
		clear(o.plans)
	}
	p := o.find(subject)
	if p != nil && !p.splits && !matches(o.wants, p.subject) {
		p = nil
	}
	o.plans[strings.Clone(subject)] = p
	return p
}

func (o *outlet) find(subject string) *plan {
	names := &o.rules.Naming
	switch {
	case strings.HasPrefix(subject, wire.ScanPrefix):
		device, err := wire.ParseSubject(wire.ScanPrefix, subject)
		if err != nil {
			return nil
		}
		p := &plan{kind: wire.ScanPrefix, path: device, to: names.Place(device), splits: names.Splits(device)}
		p.subject = wire.Subject(p.kind, p.to)
		var some bool
		if p.part, some = o.rules.part(); !some {
			return nil
		}
		return p
	case strings.HasPrefix(subject, wire.PointPrefix):
		path, err := wire.ParseSubject(wire.PointPrefix, subject)
		if err != nil || !o.rules.may(path) {
			return nil
		}
		p := &plan{kind: wire.PointPrefix, path: path, to: names.Place(path)}
		p.subject = wire.Subject(p.kind, p.to)
		return p
	}
	from, topic, err := wire.ParseMessage(subject)
	if err != nil || o.rules.Grants.MaySubscribe(topic) != nil {
		return nil
	}
	if !strings.Contains(from, "/") {
		from = o.rules.Self + "/" + from
	}
	p := &plan{kind: wire.MessagePrefix, path: topic, to: names.Place(topic)}
	p.subject = wire.MessageSubject(from, p.to)
	return p
}

// apply returns a message in the form for the other end: none if no part may be sent, several if it goes to
// several places.
func (o *outlet) apply(m *queued) ([]Message, error) {
	p, out := m.plan, m.message
	var err error
	switch p.kind {
	case wire.MessagePrefix:
		out.Subject = p.subject
		return []Message{out}, nil
	case wire.PointPrefix:
		out.Subject, out.Header = p.subject, nil
		out.Data, err = rename(out.Data, pointKey, p.path, p.to)
		return []Message{out}, err
	}
	if p.part != nil {
		if out.Data, err = p.part.FilterScan(out.Data, p.path); err != nil || out.Data == nil {
			return nil, err
		}
	}
	if p.splits {
		o.mu.Lock()
		names, wants := o.rules.Naming, o.wants
		o.mu.Unlock()
		pieces, err := split(out.Data, names.Place)
		return slices.DeleteFunc(pieces, func(m Message) bool { return !matches(wants, m.Subject) }), err
	}
	out.Subject, out.Header = p.subject, nil
	out.Data, err = rename(out.Data, deviceKey, p.path, p.to)
	return []Message{out}, err
}

// taking receives messages from the bus while any are wanted.
type taking struct {
	stop func()
	lost func() int
}

func (t *taking) end() {
	if t.stop != nil {
		t.stop()
	}
	t.stop = nil
}
