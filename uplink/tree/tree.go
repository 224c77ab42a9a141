// Package tree forwards requests from node to node: to a descendant through the child on the way, to any other node through the parent.
// Each node checks what its neighbour may do there, so that no request gets further than the nodes on the way permit. The package is
// given functions for requests to the neighbours, and does not know the bus.
package tree

import (
	"context"
	"encoding/json"

	"voltbus/identity"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
)

// Hop is a requesting neighbour.
type Hop struct {
	Name  string
	Above bool // it is the parent, also for its ancestors; otherwise a child
}

// RemoteCaller is a remote caller of this node, whose request comes through a neighbour, with the neighbour's
// rights here.
type RemoteCaller struct {
	Hop
	// For is the caller; the zero Principal if the neighbour does not state it.
	For identity.Principal
	// Role is the role of a person, at most what the neighbour may carry; Nobody for an agent, and if a node
	// on the way does not state it: see As.
	Role identity.Role
	// Own is what an agent holds by name at its own node; nil, meaning nothing, if a node on the way does not state it.
	Own    *identity.Grants
	Grants identity.Grants // of the neighbour
}

// Neighbour is the name of the neighbour among the callers of this node's bus, such as @campus.
func (v *RemoteCaller) Neighbour() string { return identity.ChildPrefix + v.Name }

// Requester is the name of the owner of what is done here: the caller, such as agent:campus/weather; or
// agent:@campus for all callers that the neighbour does not name.
func (v *RemoteCaller) Requester() string {
	if v.For == (identity.Principal{}) {
		return identity.AgentKind + ":" + v.Neighbour()
	}
	return v.For.String()
}

// Event is a request as reported to the audit log.
type Event struct {
	From    string // the requesting neighbour, or "" for a local request
	Request *Request
	Passed  bool // it was forwarded, not answered here
	Err     error
	// Claimed is the caller that the neighbour claimed without the right to, so the request was refused. It
	// may be any text; "" if the claim is valid.
	Claimed string
}

// Config is what a Tree needs. All functions are required and must be safe for concurrent use.
type Config struct {
	Name    string                        // of this node
	Below   *replica.Table                // the descendants
	Lineage *lineage.Lineage              // its ancestors
	Parent  func() (lineage.Parent, bool) // false: it has none
	Grants  func(Hop) (identity.Grants, error)
	// Up sends a request to the parent, as a connection to it does: fault.Unreachable, at once, without one.
	Up func(ctx context.Context, method string, body []byte) ([]byte, error)
	// Down sends a request to a child, and returns the body of its answer: fault.Unreachable, at once, if it
	// is not connected, and as soon as its connection ends.
	Down func(ctx context.Context, child, method string, body []byte) ([]byte, error)
	// Here answers requests to this node.
	Here func(ctx context.Context, v *RemoteCaller, r *Request) (json.RawMessage, error)
	// Reads reports whether a method of a node is read-only, in which case Tell is not called; nil: none is.
	Reads func(method string) bool
	// Tell is called with requests that change something, and with refusals. It must return at once.
	Tell func(Event)
}

// Tree forwards requests. It is safe for concurrent use.
type Tree struct{ cfg Config }

// New returns the tree of a node.
func New(cfg Config) *Tree { return &Tree{cfg} }

// Self reports whether this node has the name: its own, or its parent's name for it.
func (t *Tree) Self(name string) bool { return t.cfg.Lineage.Self(name) }
