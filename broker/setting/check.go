package setting

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/protocol/mqtt/topic"
)

// The bounds of what may be written.
const (
	maxClients   = 1_000_000
	maxConnects  = 1_000_000
	minPacket    = 1 << 10
	maxPacket    = 16 << 20
	maxKeepAlive = 65_535 * time.Second
	maxQueue     = 100_000
	maxRetained  = 10_000_000
	maxBytes     = 1 << 30
	maxBound     = 100_000_000
	maxLevels    = 64
)

// Report notes a problem with a key of the section, such as "kinds[0].name".
type Report func(key, format string, args ...any)

// Validate reports everything that is wrong.
func (s *Section) Validate(r Report) {
	within(r, "clients", s.Clients, span{1, maxClients, "10000"})
	within(r, "connects", s.Connects, span{1, maxConnects, "2000"})
	within(r, "packet", s.Packet, span{minPacket, maxPacket, "262144"})
	within(r, "queue", s.Queue, span{1, maxQueue, "1000"})
	within(r, "queue_bytes", s.QueueBytes, span{1, maxBytes, "1048576"})
	within(r, "retained", s.Retained, span{0, maxRetained, "100000"})
	within(r, "retained_bytes", s.RetainedBytes, span{0, maxBytes, "67108864"})
	if s.KeepAlive < time.Second || s.KeepAlive > maxKeepAlive {
		r("keep_alive", "%s is out of range; write 1s to 65535s, such as 1h", s.KeepAlive)
	}
	if s.Expiry < 0 {
		r("expiry", "%s is negative; write a time such as 7d, or 0 to end sessions with their connections", s.Expiry)
	}
	kinds := map[string]bool{}
	for i := range s.Kinds {
		at := fmt.Sprintf("kinds[%d].", i)
		k := &s.Kinds[i]
		if kinds[k.Name] {
			r(at+"name", "%q is there already; each kind has one entry", k.Name)
		}
		kinds[k.Name] = true
		k.validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
	s.Sparkplug.validate(func(key, format string, args ...any) { r("sparkplug."+key, format, args...) })
	s.HomeAssistant.validate(func(key, format string, args ...any) { r("home_assistant."+key, format, args...) })
	s.validateApplications(r)
	validatePublish(r, s.Publish)
	CheckTemplates(s.Templates, r)
}

// CheckTemplates reports what is wrong with a list of templates, under the key "templates".
func CheckTemplates(list []Template, r Report) {
	names := map[string]bool{}
	for i := range list {
		at := fmt.Sprintf("templates[%d].", i)
		t := &list[i]
		if names[t.Name] && t.Name != "" {
			r(at+"name", "%q is there already; give each template a name of its own", t.Name)
		}
		names[t.Name] = true
		t.validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
}

func (s *Sparkplug) validate(r Report) {
	if strings.ContainsAny(s.Host, "/+#") || len(s.Host) > MaxName {
		r("host", "%q is not a level of a topic; write up to %d characters without /, + and #", s.Host, MaxName)
	}
	text := strings.NewReplacer("{group}", "g", "{node}", "n").Replace(s.Device)
	if !strings.Contains(s.Device, "{group}") || !strings.Contains(s.Device, "{node}") {
		r("device", "%q is the same for several edge nodes; write {group} and {node} in it, such as sparkplug/{group}/{node}", s.Device)
	} else if err := point.Path(text).Validate(); err != nil {
		r("device", "%q is not a path: %v", s.Device, err)
	}
	for i, p := range s.Writable {
		if p == "" || len(p) > point.MaxPath {
			r(fmt.Sprintf("writable[%d]", i), "%q is not a pattern; write such as boiler/setpoint or **/setpoint", p)
		}
	}
}

func (h *HomeAssistant) validate(r Report) {
	if h.Prefix != "" && topic.Check(h.Prefix, maxLevels) != nil {
		r("prefix", "%q is not a topic; write such as homeassistant", h.Prefix)
	}
	base, _, is := strings.Cut(h.Device, "/"+DeviceName)
	if err := point.Path(base).Validate(); !is || err != nil || strings.ContainsAny(base, "{}") || h.Device != base+"/"+DeviceName {
		r("device", "%q is not the place of a device; write a path with %s at its end, such as home/%s", h.Device, DeviceName, DeviceName)
	}
}

// span is what may be written, with an example.
type span struct {
	low, high int
	such      string
}

func within(r Report, key string, v int, s span) {
	if v < s.low || v > s.high {
		r(key, "%d is out of range; write %d to %d, such as %s", v, s.low, s.high, s.such)
	}
}

// MaxName is how many characters the name of a device or a kind has.
const MaxName = 64

var (
	kindName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}$`)
)

// IsDeviceName reports whether a text may be the name of a device: letters, digits and . _ : @ -, up to 64. It then is
// one level of a topic, and one segment of a path.
func IsDeviceName(name string) bool { return deviceName.MatchString(name) }

// IsKindName reports whether a text may be the name of a kind.
func IsKindName(name string) bool { return kindName.MatchString(name) }

func (k *Kind) validate(r Report) {
	if !IsKindName(k.Name) {
		r("name", "%q is not a name; write up to %d letters, digits, - and _, such as thermostat", k.Name, MaxName)
	}
	for _, list := range []struct {
		key    string
		topics []string
	}{{"publish", k.Publish}, {"subscribe", k.Subscribe}} {
		for i, t := range list.topics {
			checkFilter(r, fmt.Sprintf("%s[%d]", list.key, i), strings.ReplaceAll(t, DeviceName, "device"))
		}
	}
	within(r, "rate", k.Rate, span{0, maxBound, "50"})
	within(r, "bytes", k.Bytes, span{0, maxBound, "65536"})
	within(r, "payload", k.Payload, span{0, maxPacket, "4096"})
	within(r, "sessions", k.Sessions, span{0, maxBound, "2"})
	within(r, "points", k.Points, span{0, maxBound, "200"})
}

func checkFilter(r Report, key, filter string) {
	if strings.ContainsAny(filter, "{}") {
		r(key, "%q holds a name in braces that is not known here; only %s is", filter, DeviceName)
		return
	}
	if err := topic.CheckFilter(filter, maxLevels); err != nil {
		r(key, "%q is not a topic filter: %v", filter, err)
	}
}

var placeholder = regexp.MustCompile(`\{[A-Za-z0-9_]+\}`)

func (t *Template) validate(r Report) {
	if t.Name == "" {
		r("name", "is missing; write a name such as thermostat")
	}
	if t.Topic == "" {
		r("topic", "is missing; write a topic such as thermostats/{device}/state")
		return
	}
	known := t.levels(r)
	t.validateDevice(r, known)
	switch {
	case t.Format == "":
		r("format", "is missing; write json, plain, senml, cbor or senml-cbor")
	case t.Format == Plain && len(t.Points) != 1:
		r("points", "a plain payload is one value; write one point")
	case t.objects() && len(t.Points) == 0 && !t.Rest:
		r("points", "nothing would be taken; write points, or rest: true for all values")
	case (t.Format == SenML || t.Format == SenMLCBOR) && len(t.Points) > 0:
		r("points", "SenML names its values itself; remove the points")
	case !t.objects() && (t.Rest || t.Time != ""):
		r("format", "rest and time are for json and cbor; remove them")
	}
	if t.Time != "" {
		if _, err := ParseWay(t.Time); err != nil {
			r("time", "%q %v", t.Time, err)
		}
	}
	if t.Interval < 0 {
		r("interval", "%s is negative; write a time such as 60s", t.Interval)
	}
	if t.StaleAfter < 0 || t.StaleAfter > 0 && t.StaleAfter < time.Second {
		r("stale_after", "%s is too short; write at least 1s, or 0 to wait for ever", t.StaleAfter)
	}
	names := map[string]bool{}
	for i := range t.Points {
		at := fmt.Sprintf("points[%d].", i)
		p := &t.Points[i]
		if names[p.Name] {
			r(at+"name", "%q is there already; give each point a name of its own", p.Name)
		}
		names[p.Name] = true
		p.validate(func(key, format string, args ...any) { r(at+key, format, args...) }, known)
	}
}

// objects reports whether payloads are objects, whose values have places.
func (t *Template) objects() bool { return t.Format == JSON || t.Format == CBOR }

// levels checks the topic and returns which names it defines.
func (t *Template) levels(r Report) map[string]bool {
	known := map[string]bool{}
	var filter []string
	for level := range strings.SplitSeq(t.Topic, "/") {
		name := placeholder.FindString(level)
		switch {
		case name == "" && !strings.ContainsAny(level, "{}"):
			filter = append(filter, level)
			continue
		case name != level:
			r("topic", "%q is not a whole level; write {name} between slashes", level)
			return known
		case known[name]:
			r("topic", "%s stands twice; give each level a name of its own", name)
		}
		known[name] = true
		filter = append(filter, "+")
	}
	if err := topic.CheckFilter(strings.Join(filter, "/"), maxLevels); err != nil {
		r("topic", "%q is not a topic: %v", t.Topic, err)
	}
	return known
}

func (t *Template) validateDevice(r Report, known map[string]bool) {
	if t.Device == "" {
		r("device", "is missing; write the place of the points, such as home/{device}")
		return
	}
	if missing := unknownIn(t.Device, known); missing != "" {
		r("device", "%s is not in the topic %q", missing, t.Topic)
		return
	}
	p := point.Path(placeholder.ReplaceAllString(t.Device, "x"))
	if err := p.Validate(); err != nil {
		r("device", "%q is not a path: %v", t.Device, err)
	} else if strings.HasPrefix(string(p)+"/", "control/") || strings.HasPrefix(string(p)+"/", "control-level/") {
		r("device", "%q lies where commands are recorded; begin it with something else", t.Device)
	}
}

// unknownIn returns the first name in braces that is not known, "" for none.
func unknownIn(text string, known map[string]bool) string {
	for _, name := range placeholder.FindAllString(text, -1) {
		if !known[name] {
			return name
		}
	}
	return ""
}

func (p *Point) validate(r Report, known map[string]bool) {
	if p.Name == "" {
		r("name", "is missing; write a name such as temperature")
		return
	}
	stars := strings.Count(p.From, "*")
	text := p.Name
	for i := range stars {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i+1), "x")
	}
	if p.From != "" {
		if _, err := ParseWay(p.From); err != nil {
			r("from", "%q %v", p.From, err)
		}
	}
	if missing := unknownIn(text, known); missing != "" {
		r("name", "%s is neither in the topic nor the number of a * in from", missing)
	}
	if err := point.Path(placeholder.ReplaceAllString(text, "x")).Validate(); err != nil {
		r("name", "%q is not a name of a point: %v", p.Name, err)
	}
	if stars > 0 && !strings.Contains(p.Name, "{1}") {
		r("name", "%q is the same for every * of from; write such as {1}/%s", p.Name, p.Name)
	}
	if len(p.On)+len(p.Off) > 0 && p.Type != "bool" {
		r("type", "on and off are for the type bool")
	}
	if p.Set != (Set{}) {
		p.validateSet(func(key, format string, args ...any) { r("set."+key, format, args...) }, known)
	}
}
