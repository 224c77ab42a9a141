// Package template converts payloads of MQTT messages into readings of points, by the templates of the configuration. It is pure: it
// knows neither clients nor the recorder. Topics and payloads are hostile: every name that becomes part of a path is escaped, and depth,
// sizes and numbers of values are bounded.
package template

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"voltbus/broker/setting"
	"voltbus/point"
)

// The bounds of one payload.
const (
	maxReadings = 1000     // values of one message; the rest is an error
	maxDepth    = 16       // of objects and lists
	maxText     = 64 << 10 // bytes of a text value
)

// Set holds templates in their order. It does not change and is safe for concurrent use.
type Set struct{ list []*compiled }

// compiled is a template with its topic taken apart.
type compiled struct {
	setting.Template
	levels   []level
	points   []field
	leave    map[string]bool
	when     route
	named    bool // a point has a level of the topic in its name
	sets     bool // a point can be commanded
	straight bool // values are found without decoding the whole payload
}

// level is one level of a topic: a text, or any.
type level struct {
	text string
	name string // what the level is called in braces; "" for none
	any  bool   // + or {name}
	rest bool   // #
}

// field is a point of a template with the way to its value.
type field struct {
	setting.Point
	from    route
	on, off map[string]bool
	bad     map[string]bool
	initial point.Value // what the point reverts to
}

// Compile prepares templates that were validated.
func Compile(list []setting.Template) (*Set, error) {
	s := &Set{}
	for i := range list {
		c, err := compile(&list[i])
		if err != nil {
			return nil, fmt.Errorf("template %q: %w", list[i].Name, err)
		}
		s.list = append(s.list, c)
	}
	return s, nil
}

func compile(t *setting.Template) (*compiled, error) {
	c := &compiled{Template: *t, leave: set(t.Leave, false)}
	for text := range strings.SplitSeq(t.Topic, "/") {
		l := level{text: text, any: text == "+", rest: text == "#"}
		if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
			l.name, l.any = text, true
		}
		c.levels = append(c.levels, l)
	}
	if t.Time != "" {
		way, err := setting.ParseWay(t.Time)
		if err != nil {
			return nil, fmt.Errorf("time: %w", err)
		}
		c.when = route(way)
	}
	for i := range t.Points {
		f, err := compileField(t, &t.Points[i])
		if err != nil {
			return nil, fmt.Errorf("points[%d].%w", i, err)
		}
		c.named = c.named || strings.Contains(f.Name, "{")
		c.sets = c.sets || f.Set.Topic != ""
		c.points = append(c.points, f)
	}
	c.straight = c.direct()
	return c, nil
}

func compileField(t *setting.Template, p *setting.Point) (f field, err error) {
	f = field{Point: *p, on: set(p.On, true), off: set(p.Off, true), bad: set(p.Bad, false)}
	if f.Scale == 0 {
		f.Scale = 1
	}
	from := p.From
	if from == "" && (t.Format == setting.JSON || t.Format == setting.CBOR) {
		from = p.Name
	}
	if from != "" {
		way, err := setting.ParseWay(from)
		if err != nil {
			return f, fmt.Errorf("from: %w", err)
		}
		f.from = route(way)
	}
	if f.Set.Default != "" {
		if f.initial, err = f.byType(f.Set.Default); err != nil {
			return f, fmt.Errorf("set.default: %q %w", f.Set.Default, err)
		}
	}
	return f, nil
}

// set returns texts as a set, in lower case if they are compared so.
func set(texts []string, lower bool) map[string]bool {
	if len(texts) == 0 {
		return nil
	}
	m := make(map[string]bool, len(texts))
	for _, t := range texts {
		if lower {
			t = strings.ToLower(t)
		}
		m[t] = true
	}
	return m
}

// Match is a template for the messages of one topic.
type Match struct {
	Name     string        // the template's
	Device   point.Path    // where the points lie
	Live     bool          // nothing is recorded
	Interval time.Duration // how often a message is expected; 0: unknown
	Stale    time.Duration // after which silence the points are stale; 0: never
	t        *compiled
	names    *strings.Replacer // of the levels, nil for none
	commands []*Command        // by the place of the field, nil for those that cannot be commanded
	take     Taker
}

// Taker hands the readings of a message to emit, as Match.Take does.
type Taker func(now time.Time, topic string, payload []byte, emit func(*Reading)) error

// Custom makes a match of messages that no template describes, but a function reads.
func Custom(name string, device point.Path, take Taker) *Match {
	return &Match{Name: name, Device: device, take: take}
}

// Silent reports whether messages without a reading are nothing strange.
func (m *Match) Silent() bool { return m.take != nil }

// Find returns the first template that takes the messages of a topic, nil for none.
func (s *Set) Find(topic string) *Match {
	for _, c := range s.list {
		if pairs, ok := c.match(topic); ok {
			m := &Match{Name: c.Name, Live: c.Live, Interval: c.Interval, Stale: c.StaleAfter, t: c}
			device := c.Device
			if len(pairs) > 0 {
				names := strings.NewReplacer(pairs...)
				device = names.Replace(device)
				if c.named {
					m.names = names
				}
			}
			m.Device = point.Path(device)
			if m.Device.Validate() != nil { // such as one that became too long
				return nil
			}
			if c.sets {
				m.makeCommands(topic)
			}
			return m
		}
	}
	return nil
}

// match reports whether a topic fits, with the names of levels and their texts.
func (c *compiled) match(topic string) (pairs []string, ok bool) {
	rest, more := topic, true
	for _, l := range c.levels {
		if l.rest {
			return pairs, true
		}
		if !more {
			return nil, false
		}
		var text string
		text, rest, more = strings.Cut(rest, "/")
		if !l.any && l.text != text || l.any && strings.HasPrefix(topic, "$") && len(text)+len(rest)+1 >= len(topic) {
			return nil, false
		}
		if l.name != "" {
			if text == "" {
				return nil, false
			}
			pairs = append(pairs, l.name, Segment(text))
		}
	}
	return pairs, !more
}

// Reading is a value that a payload holds.
type Reading struct {
	Name    string // within the device
	Unit    string
	Value   point.Value
	Quality point.Quality
	Time    time.Time // the zero time for that of arrival
	Command *Command  // how the point is commanded; nil if it cannot be
	// Historical says that it is not the present value: it is only recorded.
	Historical bool
}

// Take hands the readings of a payload to emit. The error says why the payload is not one of the template; readings
// before it were handed over.
// now is when it arrived.
func (m *Match) Take(now time.Time, topic string, payload []byte, emit func(*Reading)) error {
	if m.take != nil {
		return m.take(now, topic, payload, emit)
	}
	switch m.t.Format {
	case setting.Plain:
		f := &m.t.points[0]
		r, err := f.reading(string(payload))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		r.Name, r.Command = m.name(f.Name), m.command(0)
		emit(&r)
		return nil
	case setting.SenML:
		return takeSenML(now, payload, emit)
	case setting.SenMLCBOR:
		text, err := senMLOf(payload)
		if err != nil {
			return err
		}
		return takeSenML(now, text, emit)
	case setting.CBOR:
		whole, err := readCBOR(payload)
		if err != nil {
			return err
		}
		return m.takeWhole(whole, emit)
	default:
		return m.takeJSON(payload, emit)
	}
}

// name puts the levels of the topic into the name of a point.
func (m *Match) name(name string) string {
	if m.names == nil || !strings.Contains(name, "{") {
		return name
	}
	return m.names.Replace(name)
}

const hexDigits = "0123456789ABCDEF"

// Segment returns a text as one segment of a path: what cannot stand in one is percent-encoded, so that no text leaves
// its place and different texts stay different.
func Segment(text string) string {
	switch text {
	case "":
		return "%00"
	case ".", "..": // no segment of a path
		return strings.Repeat("%2E", len(text))
	}
	if !strings.ContainsFunc(text, special) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !special(r) || r == utf8.RuneError && size > 1 {
			b.WriteString(text[i : i+size])
		} else {
			b.Write([]byte{'%', hexDigits[text[i]>>4], hexDigits[text[i]&15]})
		}
		i += size
	}
	return b.String()
}

func special(r rune) bool {
	return r < 0x20 || r == 0x7f || r == '/' || r == '%' || r == utf8.RuneError
}
