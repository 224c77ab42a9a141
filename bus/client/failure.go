package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/wire"
)

// RemoteError is what a method of another agent raised.
type RemoteError struct {
	Agent, Method string
	Type          string            // of what was raised, such as "ValueError"
	Message       string            // in words; hostile
	Args          []json.RawMessage // of what was raised
	Trace         string            // only if the caller holds the capability "trace"
}

// Error returns type and message.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("%s of %s raised %s: %s", e.Method, e.Agent, e.Type, e.Message)
}

// failureError turns the failure of a reply into an error: of its kind, wrapping the failure, and
// with the capability that is missing where identity.MissingOf finds it.
func failureError(agent, method string, f *wire.Failure) error {
	const op = "client.Call"
	if f.Kind == wire.RemoteKind {
		return &RemoteError{Agent: agent, Method: method, Type: f.Type, Message: f.Message, Args: f.Args, Trace: f.Trace}
	}
	kind, _ := fault.ParseKind(f.Kind)
	if f.Missing != "" {
		return fault.E(op, kind, f.Subject, &refusal{f})
	}
	return fault.E(op, kind, f.Subject, f)
}

// refusal is a failure about a missing capability.
type refusal struct{ failure *wire.Failure }

func (r *refusal) Error() string { return r.failure.Message }

func (r *refusal) Unwrap() []error {
	return []error{r.failure, &identity.Missing{Capability: r.failure.Missing}}
}

func missing(op, capability string) error {
	return fault.E(op, fault.Refused, "", &identity.Missing{Capability: capability})
}

// What the server says of what may not be done.
const (
	wordsPublish   = `Permissions Violation for Publish to "`
	wordsSubscribe = `Permissions Violation for Subscription to "`
)

// violation reads the server's word; false if it is about something else.
func violation(text string) (subject string, publish, ok bool) {
	for _, words := range []string{wordsPublish, wordsSubscribe} {
		if _, rest, found := strings.Cut(text, words); found {
			subject, _, found = strings.Cut(rest, `"`)
			return subject, words == wordsPublish, found
		}
	}
	return "", false, false
}

// refusals are the server's refusals that have not been reported yet.
type refusals struct {
	doubt sync.Mutex // held by who waits for the server's word: one at a time

	mu    sync.Mutex
	heard map[string]bool  // subjects, while somebody is in doubt; nil otherwise
	late  map[string]error // by subject, for who publishes there next
}

// maxLate bounds how many late refusals wait for who caused them. All were reported, too.
const maxLate = 1000

func (r *refusals) init() { r.late = map[string]error{} }

// take notes a refusal; false if nobody is in doubt now.
func (r *refusals) take(subject string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard == nil {
		return false
	}
	r.heard[subject] = true
	return true
}

// keep holds a refusal that came late for who publishes there next.
func (r *refusals) keep(subject string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late) < maxLate {
		r.late[subject] = err
	}
}

// overdue returns a refusal that came late, once.
func (r *refusals) overdue(subject string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late) == 0 {
		return nil
	}
	err := r.late[subject]
	delete(r.late, subject)
	return err
}

// onError receives the errors of the connection.
func (c *Client) onError(_ *nats.Conn, sub *nats.Subscription, err error) {
	subject, publish, ok := violation(err.Error())
	switch {
	case ok && publish && c.calls.refuse(subject):
	case ok && c.link.refusals.take(subject):
	case ok:
		why := missing("client", capability(subject, publish))
		if publish {
			c.link.refusals.keep(subject, why)
		}
		c.link.opts.Report(why)
	case errors.Is(err, nats.ErrSlowConsumer) && sub != nil:
		lost, _ := sub.Dropped()
		c.link.opts.Report(fault.E("client", fault.Unavailable, sub.Subject, fmt.Errorf(
			"%s lost, not taken in time; take them faster, or ask for fewer", plural.Were(lost, "message"))))
	default:
		c.link.opts.Report(fault.E("client", fault.Unavailable, c.link.opts.Address, err))
	}
}

// capability names what a subject needs, as a grant is written.
func capability(subject string, publish bool) string {
	verb := "subscribe "
	if publish {
		verb = "publish "
	}
	if call, err := wire.ParseCall(subject); publish && err == nil {
		return "call " + call.Callee + ":" + call.Method
	}
	if _, topic, err := wire.ParseMessage(subject); err == nil {
		return verb + string(topic)
	}
	for _, prefix := range []string{wire.ScanPrefix, wire.PointPrefix} {
		if rest, found := strings.CutPrefix(subject, prefix); found {
			return verb + pathOf(rest)
		}
	}
	return verb + subject
}

// pathOf returns the pattern of paths that a subject with wildcards stands for.
func pathOf(subject string) string {
	parts := strings.Split(subject, ".")
	for i, p := range parts {
		if p == ">" {
			parts[i] = "**"
		} else if name, err := wire.ParseToken(p); err == nil {
			parts[i] = name
		}
	}
	return strings.Join(parts, "/")
}
