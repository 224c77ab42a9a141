package client

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// link is the connection to the node, and what the server refused on it.
type link struct {
	opts     Options
	conn     *nats.Conn
	refusals refusals
}

// send sends a message. In doubt whether it is allowed, it waits for the server's word.
func (l *link) send(op string, m *nats.Msg, doubt error) error {
	if err := l.refusals.overdue(m.Subject); err != nil {
		return err
	}
	if doubt == nil {
		if err := l.conn.PublishMsg(m); err != nil {
			return l.sendError(op, err)
		}
		return nil
	}
	refused, err := l.certain(op, func() error { return l.conn.PublishMsg(m) })
	if err != nil {
		return err
	}
	if refused[m.Subject] {
		return doubt
	}
	return nil
}

// subscribe subscribes to all that is wanted, and waits until the server knows it.
func (l *link) subscribe(op string, wanted []want, receive nats.MsgHandler) (*Subscription, error) {
	s := &Subscription{}
	seen := map[string]bool{}
	refused, err := l.certain(op, func() error {
		for _, w := range wanted {
			if seen[w.subject] {
				continue
			}
			seen[w.subject] = true
			sub, err := l.conn.Subscribe(w.subject, receive)
			if err != nil {
				return err
			}
			s.subs = append(s.subs, sub)
			if err := sub.SetPendingLimits(-1, pendingBytes); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.Stop()
		return nil, err
	}
	for _, w := range wanted {
		if refused[w.subject] && !w.optional {
			s.Stop()
			return nil, missing(op, "subscribe "+string(w.pattern))
		}
	}
	return s, nil
}

// certain sends something that the grants do not seem to allow, and waits for the server's word. It
// returns the subjects that were refused.
func (l *link) certain(op string, send func() error) (map[string]bool, error) {
	r := &l.refusals
	r.doubt.Lock()
	defer r.doubt.Unlock()
	r.mu.Lock()
	r.heard = map[string]bool{}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.heard = nil
		r.mu.Unlock()
	}()
	before := l.conn.LastError()
	err := send()
	if err == nil {
		err = l.conn.FlushTimeout(l.opts.Timeout)
	}
	if err != nil {
		return nil, l.sendError(op, err)
	}
	// The server's word came before the answer to the flush, but may not have come by its
	// goroutine yet: the connection has it as its last error.
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := l.conn.LastError(); last != nil && last != before { //nolint:errorlint // is it another one
		if subject, _, ok := violation(last.Error()); ok {
			r.heard[subject] = true
		}
	}
	return r.heard, nil
}

// sendError names why something could not be sent.
func (l *link) sendError(op string, err error) error {
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return fault.E(op, fault.Invalid, l.opts.Name, fmt.Errorf("the message is larger than the node takes (%d bytes); send it in parts", l.conn.MaxPayload()))
	case errors.Is(err, nats.ErrBadSubject):
		return fault.E(op, fault.Invalid, l.opts.Name, trouble.Of(err))
	case errors.Is(err, nats.ErrTimeout):
		return fault.E(op, fault.Timeout, l.opts.Address, trouble.Of(err))
	}
	return fault.E(op, fault.Unreachable, l.opts.Address, fmt.Errorf("there is no connection to the node now: %w", trouble.Of(err)))
}
