package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// Subscription is a stream of messages. It is safe for concurrent use.
type Subscription struct {
	subs []*nats.Subscription
}

// Stop ends the stream. What was received before may still be delivered.
func (s *Subscription) Stop() {
	for _, sub := range s.subs {
		_ = sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
	}
}

// Lost returns how many messages came faster than they were taken, and are lost. That is reported,
// too, when it begins.
func (s *Subscription) Lost() int {
	n := 0
	for _, sub := range s.subs {
		if lost, err := sub.Dropped(); err == nil {
			n += lost
		}
	}
	return n
}

// Subscribe calls deliver with the samples of each live message that holds selected points: the
// newest values of one device, or of one agent. Numbers without a fraction arrive as integers.
// deliver is called by one goroutine at a time for each pattern, and may keep the samples; when it
// is too slow, messages are lost and counted. It fails with fault.Refused if a pattern is not
// granted.
func (c *Client) Subscribe(sel wire.Selection, deliver func([]point.Sample)) (*Subscription, error) {
	return c.link.subscribe("client.Subscribe", wantsAll(&c.Permissions().Grants, &sel), func(m *nats.Msg) {
		samples, err := samplesOf(m)
		if err != nil {
			c.link.opts.Report(fault.E("client.Subscribe", fault.Corrupt, m.Subject, err))
			return
		}
		if samples = slices.DeleteFunc(samples, func(s point.Sample) bool { return !sel.Selects(s.Point) }); len(samples) > 0 {
			deliver(samples)
		}
	})
}

// PrefixSelection selects all points whose path begins with these characters, in the midst of a
// segment, too.
func PrefixSelection(text string) wire.Selection {
	sel := wire.Selection{Keep: func(p point.Path) bool { return strings.HasPrefix(string(p), text) }}
	if i := strings.LastIndexByte(text, '/'); i > 0 {
		sel.Patterns = []point.Pattern{point.Pattern(text[:i])}
	}
	return sel
}

// Scans is Subscribe with the messages as they are, without points that are not selected. deliver
// must not change them. See docs/formats/live.md.
func (c *Client) Scans(sel wire.Selection, deliver func(json.RawMessage)) (*Subscription, error) {
	return c.link.subscribe("client.Subscribe", wantsAll(&c.Permissions().Grants, &sel), func(m *nats.Msg) {
		if p, err := wire.ParseSubject(wire.PointPrefix, m.Subject); err == nil {
			if sel.Selects(p) {
				deliver(m.Data)
			}
			return
		}
		device, err := wire.ParseSubject(wire.ScanPrefix, m.Subject)
		if err != nil {
			return
		}
		data, err := sel.FilterScan(m.Data, device)
		if err != nil || data == nil {
			return
		}
		deliver(data)
	})
}

// want is a subject to subscribe to.
type want struct {
	subject  string
	pattern  point.Pattern // for the error
	doubt    bool          // the grants do not seem to allow it
	optional bool          // an ancestor that may be a device; it is no error if it is refused
}

// wantsAll returns the subjects for a selection.
func wantsAll(g *identity.Grants, sel *wire.Selection) (wanted []want) {
	if len(sel.Patterns) == 0 {
		return wants(g, "")
	}
	for _, p := range sel.Patterns {
		wanted = append(wanted, wants(g, p)...)
	}
	return wanted
}

// wants returns the subjects for a pattern: of scans, or of single points if only those are granted.
func wants(g *identity.Grants, pattern point.Pattern) []want {
	prefix := pattern.Prefix()
	if !scansGranted(g, prefix) {
		if subject, ok := patternSubject(wire.PointPrefix, pattern); ok && g.MaySubscribe(point.Path(pattern)) == nil {
			return []want{{subject: subject, pattern: pattern}}
		}
	}
	if prefix == "" {
		return []want{{subject: wire.ScanPrefix + ">", pattern: "**", doubt: !scansGranted(g, "")}}
	}
	doubt := !scansGranted(g, prefix)
	base := wire.Subject(wire.ScanPrefix, prefix)
	list := []want{{base, pattern, doubt, false}, {base + ".>", pattern, doubt, false}}
	for p := prefix.Parent(); p != ""; p = p.Parent() {
		if scansGranted(g, p) {
			list = append(list, want{wire.Subject(wire.ScanPrefix, p), pattern, false, true})
		}
	}
	return list
}

// scansGranted reports whether whole devices at and below the path are granted.
func scansGranted(g *identity.Grants, path point.Path) bool {
	if g.Administer {
		return true
	}
	for _, p := range g.Subscribe {
		whole := !strings.Contains(string(p), "*") || p == "**" || strings.HasSuffix(string(p), "/**")
		if p == "**" || (whole && path != "" && p.Match(path)) {
			return true
		}
	}
	return false
}

// patternSubject returns the subject of exactly what the pattern selects; false if none can.
func patternSubject(prefix string, pattern point.Pattern) (string, bool) {
	if pattern == "" || pattern == "**" {
		return prefix + ">", true
	}
	parts := strings.Split(string(pattern), "/")
	for i, p := range parts {
		switch {
		case p == "**" && i == len(parts)-1:
			parts[i] = ">"
		case p == "*":
		case strings.Contains(p, "*"):
			return "", false
		default:
			parts[i] = wire.Token(p)
		}
	}
	return prefix + strings.Join(parts, "."), true
}

// Message is a free message of an agent.
type Message struct {
	From   string // the node made sure of it
	Topic  point.Path
	Data   []byte // usually JSON
	Header Header
}

// Messages calls deliver with the free messages of all agents on the topics that the pattern
// selects, from one goroutine, in their order; as Subscribe otherwise.
func (c *Client) Messages(pattern point.Pattern, deliver func(Message)) (*Subscription, error) {
	g := &c.Permissions().Grants
	doubt := g.MaySubscribe(point.Path(pattern)) != nil
	var wanted []want
	subject, exact := patternSubject(wire.MessagePrefix+"*.", pattern)
	switch {
	case exact && strings.Contains(string(pattern), "*"):
		wanted = []want{{subject, pattern, doubt, false}}
		if base, deep := strings.CutSuffix(subject, ".>"); deep && base != strings.TrimSuffix(wire.MessagePrefix, ".")+".*" {
			wanted = append(wanted, want{base, pattern, doubt, false})
		}
	case pattern == "":
		wanted = []want{{wire.MessagePrefix + ">", "**", doubt, false}}
	default:
		base := wire.Subject(wire.MessagePrefix+"*.", pattern.Prefix())
		wanted = []want{{base, pattern, doubt, false}, {base + ".>", pattern, doubt, false}}
	}
	return c.link.subscribe("client.Messages", wanted, func(m *nats.Msg) {
		from, topic, err := wire.ParseMessage(m.Subject)
		if err == nil && pattern.Match(topic) {
			deliver(Message{From: from, Topic: topic, Data: m.Data, Header: m.Header})
		}
	})
}

// errElsewhere: what the server let pass is the subject; what else the message says proves nothing.
var errElsewhere = errors.New("the live message is about something else than its subject, so it is not taken")

// samplesOf reads a live message of a scan or of a point.
func samplesOf(m *nats.Msg) ([]point.Sample, error) {
	if strings.HasPrefix(m.Subject, wire.PointPrefix) {
		var one answer.Sample
		if err := json.Unmarshal(m.Data, &one); err != nil {
			return nil, fmt.Errorf("read a live message of a point: %w", err)
		}
		if wire.Subject(wire.PointPrefix, point.Path(one.Point)) != m.Subject {
			return nil, fmt.Errorf("%w: %.80q", errElsewhere, one.Point)
		}
		return []point.Sample{sampleOf(point.Path(one.Point), &one)}, nil
	}
	scan, list, err := wire.ParseEntries(m.Data)
	if err != nil {
		return nil, err
	}
	if wire.Subject(wire.ScanPrefix, scan.Device) != m.Subject {
		return nil, fmt.Errorf("%w: %.80q", errElsewhere, scan.Device)
	}
	paths := pathsOf(scan.Device, list)
	samples := make([]point.Sample, 0, len(list))
	for i, e := range list {
		one := answer.Sample{Time: scan.TimeOf(e.Name), Value: e.Value, Quality: scan.Quality[e.Name]}
		samples = append(samples, sampleOf(paths[i], &one))
	}
	return samples, nil
}

// pathsOf returns the paths of the points, which share their memory.
func pathsOf(device point.Path, list []wire.Entry) []point.Path {
	size := 0
	for _, e := range list {
		size += len(device) + 1 + len(e.Name)
	}
	var all strings.Builder
	all.Grow(size)
	paths := make([]point.Path, len(list))
	for i, e := range list {
		begin := all.Len()
		all.WriteString(string(device))
		all.WriteByte('/')
		all.WriteString(e.Name)
		paths[i] = point.Path(all.String()[begin:])
	}
	return paths
}

// sampleOf reads a sample. What JSON cannot write as a number is a text there.
func sampleOf(p point.Path, in *answer.Sample) point.Sample {
	s := point.Sample{Point: p, Time: in.Time.UTC()}
	if in.Quality != "" {
		s.Quality, _ = point.ParseQuality(in.Quality)
	}
	kind := in.Kind
	switch string(in.Value) {
	case `"NaN"`, `"+Inf"`, `"-Inf"`:
		kind = point.Float.String()
	}
	s.Value, _ = answer.ParseValue(kind, in.Value) // a value that is none has no value
	return s
}
