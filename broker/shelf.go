package broker

import (
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// shelf holds the retained messages. They are bounded in number and bytes, and those of one device to a part of that,
// so that none takes the room of all others. The broker's lock guards it.
type shelf struct {
	all   *topic.Retained[kept]
	most  share
	total share
	of    map[string]share // by device; whose those are that were there at the start is not known
}

// kept is a retained message.
type kept struct {
	message *session.Message
	device  string // "" for one without a name, or of which none is known
}

// share is what retained messages take.
type share struct{ messages, octets int }

// deviceParts is into how many parts the room for retained messages is divided of which a device has one at most.
const deviceParts = 4

func newShelf(messages, octets int) shelf {
	return shelf{all: topic.NewRetained[kept](), most: share{messages, octets}, of: map[string]share{}}
}

func shareOf(m *session.Message) share {
	return share{1, octetsOf(m.Topic, len(m.Payload), len(m.Properties))}
}

func octetsOf(name string, payload, properties int) int { return len(name) + payload + properties }

func (s share) plus(o share) share  { return share{s.messages + o.messages, s.octets + o.octets} }
func (s share) minus(o share) share { return share{s.messages - o.messages, s.octets - o.octets} }

// within reports whether a share is no larger than another.
func (s share) within(most share) bool { return s.messages <= most.messages && s.octets <= most.octets }

// room reports whether a message of so many bytes may be retained for a device. One that is no larger than that which
// it replaces always may.
func (s *shelf) room(name string, octets int, device string) bool {
	total, own, more := s.total, s.of[device], share{1, octets}
	if before, had := s.all.Get(name); had {
		was := shareOf(before.message)
		if octets <= was.octets && before.device == device {
			return true
		}
		total = total.minus(was)
		if before.device == device {
			own = own.minus(was)
		}
	}
	part := share{max(1, s.most.messages/deviceParts), s.most.octets / deviceParts}
	return total.plus(more).within(s.most) && (device == "" || own.plus(more).within(part))
}

// put retains a message of a device, whatever room there is.
func (s *shelf) put(m *session.Message, device string) {
	s.drop(m.Topic)
	s.all.Set(m.Topic, kept{m, device})
	s.total = s.total.plus(shareOf(m))
	if device != "" {
		s.of[device] = s.of[device].plus(shareOf(m))
	}
}

// drop forgets the message of a topic.
func (s *shelf) drop(name string) {
	old, had := s.all.Delete(name)
	if !had {
		return
	}
	s.total = s.total.minus(shareOf(old.message))
	if old.device == "" {
		return
	}
	if s.of[old.device] = s.of[old.device].minus(shareOf(old.message)); s.of[old.device].messages == 0 {
		delete(s.of, old.device)
	}
}
