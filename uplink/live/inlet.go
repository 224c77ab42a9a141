package live

import (
	"errors"
	"strings"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// Judge decides what may come from the other end of a link.
type Judge struct {
	// MayPublish returns why the other end may not send messages about a path or topic of this node.
	MayPublish func(point.Path) error
	// Speaks reports whether messages of a node's agents may come over this link.
	Speaks func(node string) bool
}

var (
	errSubject = errors.New("is no subject of a live or free message, or not written as such are")
	errSender  = errors.New("is no agent of a node behind this link")
	errTooMuch = errors.New("is a live message of more than 4 MiB")
)

// judge returns why a message is refused.
func (j *Judge) judge(m *Message) error {
	const op = "live.Receive"
	if len(m.Data) > maxMessage {
		return fault.E(op, fault.Invalid, m.Subject, errTooMuch)
	}
	if strings.HasPrefix(m.Subject, wire.MessagePrefix) {
		return j.judgeFree(m)
	}
	prefix, key := wire.ScanPrefix, deviceKey
	if strings.HasPrefix(m.Subject, wire.PointPrefix) {
		prefix, key = wire.PointPrefix, pointKey
	}
	path, err := wire.ParseSubject(prefix, m.Subject)
	if err != nil || path.Validate() != nil || wire.Subject(prefix, path) != m.Subject {
		return fault.E(op, fault.Invalid, m.Subject, errSubject)
	}
	if err := j.MayPublish(path); err != nil {
		return err
	}
	if err := about(m.Data, key, path); err != nil {
		return fault.E(op, fault.Invalid, string(path), err)
	}
	m.Header = nil
	return nil
}

func (j *Judge) judgeFree(m *Message) error {
	const op = "live.Receive"
	from, topic, err := wire.ParseMessage(m.Subject)
	if err != nil || topic.Validate() != nil || wire.MessageSubject(from, topic) != m.Subject {
		return fault.E(op, fault.Invalid, m.Subject, errSubject)
	}
	if err := j.MayPublish(topic); err != nil {
		return err
	}
	node, agent, far := strings.Cut(from, "/")
	if !far || agent == "" || strings.Contains(agent, "/") || !j.Speaks(node) {
		return fault.E(op, fault.Refused, from, errSender)
	}
	return nil
}
