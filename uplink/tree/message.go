package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/replica"
	"voltbus/wire"
)

// RelayMethod is the method that neighbours call on each other: a Request, answered with the result.
const RelayMethod = "tree.relay"

// MaxHops is the maximum number of nodes that a request passes.
const MaxHops = replica.MaxHops

const (
	maxName = 64  // bytes of a name
	maxText = 300 // bytes of other strings from a neighbour
)

// Request is a request to a node of the tree.
type Request struct {
	Node   string          `json:"node"`
	Agent  string          `json:"agent"` // wire.NodeName for the node itself
	Method string          `json:"method"`
	Body   json.RawMessage `json:"body,omitempty"` // wire.Arguments
	Caller string          `json:"caller"`         // the caller at its own node, such as agent:weather, as stated by that node
	// For is the caller, such as agent:campus/weather, vouched for by each node on the way: an
	// identity.Principal of another node. "" if one of them does not state it.
	For string `json:"for,omitempty"`
	// Role is the role of the calling person, as stated by their own node and lowered by each node on the way to
	// what its neighbour may carry. "" if the caller is not a person, or a node on the way does not state it.
	Role string `json:"role,omitempty"`
	// Grants are those rights of an agent, as stated by its own node, that are checked at the method's node:
	// the named capabilities that it holds, and whether it administers.
	Grants *identity.Grants `json:"grants,omitempty"`
	Path   []string         `json:"path"` // the nodes that it passed, the caller's first
	// Timeout is how many seconds the answer may take.
	Timeout float64 `json:"timeout"`

	own bool // the caller is of this node
}

// Callee returns the callee in the form of capabilities: node/agent.
func (r *Request) Callee() string { return r.Node + "/" + r.Agent }

// Call returns the complete call: node/agent:method.
func (r *Request) Call() string { return r.Callee() + ":" + r.Method }

// Home is the caller's node.
func (r *Request) Home() string {
	if len(r.Path) == 0 {
		return ""
	}
	return r.Path[0]
}

var (
	errRequest = errors.New("a request through the tree names node, agent and method, each of at most 128 bytes, and seconds for the answer")
	errLoop    = errors.New("the request came back to a node that it passed: two nodes have each other above them, or one name stands twice")
	errHops    = fmt.Errorf("the request passed %d nodes and did not arrive", MaxHops)
)

const maxKey = 128

// check checks a received request.
func (r *Request) check() error {
	const op = "tree.Relay"
	for _, text := range []string{r.Node, r.Agent, r.Method} {
		if text == "" || len(text) > maxKey {
			return fault.E(op, fault.Invalid, "request", errRequest)
		}
	}
	if !(r.Timeout > 0 && r.Timeout <= MaxTime.Seconds()) || len(r.Caller) > maxText || len(r.For) > maxText || !plain(r.Caller) {
		return fault.E(op, fault.Invalid, "request", errRequest)
	}
	if len(r.Path) > MaxHops {
		return fault.E(op, fault.Rejected, r.Node, errHops)
	}
	for _, name := range r.Path {
		if len(name) > maxName || !plain(name) {
			return fault.E(op, fault.Invalid, "request", errRequest)
		}
	}
	return r.checkRights()
}

// plain reports whether a string may be logged unchanged.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
}

// named returns the arguments by name, for checking constraints; empty without any.
func (r *Request) named() (map[string]any, error) {
	args, err := wire.ParseArguments(r.Body)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(args.Kwargs))
	for name, text := range args.Kwargs {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fault.E("tree.Request", fault.Invalid, name, err)
		}
		out[name] = v
	}
	return out, nil
}

// May reports whether grants permit the request to pass, or to be made: call <node>/<agent>:<method>.
func (r *Request) May(g *identity.Grants) error {
	args, err := r.named()
	if err != nil {
		return err
	}
	return g.MayCall(r.Callee(), r.Method, args)
}

// Holds reports whether grants hold a capability that a method requires.
func (r *Request) Holds(g *identity.Grants, capability string) error {
	args, err := r.named()
	if err != nil {
		return err
	}
	return g.Holds(capability, args)
}

// Failed returns the body of an answer that reports an error of a node. One reported by another node keeps
// that node's name.
func Failed(node string, err error) []byte {
	f, passed := errors.AsType[*wire.Failure](err)
	if passed {
		clone := *f
		f = &clone
	} else {
		f = &wire.Failure{Kind: fault.KindOf(err).String(), Message: err.Error(), Missing: identity.MissingOf(err)}
		if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
			f.Message, f.Subject = e.Err.Error(), e.Subject
		}
	}
	if f.Node == "" {
		if f.Node = node; f.Kind != wire.RemoteKind {
			f.Message = node + " says: " + f.Message
		}
	}
	body, _ := json.Marshal(wire.Reply{Error: f}) // strings cannot fail
	return body
}

// Parse decodes the body of an answer. A failure reported by another node becomes an error of its kind around
// a *wire.Failure.
func Parse(subject string, body []byte) (json.RawMessage, error) {
	const op = "tree.Parse"
	reply, err := wire.ParseReply(body)
	if err != nil {
		return nil, fault.E(op, fault.Corrupt, subject, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if f := reply.Error; f != nil {
		kind, known := fault.ParseKind(f.Kind)
		if !known {
			kind = fault.Rejected // an exception raised by a method
		}
		if f.Subject != "" {
			subject = f.Subject
		}
		return nil, fault.E(op, kind, subject, f)
	}
	return reply.Result, nil
}
