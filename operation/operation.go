// Package operation declares the operations of a node: name, arguments, result, required rights, and whether other nodes may ask. HTTP,
// the bus and requests of other nodes are adapters over one table of such declarations; clients ask through the same declarations.
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

// Caller is the identity and rights of a caller, as the node authenticated them. Handlers have no other source, so that no caller is taken for another.
type Caller struct {
	// Name is to whom belongs what is done: person:ada, token:backup, agent:weather; of another node person:campus/ada.
	Name   string
	Role   identity.Role   // of a person; Nobody for an agent
	Agent  string          // the name of an agent; "" for people
	Grants identity.Grants // of an agent; of the neighbour through which a remote caller asks
	Remote bool            // asks through another node
	// Recorder says that a token asks which can only record, and Under below which path; "" for anywhere.
	Recorder bool
	Under    string
	// Member is the name of the member of the metering cluster that asks, or passes on what it was asked; "" for others.
	Member string
	// Login is by what a person or a program is known here; nil for agents and for who asks over another node.
	Login Login
	// Administers says that an agent of another node administers at home, and that the neighbour may carry that.
	Administers bool
	// Key makes a repeat of the request harmless; "" for none. It is only there if the operation is Keyed.
	Key string
}

// Login is the means by which a caller is authenticated.
type Login interface {
	// Shown returns the secret that they showed.
	Shown() identity.Shown
	// Still returns why they may not ask any more for what they ask for; nil if they may.
	Still() error
}

// User is the name of a person of this node without its kind.
func (c *Caller) User() string { return strings.TrimPrefix(c.Name, identity.PersonKind+":") }

// IsAgent reports whether an agent of this node asks.
func (c *Caller) IsAgent() bool { return c.Agent != "" }

// Spec is what is declared of an operation beside its types.
type Spec struct {
	Name    string        // such as document.set: in the audit log, of another node, and as the capability "call node:document.set"
	Method  string        // the name on the bus, by which agents ask for it; "" if they cannot
	HTTP    string        // method and path below /api/v1, such as "PUT /documents/text"; what stands in braces is an argument; "" if only agents ask
	ID      string        // operationId in OpenAPI; setDocument of document.set if empty
	Summary string        // one sentence without a full stop
	Doc     string        // more, in sentences; may be empty
	Result  string        // what comes back, in words
	Role    identity.Role // the least role of people
	Schema  string        // the schema of the result in OpenAPI; the name of its type if empty
	Remote  bool          // another node may be asked for it, with node=
	// Granted: another node is asked for it by Method, by people and agents alike, and answers as far as the grants of the neighbour
	// reach, see Caller.Reads; null and 0 are there as if they were left out. Otherwise it is asked by Name, by people only, and needs
	// "call node:<name>".
	Granted bool
	People  bool          // Method is for people of other nodes; agents do not ask for it
	Waits   bool          // it waits for devices, which is no work of the node
	Keyed   bool          // over HTTP the header Idempotency-Key makes a repeat harmless, see Caller.Key
	Record  bool          // a token that can only record may ask, too
	Members bool          // only other members of the metering cluster may ask
	Audited bool          // the audit log says who did it, and how it ended
	Action  string        // in the audit log; "" if that is Name
	Takes   string        // the schema of the body in OpenAPI; "" if it is written from the arguments
	Body    int64         // most bytes of the arguments over HTTP; 0 if none come in a body
	Stream  string        // of what one person has few at a time, if the answer is a Stream: Exports or Statements
	Formats []string      // the media types of such an answer
	Header  string        // a header of it, with its schema: "Voltbus-Sources: Sources"
	Watched string        // the action under which the audit log is told who reads it, each a minute once; "" for none
	Before  string        // the name by which older nodes ask for it, and are asked; "" if that is Name. Capabilities may say it, too
	Wait    time.Duration // the longest that it may take; 0 for UsualWait
	Media   string        // the type of the result over HTTP; "" for application/json
	// Carried says why the adapter of HTTP answers the request itself, such as "its answer sets a cookie"; "" if a handler of the table does.
	// Role, limits and audit are checked from the declaration all the same.
	Carried string
	Form
}

// Form is how requests and answers look that are not as those of other operations.
type Form struct {
	Root    bool      // the path of HTTP is not below Prefix
	Foreign bool      // parameters and answers are those of another program's API, which knows what is unknown
	Greets  bool      // everybody may ask, and who is logged in is told more
	Reads   []Content // a body that is no JSON object of arguments; all arguments are in the address
	Answers []Content // further answers over HTTP, by their status
	Problem string    // the response in OpenAPI that says what is wrong; "" for the usual one
}

// Content is a body.
type Content struct {
	Status int    // of an answer
	Media  string // "" for application/json
	Schema string // its name in OpenAPI; "" for a text, or anything
	Doc    string
}

// Prefix begins the paths of operations over HTTP.
const Prefix = "/api/v1"

// What is counted of streams.
const (
	Exports    = "exports"
	Statements = "statements"
	Events     = "events" // server-sent, without an end
)

// UsualWait is how long an operation may take that says nothing of it.
const UsualWait = 30 * time.Second

// None is the result of an operation that has none.
type None struct{}

// Operation is a declaration. In is a struct whose fields are the arguments, see Fields; Out is the result.
type Operation[In, Out any] struct{ Spec }

// Declare returns a declaration.
func Declare[In, Out any](s Spec) Operation[In, Out] { return Operation[In, Out]{s} }

// Read reads and checks the arguments of a caller, for who does the operation in another way.
func (o Operation[In, Out]) Read(who *Caller, args Arguments) (*In, error) {
	d := o.Declared()
	return judged[In](context.Background(), &d, &Call{Caller: *who}, args, nil)
}

// Call is one request.
type Call struct {
	Caller
	Node    string // the other node at which it is done; "" for this one
	subject string
	detail  any
	told    bool
}

// Did says what the request is about, for the audit log: a subject and, if not nil, what can be written as JSON.
func (c *Call) Did(subject string, detail any) { c.subject, c.detail = subject, detail }

// MarkAudited says that the audit log knows already what was done.
func (c *Call) MarkAudited() { c.told = true }

// Handler does what is asked for.
type Handler[In, Out any] func(ctx context.Context, c *Call, in *In) (Out, error)

// Judge reports what a caller may not do whose role, or whose connection, let them as far as this; nil for all they may.
type Judge[In any] func(ctx context.Context, c *Call, in *In) error

// Ask has another node do an operation of a name for the caller of a call. The result is JSON, null for none.
type Ask func(ctx context.Context, name string, args Arguments) (json.RawMessage, error)

// Elsewhere has something done at another node, where that takes more than one request.
type Elsewhere[In, Out any] func(ctx context.Context, c *Call, in *In, ask Ask) (Out, error)

// Bound is a declaration with what does it.
type Bound struct {
	Declared
	Judges    bool // there is a judge
	run       func(ctx context.Context, c *Call, args Arguments) (any, error)
	leave     func(ctx context.Context, c *Call, args Arguments) (Arguments, error)    // before they go to another node; nil: as they are
	stream    func(ctx context.Context, c *Call, args Arguments, to Stream) error      // of a stream, instead of run
	elsewhere func(ctx context.Context, c *Call, args Arguments, ask Ask) (any, error) // nil: one request
}

// BindElsewhere is Bind for what is done at another node by more than one request.
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

// BindLeaving is Bind for what is checked, and completed, before it goes to another node.
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

// Bind gives a declaration its handler. may checks, before the handler runs, what the role leaves open; nil for nothing.
func Bind[In, Out any](o Operation[In, Out], may Judge[In], do Handler[In, Out]) Bound {
	return bind(o.Declared(), may, do)
}

// BindWritten is Bind for a handler whose result is written piece by piece, in the shape of Out.
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

// judged returns the arguments of a caller who may ask so.
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

// Absent returns operations that this node does not have: callers with the right to them learn so. Other nodes can be asked for them.
func Absent(list []Bound) []Bound {
	out := make([]Bound, len(list))
	for i, b := range list {
		if b.run != nil {
			b.run = func(context.Context, *Call, Arguments) (any, error) { return nil, NotHere(b.Name) }
		} else {
			b.stream = func(context.Context, *Call, Arguments, Stream) error { return NotHere(b.Name) }
		}
		out[i] = b
	}
	return out
}

var errAbsent = errors.New("this node does not have it; ask a node with that role")

// NotHere is the error of a part that this node does not have.
func NotHere(what string) error {
	return fault.E("operation.Run", fault.Unavailable, what, errAbsent)
}

// DeclaredOf lists the declarations of what is bound.
func DeclaredOf(list []Bound) []Declared {
	out := make([]Declared, len(list))
	for i := range list {
		out[i] = list[i].Declared
	}
	return out
}
