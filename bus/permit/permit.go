// Package permit defines the permissions of a bus connection: the subjects that it may publish and subscribe to, and the reason for a
// quarantine.
package permit

import (
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"voltbus/fault"
	"voltbus/identity/registry"
	"voltbus/point"
	"voltbus/wire"
)

// Permit is what a connection may do. The zero Permit connects and may do nothing.
type Permit struct {
	Name string // who it is, for accounts and messages
	// Node allows everything, also to read and write the log.
	Node bool
	// Exclusive allows one live connection of the name: a second one learns so from the answer to
	// hello, may do nothing else, and is closed soon.
	Exclusive bool
	// Prompt says that the holder answers a ping at once, whatever it does. When a second one comes, a
	// holder that does not is closed: its machine is gone, or the way to it.
	Prompt  bool
	Publish []string // subjects, with * and >
	// Subscribe lists subjects too; none may end in *, behind which the server would let > pass.
	Subscribe []string
	Responses bool // one answer to each request that it receives
	// Quarantine, if not nil, keeps the holder in quarantine: every request is answered with it. It stays there for
	// Stay, and is closed at once when it may come in.
	Quarantine *Quarantine
	// Beside, if not nil, is for another connection of the same key, which calls itself by the name in it.
	Beside *Permit
}

// Called returns the permit of a connection that calls itself by a name.
func (p Permit) Called(name string) Permit {
	if p.Beside != nil && p.Quarantine == nil && name == p.Beside.Name {
		return *p.Beside
	}
	return p
}

// Quarantine is the reason why a connection is kept out.
type Quarantine struct {
	Why  string        // for programs, one of the words below
	Err  *fault.Error  // for people
	Stay time.Duration // how long the connection is kept; 0 for two seconds
}

// The words of Quarantine, which an answer carries as wire.Failure.Why.
const (
	QuarantinePending  = "pending"  // somebody must approve it
	QuarantineRevoked  = "revoked"  // it is shut out
	QuarantineReplaced = "replaced" // the key is one that was replaced by another
	QuarantineExpired  = "expired"  // the key is of a bundle that was not used in its time
	QuarantineConflict = "conflict" // the name is connected already
	QuarantineAsked    = "asked"    // the name is connected already, and it is not known yet whether that connection lives
	QuarantineFlood    = "flood"    // it sent too much a moment ago
)

// How an answer may be given to a request.
const (
	answersEach = 1
	answerLife  = 10 * time.Minute
)

// Reader may receive what devices report, and nothing else.
func Reader(name string) Permit {
	return Permit{Name: name, Subscribe: []string{"live.>", wire.InboxPrefix + wire.Token(name) + ".>"}}
}

// Agent returns what the grants of an agent are on the bus. What they say of the history, of
// recording and of commands the node checks when it is asked; that is open to everybody.
func Agent(a *registry.Agent) Permit {
	self := wire.Token(a.Name)
	p := Permit{
		Name: a.Name, Exclusive: true, Responses: true,
		Publish: []string{
			wire.CallPrefix + wire.NodeName + "." + self + ".*",
			wire.MessageSubject(a.Name, wire.HealthTopic),
			wire.MessageSubject(a.Name, wire.AlertTopic),
			wire.MessageSubject(a.Name, wire.AlertTopic) + ".>",
		},
		Subscribe: []string{
			wire.CallPrefix + self + ".>",
			wire.InboxPrefix + self + ".>",
			wire.NewsPrefix + self + ".>",
		},
	}
	g := &a.Grants
	if g.Administer {
		p.Publish = append(p.Publish, "live.scan.>", "live.point.>", wire.MessagePrefix+self+".>", wire.CallPrefix+"*."+self+".*")
		p.Subscribe = append(p.Subscribe, "live.>", wire.MessagePrefix+">")
		return p.tidy()
	}
	for _, pattern := range g.Publish {
		p.Publish = appendLive(p.Publish, pattern)
		p.Publish = AppendBelow(p.Publish, wire.MessagePrefix+self+".", pattern)
	}
	for _, pattern := range g.Subscribe {
		p.Subscribe = appendLive(p.Subscribe, pattern)
		p.Subscribe = appendBreadth(p.Subscribe, pattern)
		p.Subscribe = AppendBelow(p.Subscribe, wire.MessagePrefix+"*.", pattern)
	}
	for _, c := range g.Call {
		if c.Remote() {
			continue // the node passes it on
		}
		method := "*"
		if c.Method != "" {
			method = wire.Token(c.Method)
		}
		p.Publish = append(p.Publish, wire.CallPrefix+wire.Token(c.Agent)+"."+self+"."+method)
	}
	return p.tidy()
}

// appendLive appends the live subjects of a pattern. A scan carries all points below its device, so
// only a pattern that covers them all gives scans.
func appendLive(dst []string, pattern point.Pattern) []string {
	if !strings.Contains(string(pattern), "*") || pattern == "**" || strings.HasSuffix(string(pattern), "/**") {
		dst = AppendBelow(dst, wire.ScanPrefix, pattern)
	}
	return AppendBelow(dst, wire.PointPrefix, pattern)
}

// breadthLevels is how far below a granted path a point or device may lie to be received under its breadth-first
// subject. A wildcard for any number of tokens stands at the end of a subject only, and the path's end is in front.
const breadthLevels = 8

// appendBreadth appends the breadth-first subjects of a pattern. One whose first segment is * has none: the
// subject would end in it, and the server would let > pass.
func appendBreadth(dst []string, pattern point.Pattern) []string {
	path, deep := string(pattern), !strings.Contains(string(pattern), "*")
	if path == "**" {
		return append(dst, wire.BreadthScanPrefix+">", wire.BreadthPointPrefix+">")
	}
	if before, found := strings.CutSuffix(path, "/**"); found {
		path, deep = before, true
	}
	tokens := strings.Split(path, "/")
	if tokens[0] == "*" {
		return dst
	}
	for i, s := range tokens {
		if s != "*" {
			tokens[i] = wire.Token(s)
		}
	}
	slices.Reverse(tokens)
	subject := strings.Join(tokens, ".")
	if !deep {
		return append(dst, wire.BreadthPointPrefix+subject)
	}
	for level := range breadthLevels + 1 {
		below := strings.Repeat("*.", level) + subject
		dst = append(dst, wire.BreadthScanPrefix+below, wire.BreadthPointPrefix+below)
	}
	return dst
}

// AppendBelow appends the subjects that a pattern selects behind a prefix. It takes the patterns
// that identity.Grants lets pass for publish and subscribe: "*" is a whole segment, "**" the last.
func AppendBelow(dst []string, prefix string, pattern point.Pattern) []string {
	path, deep := string(pattern), !strings.Contains(string(pattern), "*")
	if path == "**" {
		return append(dst, prefix+">")
	}
	if before, found := strings.CutSuffix(path, "/**"); found {
		path, deep = before, true
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if s != "*" {
			segments[i] = wire.Token(s)
		}
	}
	subject := prefix + strings.Join(segments, ".")
	dst = append(dst, subject)
	if deep {
		dst = append(dst, subject+".>")
	}
	return dst
}

// tidy sorts the subjects, each once, so that permits can be compared.
func (p Permit) tidy() Permit {
	slices.Sort(p.Publish)
	slices.Sort(p.Subscribe)
	p.Publish, p.Subscribe = slices.Compact(p.Publish), slices.Compact(p.Subscribe)
	return p
}

// Same reports whether two permits allow the same.
func (p *Permit) Same(o *Permit) bool {
	return p.Name == o.Name && p.Node == o.Node && p.Why() == o.Why() && p.Exclusive == o.Exclusive && p.Prompt == o.Prompt && p.Responses == o.Responses &&
		slices.Equal(p.Publish, o.Publish) && slices.Equal(p.Subscribe, o.Subscribe)
}

// Why returns why the holder is kept in quarantine; "" while it is not.
func (p *Permit) Why() string {
	if p.Quarantine == nil {
		return ""
	}
	return p.Quarantine.Why
}

// Permissions returns the permit as the server takes it; nil allows everything.
func (p *Permit) Permissions() *server.Permissions {
	if p.Node {
		return nil
	}
	out := &server.Permissions{Publish: allow(p.Publish), Subscribe: allow(p.Subscribe)}
	if p.Responses {
		out.Response = &server.ResponsePermission{MaxMsgs: answersEach, Expires: answerLife}
	}
	return out
}

// allow denies everything where nothing is allowed: for the server an empty list means all.
func allow(subjects []string) *server.SubjectPermission {
	if len(subjects) == 0 {
		return &server.SubjectPermission{Deny: []string{">"}}
	}
	return &server.SubjectPermission{Allow: subjects}
}

// Subscribable reports whether the permit allows a subscription.
func (p *Permit) Subscribable(subject string) bool {
	return p.Node || slices.ContainsFunc(p.Subscribe, func(wide string) bool { return wire.Covers(wide, subject) })
}

// LiveName is what the second connection of a child is called, which carries live messages only, so that no
// backlog of blocks stands before them.
func LiveName(caller string) string { return caller + "/live" }

// livePermit is for the second connection of a child.
func livePermit(caller string) *Permit {
	self := wire.Token(LiveName(caller))
	return &Permit{
		Name:      LiveName(caller),
		Publish:   []string{wire.FlowPrefix + self + ".*"},
		Subscribe: []string{wire.NewsPrefix + self + ".>"},
	}
}

// Quarantined returns what a connection may do that is kept in quarantine: ask, and subscribe in vain, so that
// nothing is taken for a violation.
func (p *Permit) Quarantined() *server.Permissions {
	self := wire.Token(p.Name)
	return &server.Permissions{
		Publish:   allow([]string{wire.CallPrefix + wire.NodeName + "." + self + ".*"}),
		Subscribe: allow(append([]string{wire.InboxPrefix + self + ".>", wire.CallPrefix + self + ".>"}, p.Subscribe...)),
	}
}
