package operation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// Entry is what the audit log records of a request.
type Entry struct {
	Caller  Caller
	Action  string // the operation's name
	Subject string
	Detail  any // a value that can be encoded as JSON; nil for none
	Err     error
	Reading bool // only a read: once a minute per reader is enough
}

// Table holds the operations of a node. It is safe for concurrent use.
type Table struct {
	byName   map[string]*Bound
	byMethod map[string]*Bound
	tell     func(context.Context, Entry)
	ask      AskNode
	owners   Owners
}

// AskNode has another node carry out an operation on behalf of a caller, under the name known to nodes of every version. The result is
// JSON, null for none.
type AskNode func(ctx context.Context, who *Caller, node, name string, args Arguments) (json.RawMessage, error)

// NewTable returns a table of operations. tell is called with audited requests when they end.
func NewTable(tell func(context.Context, Entry), lists ...[]Bound) *Table {
	t := &Table{byName: map[string]*Bound{}, byMethod: map[string]*Bound{}, tell: tell}
	for _, list := range lists {
		for i := range list {
			t.byName[list[i].Name] = &list[i]
			if list[i].Method != "" {
				t.byMethod[list[i].Method] = &list[i]
			}
		}
	}
	return t
}

// Reaching sets the function with which the table asks other nodes.
func (t *Table) Reaching(ask AskNode) *Table {
	t.ask = ask
	return t
}

// Has reports whether the table has the named operation.
func (t *Table) Has(name string) bool { return t.byName[name] != nil }

// Remote returns the operation that other nodes may request by a name.
func (t *Table) Remote(name string) (Declared, bool) {
	for _, b := range t.byName {
		if b.Remote && !b.Granted && b.Called(name) {
			return b.Declared, true
		}
	}
	return Declared{}, false
}

// Granted returns the operation that other nodes may request by a method.
func (t *Table) Granted(method string) (Declared, bool) {
	b := t.byMethod[method]
	if b == nil || !b.Granted {
		return Declared{}, false
	}
	return b.Declared, true
}

// Methods lists the operations open to agents.
func (t *Table) Methods() []Declared {
	var list []Declared
	for _, b := range t.byMethod {
		list = append(list, b.Declared)
	}
	slices.SortFunc(list, func(a, b Declared) int { return strings.Compare(a.Method, b.Method) })
	return list
}

var (
	errUnknown = errors.New("this node has no such operation")
	errMembers = errors.New("is for members of the metering cluster: show a token that voltbus token create --member made")
	errAgents  = errors.New("is for people; agents cannot ask for it")
	errDefect  = errors.New("the result cannot be written")
)

// Run carries out a request. The result is JSON, null for none, and of at most MostAnswer bytes if it is Written.
func (t *Table) Run(ctx context.Context, who *Caller, name string, args Arguments) (json.RawMessage, error) {
	out, err := t.Do(ctx, who, name, args)
	if err != nil {
		return nil, err
	}
	return encoded(name, out)
}

// encoded returns a result as JSON.
func encoded(name string, out any) (json.RawMessage, error) {
	switch out := out.(type) {
	case None:
		return json.RawMessage("null"), nil
	case Written:
		var whole Output
		if err := out(&whole); err != nil {
			return nil, err
		}
		return whole.Buf, nil
	case interface{ AppendJSON(dst []byte) []byte }:
		return out.AppendJSON(nil), nil
	case json.RawMessage:
		return out, nil
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fault.E("operation.Run", fault.Internal, name, fmt.Errorf("%w: %w", errDefect, err))
	}
	return text, nil
}

// Do is Run for callers that encode the result: None, a Written, JSON, or a value for package json.
func (t *Table) Do(ctx context.Context, who *Caller, name string, args Arguments) (out any, err error) {
	err = t.tried(ctx, who, name, func(b *Bound, call *Call) error {
		if b.run == nil {
			return fault.E("operation.Run", fault.Invalid, name, errStream)
		}
		if b.Owner != "" && t.owners != nil {
			if done, sent := t.forward(ctx, b, call, args); sent {
				out, err = done.Result, done.Err
				return err
			}
		}
		out, err = b.run(ctx, call, args)
		return err
	})
	return out, err
}

// Stream carries out a request with a streamed answer.
func (t *Table) Stream(ctx context.Context, who *Caller, name string, args Arguments, to Stream) error {
	return t.tried(ctx, who, name, func(b *Bound, call *Call) error {
		if b.stream == nil {
			return fault.E("operation.Stream", fault.Invalid, name, errNoStream)
		}
		return b.stream(ctx, call, args, to)
	})
}

// tried carries out an operation if the caller may use it, and writes the audit log.
func (t *Table) tried(ctx context.Context, who *Caller, name string, do func(*Bound, *Call) error) error {
	b := t.byName[name]
	if b == nil {
		return fault.E("operation.Run", fault.NotFound, name, errUnknown)
	}
	call := &Call{Caller: *who}
	err := b.admits(who)
	if err == nil {
		err = do(b, call)
	}
	if b.Audited && !call.told {
		t.tell(ctx, Entry{Caller: *who, Action: cmp.Or(b.Action, b.Name), Subject: clip(call.subject), Detail: call.detail, Err: err})
	}
	if b.Watched != "" {
		t.tell(ctx, Entry{Caller: *who, Action: b.Watched, Subject: clip(call.subject), Err: err, Reading: true})
	}
	return err
}

// admits checks people by role, and agents by whether the operation is open to them. The grants of an agent are for the operation to check.
func (d *Declared) admits(who *Caller) error {
	switch {
	case d.Members && who.Member == "":
		return fault.E("operation.Run", fault.Refused, d.Name, errMembers)
	case d.Members:
		return nil
	case who.IsAgent() && (d.Method == "" || d.People || (who.Remote && !d.Granted)):
		return fault.E("operation.Run", fault.Refused, d.Name, errAgents)
	case who.IsAgent(), d.Role == identity.Nobody, who.Role.Includes(d.Role), who.Recorder && d.Record:
		return nil
	}
	return fault.E("operation.Run", fault.Refused, d.Name, fmt.Errorf("needs the role %v, and %s has the role %v", d.Role, who.Name, who.Role))
}

// AnswerRemote is Run for a remote caller, whose arguments may have the form of an HTTP request.
func (t *Table) AnswerRemote(ctx context.Context, who *Caller, name string, args Arguments) (json.RawMessage, error) {
	d, remote := t.Remote(name)
	if !remote {
		return nil, fault.E("operation.Visit", fault.NotFound, clip(name), errUnknown)
	}
	args, err := d.Loosened(args)
	if err != nil {
		return nil, err
	}
	result, err := t.Run(ctx, who, d.Name, args)
	if len(result) > mostVisit {
		return nil, fault.E("operation.Visit", fault.Invalid, d.Name, errVisit)
	}
	return result, err
}

const mostVisit = 7 << 20 // bytes of a result that goes to another node

var (
	errVisit = fmt.Errorf("the answer has more than %d MiB; ask for less", mostVisit>>20)
	errHere  = errors.New("cannot be asked of another node; ask that node itself")
	errNodes = errors.New("this node does not reach others")
)

// RunElsewhere has another node carry out a request of a caller of this node. The role is checked here, and again there. Changes are audited.
func (t *Table) RunElsewhere(ctx context.Context, who *Caller, node, name string, args Arguments) (json.RawMessage, error) {
	const op = "operation.RunElsewhere"
	b := t.byName[name]
	switch {
	case b == nil:
		return nil, fault.E(op, fault.NotFound, name, errUnknown)
	case !b.Remote:
		return nil, fault.E(op, fault.Invalid, name, errHere)
	case t.ask == nil:
		return nil, fault.E(op, fault.Unavailable, node, errNodes)
	}
	call, action := &Call{Caller: *who, Node: node}, b.Name
	if call.Did(subjectAt(node, args), map[string]string{"node": node}); b.Granted {
		action = "node.call"
		call.Did(node+"/"+wire.NodeName+":"+b.Method, told(args))
	}
	err := b.admits(who)
	var result json.RawMessage
	if err == nil {
		result, err = t.askFor(ctx, call, b, node, args)
	}
	if b.Changes() {
		t.tell(ctx, Entry{Caller: *who, Action: action, Subject: clip(call.subject), Detail: call.detail, Err: err})
	}
	if b.Watched != "" {
		t.tell(ctx, Entry{Caller: *who, Action: b.Watched, Subject: clip(node), Err: err, Reading: true})
	}
	return result, err
}

func (t *Table) askFor(ctx context.Context, call *Call, b *Bound, node string, args Arguments) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Longest())
	defer cancel()
	switch {
	case b.Granted:
		args, err := b.leaving(ctx, call, args)
		if err != nil {
			return nil, err
		}
		return t.ask(ctx, &call.Caller, node, b.Known(), args)
	case b.elsewhere == nil:
		return t.ask(ctx, &call.Caller, node, b.Known(), b.overHTTP(args))
	}
	out, err := b.elsewhere(ctx, call, args, func(ctx context.Context, name string, args Arguments) (json.RawMessage, error) {
		d := &t.byName[name].Declared
		return t.ask(ctx, &call.Caller, node, d.Known(), d.overHTTP(args))
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// leaving returns arguments in the form in which they go to another node.
func (b *Bound) leaving(ctx context.Context, call *Call, args Arguments) (Arguments, error) {
	if b.leave == nil {
		return args, nil
	}
	return b.leave(ctx, call, args)
}

// Leaving checks a request of a caller to another node under a name used between nodes, and returns the arguments as they go there. An
// operation not declared here is unknown: the other node checks it.
func (t *Table) Leaving(ctx context.Context, who *Caller, name string, args Arguments) (out Arguments, known bool, err error) {
	for _, b := range t.byName {
		if named := b.Known() == name || (b.Called(name) && !b.Granted); !named || !b.Remote {
			continue
		}
		if err := b.admits(who); err != nil {
			return nil, true, err
		}
		out, err = b.leaving(ctx, &Call{Caller: *who}, args)
		return out, true, err
	}
	return args, false, nil
}

// mostTold is how many bytes of the arguments the audit log keeps.
const mostTold = 4096

// told returns arguments for the audit log.
func told(args Arguments) any {
	size := 0
	for name, text := range args {
		size += len(name) + len(text)
	}
	if size > mostTold {
		return map[string]any{"args_bytes": size}
	}
	return map[string]any{"kwargs": args}
}

// subjectAt returns the audit subject of a request at another node.
func subjectAt(node string, args Arguments) string {
	parts := []string{node}
	for _, name := range []string{"owner", "name"} {
		var text string
		if json.Unmarshal(args[name], &text) == nil && text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ": ")
}
