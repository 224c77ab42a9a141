// Package shelf holds the retained messages of a broker within bounds.
package shelf

import (
	"strings"

	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Shelf holds the retained messages. They are bounded in number and bytes, and those of one device to a part of that,
// so that none takes the room of all others. Make it with [New]; its owner guards it.
type Shelf struct {
	all   *topic.Retained[Kept]
	most  share
	total share
	of    map[string]share // by device; whose those are that were there at the start is not known
}

// Kept is a retained message.
type Kept struct {
	Message *session.Message
	Device  string // "" for one without a name, or of which none is known
}

// share is what retained messages take.
type share struct{ messages, octets int }

// deviceParts is into how many parts the room for retained messages is divided of which a device has one at most.
const deviceParts = 4

// New returns an empty shelf for so many messages and bytes.
func New(messages, octets int) Shelf {
	return Shelf{all: topic.NewRetained[Kept](), most: share{messages, octets}, of: map[string]share{}}
}

func shareOf(m *session.Message) share {
	return share{1, SizeOf(m.Topic, len(m.Payload), len(m.Properties))}
}

// Size is how many bytes of a message count.
func Size(m *session.Message) int { return shareOf(m).octets }

// What a level of a topic takes besides its text, in bytes, and how many of them do not count.
const (
	levelSize  = 96
	freeLevels = 8
)

// SizeOf is how many bytes of a message of a topic count: a topic of very many levels takes more than its text.
func SizeOf(name string, payload, properties int) int {
	return len(name) + payload + properties + levelSize*max(0, strings.Count(name, "/")-freeLevels)
}

func (s share) plus(o share) share  { return share{s.messages + o.messages, s.octets + o.octets} }
func (s share) minus(o share) share { return share{s.messages - o.messages, s.octets - o.octets} }

// within reports whether a share is no larger than another.
func (s share) within(most share) bool { return s.messages <= most.messages && s.octets <= most.octets }

// Room reports whether a message of so many bytes may be retained for a device. One that is no larger than that which
// it replaces always may.
func (s *Shelf) Room(name string, octets int, device string) bool {
	total, own, more := s.total, s.of[device], share{1, octets}
	if before, had := s.all.Get(name); had {
		was := shareOf(before.Message)
		if octets <= was.octets && before.Device == device {
			return true
		}
		total = total.minus(was)
		if before.Device == device {
			own = own.minus(was)
		}
	}
	part := share{max(1, s.most.messages/deviceParts), s.most.octets / deviceParts}
	return total.plus(more).within(s.most) && (device == "" || own.plus(more).within(part))
}

// Put retains a message of a device, whatever room there is.
func (s *Shelf) Put(m *session.Message, device string) {
	s.Drop(m.Topic)
	s.all.Set(m.Topic, Kept{m, device})
	s.total = s.total.plus(shareOf(m))
	if device != "" {
		s.of[device] = s.of[device].plus(shareOf(m))
	}
}

// Drop forgets the message of a topic.
func (s *Shelf) Drop(name string) {
	old, had := s.all.Delete(name)
	if !had {
		return
	}
	s.total = s.total.minus(shareOf(old.Message))
	if old.Device == "" {
		return
	}
	if s.of[old.Device] = s.of[old.Device].minus(shareOf(old.Message)); s.of[old.Device].messages == 0 {
		delete(s.of, old.Device)
	}
}

// Len returns how many messages there are.
func (s *Shelf) Len() int { return s.total.messages }

// Match yields the messages of the topics that a filter matches until yield returns false, and returns how many levels of topics it looked at.
func (s *Shelf) Match(filter string, yield func(m *session.Message) bool) (looked int) {
	return s.all.Match(filter, func(_ string, k Kept) bool { return yield(k.Message) })
}

// Some yields some messages, from a place on, and returns where to go on, see [topic.Retained.Some].
func (s *Shelf) Some(from, most int, yield func(name string, k Kept) bool) (next int) {
	return s.all.Some(from, most, yield)
}
