// Package tree forwards requests from node to node: to a descendant through the child on the way, to any other node through the parent.
// Each node checks what its neighbour may do there, so that nobody gets further than the nodes on the way let it. The package is given
// functions that ask the neighbours, and knows no bus.
package tree

import (
	"context"
	"encoding/json"

	"voltbus/identity"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
)

// Hop is a neighbour that asks.
type Hop struct {
	Name  string
	Above bool // it is the parent, or somebody above asks by it; else a child
}

// RemoteCaller is a remote caller of this node: somebody of another node, who asks through a neighbour,
// with what the neighbour may do here.
type RemoteCaller struct {
	Hop
	// For is the caller; the zero Principal if the neighbour does not say.
	For identity.Principal
	// Role is that of a person, at most what the neighbour may carry; Nobody for an agent, and if a node
	// on the way does not say: see As.
	Role identity.Role
	// Own is what an agent holds by name at home; nil if a node on the way does not say, which is nothing.
	Own    *identity.Grants
	Grants identity.Grants // of the neighbour
}

// Neighbour is the name of the neighbour among the callers of this node's bus, such as @campus.
func (v *RemoteCaller) Neighbour() string { return identity.ChildPrefix + v.Name }

// Requester is the name to which belongs what is done here: the caller, such as agent:campus/weather; or
// agent:@campus, all whose requests the neighbour passes on and of whom it does not say who they are.
func (v *RemoteCaller) Requester() string {
	if v.For == (identity.Principal{}) {
		return identity.AgentKind + ":" + v.Neighbour()
	}
	return v.For.String()
}

// Event is a request as the audit log is told of it.
type Event struct {
	From    string // the neighbour that asked, or "" if it was asked here
	Request *Request
	Passed  bool // it was passed on, and not answered here
	Err     error
	// Claimed is for whom the neighbour said that it asks, and cannot: the request was refused. Any
	// text; "" if there is nothing wrong with it.
	Claimed string
}

// Config is what a Tree needs. All functions must be there; they are safe for concurrent use.
type Config struct {
	Name    string                        // of this node
	Below   *replica.Table                // the descendants
	Lineage *lineage.Lineage              // its ancestors
	Parent  func() (lineage.Parent, bool) // false: it has none
	Grants  func(Hop) (identity.Grants, error)
	// Up asks the parent, as a connection to it does: fault.Unreachable, at once, without one.
	Up func(ctx context.Context, method string, body []byte) ([]byte, error)
	// Down asks a child, and returns the body of its answer: fault.Unreachable, at once, if it is not
	// connected, and as soon as its connection ends.
	Down func(ctx context.Context, child, method string, body []byte) ([]byte, error)
	// Here answers what is asked of this node.
	Here func(ctx context.Context, v *RemoteCaller, r *Request) (json.RawMessage, error)
	// Reads reports whether a method of a node changes nothing there, of which Tell is not told; nil: every one may.
	Reads func(method string) bool
	// Tell is told of requests that change something, and of what is refused. It returns at once.
	Tell func(Event)
}

// Tree is safe for concurrent use.
type Tree struct{ cfg Config }

// New returns the tree of a node.
func New(cfg Config) *Tree { return &Tree{cfg} }

// Self reports whether this node has the name: its own, or what its parent calls it.
func (t *Tree) Self(name string) bool { return t.cfg.Lineage.Self(name) }
