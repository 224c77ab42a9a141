// Package operation declares the operations of a node: name, arguments, result, required rights, and whether other nodes may request
// it. HTTP, the bus and requests from other nodes are adapters over one table of such declarations; clients use the same declarations.
package operation

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

// Caller is the identity and rights of a caller, as authenticated by the node. Handlers have no other source, so that one caller is never mistaken
// for another.
type Caller struct {
	// Name is the owner of what is done: person:ada, token:backup, agent:weather; at another node person:campus/ada.
	Name   string
	Role   identity.Role   // of a person; Nobody for an agent
	Agent  string          // the name of an agent; "" for people
	Grants identity.Grants // of an agent; of the neighbour through which a remote caller asks
	Remote bool            // the request comes through another node
	// Recorder is set for a record-only token, and Under is the path below which it may record; "" for anywhere.
	Recorder bool
	Under    string
	// Member is the name of the member of the metering cluster that sends or forwards the request; "" for others.
	Member string
	// Login is how a person or program is authenticated here; nil for agents and for remote callers.
	Login Login `json:"-"`
	// Administers means that an agent of another node has administer there, and that the neighbour may pass that on.
	Administers bool
	// Key makes repeating the request harmless; "" for none. It is only set if the operation is Keyed.
	Key string
}

// Login is the means by which a caller is authenticated.
type Login interface {
	// Shown returns the secret that the caller presented.
	Shown() identity.Shown
	// Still returns why they may no longer make the request; nil if they may.
	Still() error
}

// User is the name of a person of this node without its kind.
func (c *Caller) User() string { return strings.TrimPrefix(c.Name, identity.PersonKind+":") }

// IsAgent reports whether the caller is an agent of this node.
func (c *Caller) IsAgent() bool { return c.Agent != "" }

// Spec is what an operation declares besides its types.
type Spec struct {
	Name    string        // such as document.set: used in the audit log, for other nodes, and in the capability "call node:document.set"
	Method  string        // the name on the bus, by which agents request it; "" if they cannot
	HTTP    string        // method and path below /api/v1, such as "PUT /documents/text"; names in braces are arguments; "" if only agents may request it
	ID      string        // operationId in OpenAPI; derived from Name if empty: setDocument for document.set
	Summary string        // one sentence without a full stop
	Doc     string        // more, in sentences; may be empty
	Result  string        // what it returns, in words
	Role    identity.Role // the lowest role for people
	Schema  string        // the schema of the result in OpenAPI; the name of its type if empty
	Remote  bool          // it may be requested from another node, with node=
	// Granted: another node is asked for it by Method, by people and agents alike, and answers within the grants of the neighbour, see
	// Caller.Reads; null and 0 count as omitted. Otherwise it is requested by Name, by people only, and needs "call node:<name>".
	Granted bool
	People  bool          // Method is for people at other nodes; agents do not use it
	Waits   bool          // it waits for devices, not for work of the node
	Keyed   bool          // over HTTP, the header Idempotency-Key makes a repeat harmless, see Caller.Key
	Record  bool          // a record-only token may use it, too
	Members bool          // only other members of the metering cluster may use it
	Audited bool          // the audit log records the caller and the outcome
	Action  string        // the name in the audit log; "" for Name
	Takes   string        // the schema of the body in OpenAPI; "" if it is generated from the arguments
	Body    int64         // maximum size of the body in bytes; 0 if no argument is in a body
	Stream  string        // the kind whose number per person is limited, if the answer is a Stream: Exports or Statements
	Formats []string      // the media types of such a stream
	Header  string        // a header of the stream, with its schema: "Voltbus-Sources: Sources"
	Watched string        // the action under which readers are audited, each once a minute; "" for none
	Before  string        // the name used with older nodes; "" for Name. Capabilities may use it, too
	Wait    time.Duration // the longest that it may take; 0 for UsualWait
	Media   string        // the media type of the result over HTTP; "" for application/json
	// Owner is what a replica must own to carry it out: Control, or AgentNamed for the agent that the argument name says; "" if each one can.
	Owner string
	// Carried says why the HTTP adapter answers the request itself, such as "its answer sets a cookie"; "" if a handler of the table does.
	// Role, limits and audit still follow the declaration.
	Carried string
	Form
}

// Form describes requests and answers that differ from those of other operations.
type Form struct {
	Root    bool      // the HTTP path is not below Prefix
	Foreign bool      // parameters and answers are those of another program's API, which handles unknown ones
	Greets  bool      // open to everybody; logged-in callers are told more
	Reads   []Content // a body other than a JSON object of arguments; all arguments are in the URL
	Answers []Content // further answers over HTTP, by their status
	Problem string    // the error response in OpenAPI; "" for the usual one
}

// Content is a body.
type Content struct {
	Status int    // the status of a response
	Media  string // "" for application/json
	Schema string // its name in OpenAPI; "" for a string or anything
	Doc    string
}

// What one replica at a time owns.
const (
	Control    = "control"
	AgentNamed = "agent"
)

// Prefix begins the paths of operations over HTTP.
const Prefix = "/api/v1"

// The kinds of streams that are counted.
const (
	Exports    = "exports"
	Statements = "statements"
	Events     = "events" // server-sent events, endless
)

// UsualWait is the limit for operations that declare none.
const UsualWait = 30 * time.Second

// None is the result of an operation that has none.
type None struct{}

// Operation is a declaration. The fields of the struct In are the arguments, see Fields; Out is the result.
type Operation[In, Out any] struct{ Spec }

// Declare returns a declaration.
func Declare[In, Out any](s Spec) Operation[In, Out] { return Operation[In, Out]{s} }

// Read decodes and checks the arguments of a caller, for code that carries out the operation in another way.
func (o Operation[In, Out]) Read(who *Caller, args Arguments) (*In, error) {
	d := o.Declared()
	return judged[In](context.Background(), &d, &Call{Caller: *who}, args, nil)
}

// Call is one request.
type Call struct {
	Caller
	Node    string // the other node that carries it out; "" for this one
	subject string
	detail  any
	told    bool
}

// Did sets what the request is about, for the audit log: a subject and, if not nil, a value that can be encoded as JSON.
func (c *Call) Did(subject string, detail any) { c.subject, c.detail = subject, detail }

// MarkAudited states that the handler has written the audit entry itself.
func (c *Call) MarkAudited() { c.told = true }

// Handler carries out a request.
type Handler[In, Out any] func(ctx context.Context, c *Call, in *In) (Out, error)

// Judge reports what a caller may not do although the role or connection permits the operation; nil if nothing.
type Judge[In any] func(ctx context.Context, c *Call, in *In) error

// Ask has another node carry out the named operation for the caller of a call. The result is JSON, null for none.
type Ask func(ctx context.Context, name string, args Arguments) (json.RawMessage, error)

// Elsewhere carries out a call at another node with more than one request.
type Elsewhere[In, Out any] func(ctx context.Context, c *Call, in *In, ask Ask) (Out, error)

// Bound is a declaration with its handler.
type Bound struct {
	Declared
	Judges    bool // it has a judge
	run       func(ctx context.Context, c *Call, args Arguments) (any, error)
	leave     func(ctx context.Context, c *Call, args Arguments) (Arguments, error)    // prepares them for another node; nil: unchanged
	stream    func(ctx context.Context, c *Call, args Arguments, to Stream) error      // for a stream, instead of run
	elsewhere func(ctx context.Context, c *Call, args Arguments, ask Ask) (any, error) // nil: one request
}

// BindElsewhere is Bind for calls at another node that take more than one request.
func BindElsewhere[In, Out any](o Operation[In, Out], may Judge[In], do Handler[In, Out], far Elsewhere[In, Out]) Bound {
	b := Bind(o, may, do)
	b.elsewhere = func(ctx context.Context, c *Call, args Arguments, ask Ask) (any, error) {
		in, err := judged[In](ctx, &b.Declared, c, args, nil)
		if err != nil {
			return nil, err
		}
		return far(ctx, c, in, ask)
	}
	return b
}

// BindLeaving is Bind for arguments that are checked and completed before they go to another node.
func BindLeaving[In, Out any](o Operation[In, Out], do Handler[In, Out], leave func(c *Call, in *In) error) Bound {
	b := Bind(o, nil, do)
	b.Judges = true
	b.leave = func(ctx context.Context, c *Call, args Arguments) (out Arguments, err error) {
		in, err := judged(ctx, &b.Declared, c, args, func(_ context.Context, c *Call, in *In) error { return leave(c, in) })
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fault.E("operation.BindLeaving", fault.Internal, b.Name, err)
		}
		err = json.Unmarshal(text, &out)
		return out, err
	}
	return b
}

// Bind gives a declaration its handler. may checks, before the handler runs, what the role leaves open; nil checks nothing.
func Bind[In, Out any](o Operation[In, Out], may Judge[In], do Handler[In, Out]) Bound {
	return bind(o.Declared(), may, do)
}

// BindWritten is Bind for a handler that writes its result piece by piece, in the form of Out.
func BindWritten[In, Out any](o Operation[In, Out], may Judge[In], do Handler[In, Written]) Bound {
	return bind(o.Declared(), may, do)
}

func bind[In, Out any](d Declared, may Judge[In], do Handler[In, Out]) Bound {
	return Bound{Declared: d, Judges: may != nil, run: func(ctx context.Context, c *Call, args Arguments) (any, error) {
		in, err := judged(ctx, &d, c, args, may)
		if err != nil {
			return nil, err
		}
		out, err := do(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return out, nil
	}}
}

// judged returns the arguments of a caller who has the right to make the request.
func judged[In any](ctx context.Context, d *Declared, c *Call, args Arguments, may Judge[In]) (*In, error) {
	in := new(In)
	if err := d.decode(&c.Caller, args, reflect.ValueOf(in).Elem()); err != nil {
		return nil, err
	}
	if may == nil {
		return in, nil
	}
	return in, may(ctx, c, in)
}

// Absent returns operations that this node does not have: callers with the right to them get an error saying so. They can still be
// requested from other nodes.
func Absent(list []Bound) []Bound { return Lacking(list, errAbsent) }

// Lacking is Absent with another reason, which says how a node gets them.
func Lacking(list []Bound, why error) []Bound {
	out := make([]Bound, len(list))
	for i, b := range list {
		if b.run != nil {
			b.run = func(context.Context, *Call, Arguments) (any, error) { return nil, lacks(b.Name, why) }
		} else {
			b.stream = func(context.Context, *Call, Arguments, Stream) error { return lacks(b.Name, why) }
		}
		out[i] = b
	}
	return out
}

var errAbsent = errors.New("this node does not have it; ask a node with that role")

// NotHere is the error about a part that this node does not have.
func NotHere(what string) error { return lacks(what, errAbsent) }

func lacks(what string, why error) error {
	return fault.E("operation.Run", fault.Unavailable, what, why)
}

// DeclaredOf lists the declarations of bound operations.
func DeclaredOf(list []Bound) []Declared {
	out := make([]Declared, len(list))
	for i := range list {
		out[i] = list[i].Declared
	}
	return out
}
