package setting

import (
	"strings"
	"time"

	"voltbus/protocol/mqtt/topic"
)

// maxWait bounds how long a command waits for a report.
const maxWait = 10 * time.Minute

// validateSet checks how a point is commanded.
func (p *Point) validateSet(r Report, known map[string]bool) {
	s := &p.Set
	if s.Topic == "" {
		r("topic", "is missing; write where the device takes the value, such as thermostats/{device}/set/%s", p.Name)
	}
	for _, t := range []struct{ key, topic string }{{"topic", s.Topic}, {"ask", s.Ask}} {
		if t.topic != "" {
			checkTarget(r, t.key, t.topic, known)
		}
	}
	if p.Type == "" {
		r("topic", "the point has no type; write type: float, int, bool or text, so that commands can be checked")
	}
	if strings.Contains(p.From, "*") {
		r("topic", "from has a *, so it is not known which value is set; write a point for each value")
	}
	if s.Payload != "" && !strings.Contains(s.Payload, ValueName) {
		r("payload", "%q does not hold %s; write it where the value stands", s.Payload, ValueName)
	}
	if s.Payload != "" && s.To != "" {
		r("to", "payload says already what is sent; remove one of them")
	}
	s.validateTo(r)
	if s.Timeout < 0 || s.Timeout > maxWait {
		r("timeout", "%s is out of range; write up to 10m, such as 5s", s.Timeout)
	}
	if s.AskPayload != "" && s.Ask == "" {
		r("ask", "is missing; write the topic that ask_payload is sent to")
	}
	if s.Lease < 0 {
		r("lease", "%s is negative; write a time such as 15m", s.Lease)
	}
	if s.Revert == "default" && s.Default == "" {
		r("default", "is missing; write the value that the point reverts to, or revert: before")
	}
}

func (s *Set) validateTo(r Report) {
	if s.To == "" {
		return
	}
	if way, err := ParseWay(s.To); err != nil {
		r("to", "%q %v", s.To, err)
	} else if !way.named() {
		r("to", "%q is not the place of one value; write names with dots between them", s.To)
	}
}

// ValueName stands for the value in a payload.
const ValueName = "{value}"

func checkTarget(r Report, key, text string, known map[string]bool) {
	if missing := unknownIn(text, known); missing != "" {
		r(key, "%s is not in the topic of the template", missing)
		return
	}
	if err := topic.Check(placeholder.ReplaceAllString(text, "x"), maxLevels); err != nil {
		r(key, "%q is not a topic: %v", text, err)
	}
}

// named reports whether the way leads to one member of objects.
func (w Way) named() bool {
	for _, s := range w {
		if s.Star || s.Index >= 0 {
			return false
		}
	}
	return true
}
