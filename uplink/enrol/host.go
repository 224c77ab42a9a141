package enrol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// Registry knows the children and accepts new ones, as registry.Children does.
type Registry interface {
	InvitationOf(public string) (registry.Invitation, bool)
	Invitations() []registry.Invitation
	Child(name string) (registry.Child, error)
	Enrol(ctx context.Context, inviteKey string, a registry.Application) (registry.Child, error)
	Rotate(ctx context.Context, name, public string, proof, consent []byte) (registry.Child, error)
}

// Entry is an audit entry: something that a child or the holder of an invitation did, or attempted.
type Entry struct {
	Who    string // its name on the bus, such as @plant-2
	Action string // child.join or child.rotate
	Child  string // the name
	Key    string // fingerprint of the key
	Invite string // the ID of the invitation; "" for none
	State  State
	Err    error
}

// Host answers children and nodes that want to become one. It is safe for concurrent use.
type Host struct {
	node      string
	registry  Registry
	authority func() string
	told      func(context.Context, Entry)
}

// NewHost returns the host of the named node. authority returns the certificate of its authority in PEM; told
// is called with audit entries.
func NewHost(node string, registry Registry, authority func() string, told func(context.Context, Entry)) *Host {
	return &Host{node: node, registry: registry, authority: authority, told: told}
}

const maxRequest = 16 << 10 // bytes

var (
	errUnknown = errors.New("there is no such method")
	errRequest = errors.New("is not a request of this method")
	errWho     = errors.New("only children of this node and holders of join codes may ask this")
)

// Answers reports whether the host answers the method.
func (h *Host) Answers(method string) bool {
	return method == MethodEnrol || method == MethodRotate || method == MethodWho
}

// Answer answers a request: it returns the body of the reply. from is the caller, as authenticated by the bus.
func (h *Host) Answer(ctx context.Context, from, method string, body []byte) []byte {
	result, err := h.answer(ctx, from, method, body)
	if err != nil {
		return refuse(err)
	}
	b, err := json.Marshal(result)
	if err != nil {
		return refuse(fault.E("enrol.Answer", fault.Internal, method, err))
	}
	return wire.AppendResult(nil, b)
}

func refuse(err error) []byte {
	f := wire.Failure{Kind: fault.KindOf(err).String(), Message: err.Error()}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		f.Message, f.Subject = e.Err.Error(), e.Subject
	}
	b, err := json.Marshal(wire.Reply{Error: &f})
	if err != nil { // strings cannot fail
		return []byte(`{"error":{"kind":"internal","message":"the node met a defect"}}`)
	}
	return b
}

func (h *Host) answer(ctx context.Context, from, method string, body []byte) (*Welcome, error) {
	const op = "enrol.Answer"
	if len(body) > maxRequest {
		return nil, fault.E(op, fault.Invalid, method, errRequest)
	}
	if id, invited := strings.CutPrefix(from, identity.InvitePrefix); invited && method == MethodEnrol {
		return h.enrol(ctx, id, body)
	}
	name, child := strings.CutPrefix(from, identity.ChildPrefix)
	switch {
	case !child:
		return nil, fault.E(op, fault.Refused, method, errWho)
	case method == MethodRotate:
		return h.rotate(ctx, name, body)
	case method == MethodWho:
		c, err := h.registry.Child(name)
		return h.welcome(&c), err
	}
	return nil, fault.E(op, fault.NotFound, method, errUnknown)
}

func (h *Host) welcome(c *registry.Child) *Welcome {
	return &Welcome{Node: h.node, Name: c.Name, Prefix: c.Prefix, State: State(c.State), Authority: h.authority()}
}

func (h *Host) enrol(ctx context.Context, id string, body []byte) (*Welcome, error) {
	var in Request
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	key := ""
	for _, i := range h.registry.Invitations() {
		if i.ID == id {
			key = i.Public
		}
	}
	c, err := h.registry.Enrol(ctx, key, registry.Application{
		Name: in.Name, Node: in.Node, Public: in.Public, Version: in.Version, Proof: in.Proof,
	})
	name := c.Name
	if name == "" && identity.CheckChildName(in.Name) == nil {
		name = in.Name
	}
	h.told(ctx, Entry{
		Who: identity.InvitePrefix + id, Action: "child.join", Child: name, Key: identity.KeyPrint(in.Public), Invite: id,
		State: State(c.State), Err: err,
	})
	return h.welcome(&c), err
}

func (h *Host) rotate(ctx context.Context, name string, body []byte) (*Welcome, error) {
	var in Rotation
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	c, err := h.registry.Rotate(ctx, name, in.Public, in.Proof, in.Consent)
	h.told(ctx, Entry{
		Who: identity.ChildPrefix + name, Action: "child.rotate", Child: name, Key: identity.KeyPrint(in.Public),
		State: State(c.State), Err: err,
	})
	return h.welcome(&c), err
}

func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(into); err != nil || d.More() {
		return fault.E("enrol.Answer", fault.Invalid, "body", errRequest)
	}
	return nil
}
