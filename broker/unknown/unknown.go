// Package unknown keeps the topics whose messages became no points, for those who write templates.
package unknown

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"voltbus/broker/template"
)

// Topic is a topic whose messages no template takes, or whose payload is not what its template says.
type Topic struct {
	Name     string
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

// Topics are those whose messages were not taken, the last ones of them. The broker's lock guards it.
type Topics struct{ topics map[string]*Topic }

// Note notes a message.
func (u *Topics) Note(m Topic) {
	if u.topics == nil {
		u.topics = map[string]*Topic{}
	}
	if known := u.topics[m.Name]; known != nil {
		m.Count += known.Count
		*known = m
		return
	}
	if len(u.topics) >= mostUnknown {
		var oldest *Topic
		for _, k := range u.topics {
			if oldest == nil || k.At.Before(oldest.At) {
				oldest = k
			}
		}
		delete(u.topics, oldest.Name)
	}
	u.topics[m.Name] = &m
}

// Clip returns the beginning of a payload.
func Clip(p []byte) []byte { return slices.Clone(p[:min(len(p), mostPayload)]) }

// ClipText returns the beginning of a text.
func ClipText(s string) string {
	if len(s) <= mostText {
		return s
	}
	return strings.ToValidUTF8(s[:mostText], "") + "…"
}

// List returns them, the last one first.
func (u *Topics) List() []Topic {
	list := make([]Topic, 0, len(u.topics))
	for _, one := range u.topics {
		shown := *one
		if one.Template == "" {
			shown.Proposal = template.Propose(one.Name, one.Device, one.Payload)
		}
		list = append(list, shown)
	}
	slices.SortFunc(list, func(x, y Topic) int { return cmp.Or(y.At.Compare(x.At), strings.Compare(x.Name, y.Name)) })
	return list
}

// Forget forgets those that something takes now.
func (u *Topics) Forget(taken func(t *Topic) bool) {
	for name, one := range u.topics {
		if taken(one) {
			delete(u.topics, name)
		}
	}
}
