package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// Method is a method that an agent offers to others.
type Method struct {
	Name string
	Doc  string // what it does, for people who call it
	// Params name the arguments, in their order: arguments by place get these names, which grants
	// may bind to values.
	Params []wire.Param
	Result string // its type, in words; "" for nothing
	Needs  string // a capability that callers must hold; "" for none
	// Do answers a call; the result is written as JSON. It runs in a goroutine of its own, its
	// context ends when the client is closed. A fault keeps its kind on the way to the caller, any
	// other error, and a panic, is a RemoteError there.
	Do func(ctx context.Context, r *Request) (any, error)
}

// Request is a call that is being answered.
type Request struct {
	// From is the caller, authenticated by the node: an agent of this node by its name, a caller at another
	// node as agent:campus/weather or person:campus/ada, and node for the node itself, which also asks for
	// people of this node.
	From string
	wire.Arguments
	params []wire.Param
	by     string // whose request it is on the bus
}

var (
	errNoArgument = errors.New("is missing; give it by place or by name")
	errTwoWays    = errors.New("is given by place and by name; give it once")
)

// Arg decodes the argument at a place, or of the name that Params give the place, into a pointer.
// fault.Invalid: it is missing, or of another type.
func (r *Request) Arg(place int, into any) error {
	const op = "client.Arg"
	name := fmt.Sprintf("argument %d", place+1)
	var raw json.RawMessage
	if place < len(r.Args) {
		raw = r.Args[place]
	}
	if place < len(r.params) {
		name = r.params[place].Name
		if named, ok := r.Kwargs[name]; ok {
			if raw != nil {
				return fault.E(op, fault.Invalid, name, errTwoWays)
			}
			raw = named
		} else if raw == nil {
			raw = r.params[place].Default
		}
	}
	if raw == nil {
		return fault.E(op, fault.Invalid, name, errNoArgument)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fault.E(op, fault.Invalid, name, fmt.Errorf("is of the wrong type: %w", err))
	}
	return nil
}

// named returns all arguments by name, as grants see them.
func (r *Request) named() (map[string]any, error) {
	all := make(map[string]json.RawMessage, len(r.Kwargs)+len(r.Args))
	maps.Copy(all, r.Kwargs)
	for i, raw := range r.Args {
		if i < len(r.params) {
			if _, twice := all[r.params[i].Name]; twice {
				return nil, fault.E("client.Handle", fault.Invalid, r.params[i].Name, errTwoWays)
			}
			all[r.params[i].Name] = raw
		}
	}
	values := make(map[string]any, len(all))
	for name, raw := range all {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, fault.E("client.Handle", fault.Invalid, name, err)
		}
		values[name] = v
	}
	return values, nil
}

// methods answers the calls to an agent, by the methods that it offers.
type methods struct {
	link     *link
	calls    *calls
	presence *presence

	mu   sync.RWMutex
	list map[string]*Method

	ctx     context.Context //nolint:containedctx // ends with the client, not with a call
	end     context.CancelFunc
	sub     *nats.Subscription // to calls
	most    int
	queue   chan *nats.Msg // to who is free
	running sync.WaitGroup

	starting sync.Mutex
	started  int // goroutines that answer; they stay, as their stacks have grown
	closed   bool
}

func (a *methods) init(l *link, c *calls, p *presence) {
	a.link, a.calls, a.presence = l, c, p
	a.list = map[string]*Method{}
	a.ctx, a.end = context.WithCancel(context.Background())
	a.most, a.queue = l.opts.Handlers, make(chan *nats.Msg)
}

// close waits for the calls that run.
func (a *methods) close() {
	a.starting.Lock()
	a.closed = true // nobody starts any more
	a.starting.Unlock()
	a.end()
	a.running.Wait()
}

// leave stops answering calls: later callers get the error that nobody answers.
func (a *methods) leave() {
	gone := make(chan struct{})
	a.sub.SetClosedHandler(func(string) { close(gone) })
	err := a.sub.Drain() // what came already is answered: that it is too late
	a.close()
	if err != nil || !a.link.conn.IsConnected() {
		return
	}
	select {
	case <-gone:
	case <-time.After(leaveTimeout):
	}
}

// start lets one more goroutine answer, beginning with a call; false if as many run as may.
func (a *methods) start(call *nats.Msg, answer func(*nats.Msg)) bool {
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.closed || a.started == a.most {
		return false
	}
	a.started++
	a.running.Go(func() {
		for {
			answer(call)
			select {
			case call = <-a.queue:
			case <-a.ctx.Done():
				return
			}
		}
	})
	return true
}

var (
	errMethod = errors.New("a method needs a name of letters, digits, dots, dashes and underscores, and what it does")
	errTaken  = errors.New("there is a method of this name already")
)

// Handle offers a method to others. Whoever is granted to call it may; it is answered from now on.
func (c *Client) Handle(m Method) error {
	if !validMethod(m.Name) || m.Do == nil {
		return fault.E("client.Handle", fault.Invalid, m.Name, errMethod)
	}
	return c.methods.add(&m)
}

func (a *methods) add(method *Method) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list[method.Name] != nil {
		return fault.E("client.Handle", fault.Conflict, method.Name, errTaken)
	}
	a.list[method.Name] = method
	return nil
}

func validMethod(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// standard adds what every agent answers.
func (a *methods) standard() {
	_ = a.add(&Method{Name: "ping", Doc: "Answer.", Result: "text", Do: func(context.Context, *Request) (any, error) {
		return "pong", nil
	}}) // the names are good, and free
	_ = a.add(&Method{Name: "inspect", Doc: "List the methods.", Result: "list", Do: func(context.Context, *Request) (any, error) {
		return a.inspect(), nil
	}})
}

func (a *methods) inspect() []wire.Method {
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := make([]wire.Method, 0, len(a.list))
	for _, method := range a.list {
		params := method.Params
		if params == nil {
			params = []wire.Param{}
		}
		list = append(list, wire.Method{Name: method.Name, Doc: method.Doc, Params: params, Result: method.Result, Needs: method.Needs})
	}
	slices.SortFunc(list, func(a, b wire.Method) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// onRequest takes a call. When as many run as may, those that come wait in the subscription, which
// is bounded.
func (a *methods) onRequest(m *nats.Msg) {
	if !answerable(m) {
		return
	}
	select {
	case a.queue <- m:
		return
	default:
	}
	if a.start(m, a.answerCall) {
		return
	}
	select {
	case a.queue <- m:
	case <-a.ctx.Done():
		a.respond(m, encodeFailure(fault.E("client.Handle", fault.Unreachable, a.link.opts.Name, errLeaving)))
	}
}

var errLeaving = errors.New("the agent is ending; nothing was done")

func (a *methods) answerCall(m *nats.Msg) { a.respond(m, a.serve(m)) }

func (a *methods) respond(m *nats.Msg, body []byte) {
	if m.Reply == "" {
		return
	}
	if err := a.link.conn.Publish(m.Reply, body); err != nil {
		a.link.opts.Report(a.link.sendError("client.Handle", err))
	}
}

// answerable reports whether a request wants no answer, or one in an inbox of the caller: elsewhere the
// answer would be sent with this agent's rights, in its name.
func answerable(m *nats.Msg) bool {
	if m.Reply == "" {
		return true
	}
	call, err := wire.ParseCall(m.Subject)
	return err == nil && wire.IsInbox(m.Reply, call.Caller)
}

// serve answers a call.
func (a *methods) serve(msg *nats.Msg) []byte {
	call, err := wire.ParseCall(msg.Subject)
	if err != nil {
		return encodeFailure(err)
	}
	from, name := call.Caller, call.Method
	a.mu.RLock()
	m := a.list[name]
	a.mu.RUnlock()
	if m == nil {
		return encodeFailure(fault.E("client.Handle", fault.NotFound, a.link.opts.Name+":"+name, errors.New("there is no such method; inspect lists those that there are")))
	}
	args, err := wire.ParseArguments(msg.Data)
	if err != nil {
		return encodeFailure(err)
	}
	r := &Request{From: from, Arguments: args, params: m.Params, by: from}
	if afar := msg.Header.Get(wire.CallerHeader); afar != "" && from == wire.NodeName { // nobody else is believed
		r.From = afar
	}
	if err := a.mayCall(m, r); err != nil {
		if fault.Is(err, fault.Refused) {
			a.tellRefusal(m.Name, from, err)
		}
		return encodeFailure(err)
	}
	return a.do(m, r)
}

// mayCall checks a caller by what the node says that it is bound to. The node asks for everybody.
func (a *methods) mayCall(m *Method, r *Request) error {
	if r.by == wire.NodeName {
		return nil
	}
	bound, known := a.presence.standing.Load().Callers[r.by]
	if !known {
		// The server let it pass, so it may have been granted just now.
		if err := a.presence.askStanding(a.ctx); err != nil {
			return err
		}
		bound = a.presence.standing.Load().Callers[r.by]
	}
	if bound.Administer || (m.Needs == "" && free(bound.Call, m.Name)) {
		return nil
	}
	values, err := r.named()
	if err != nil {
		return err
	}
	grants := bound.Grants()
	for i := range grants.Call {
		grants.Call[i].Agent = a.link.opts.Name // it is about this agent, whether it says so or not
	}
	if err := grants.MayCall(a.link.opts.Name, m.Name, values); err != nil || m.Needs == "" {
		return err
	}
	return grants.Holds(m.Needs, values)
}

// free reports whether a grant allows the method with any arguments.
func free(grants []identity.CallGrant, method string) bool {
	return slices.ContainsFunc(grants, func(g identity.CallGrant) bool {
		return (g.Method == "" || g.Method == method) && len(g.Where) == 0
	})
}

// tellRefusal reports to the node, for its audit log. It waits for nothing.
func (a *methods) tellRefusal(method, from string, err error) {
	capability := identity.MissingOf(err)
	a.running.Go(func() {
		told := a.calls.node(a.ctx, "refused", map[string]any{"method": method, "from": from, "missing": capability}, nil)
		if told != nil && a.ctx.Err() == nil {
			a.link.opts.Report(told)
		}
	})
}

// do runs a method.
func (a *methods) do(m *Method, r *Request) (body []byte) {
	defer func() {
		if cause := recover(); cause != nil {
			f := &wire.Failure{Kind: wire.RemoteKind, Type: "panic", Message: fmt.Sprint(cause)}
			if bound := a.presence.standing.Load().Callers[r.by]; bound.Grants().Holds("trace", nil) == nil {
				f.Trace = string(debug.Stack())
			}
			body = encodeReply(wire.Reply{Error: f})
		}
	}()
	result, err := m.Do(a.ctx, r)
	if err != nil {
		return encodeFailure(err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return encodeFailure(fmt.Errorf("the result cannot be written as JSON: %w", err))
	}
	return wire.AppendResult(make([]byte, 0, len(raw)+resultFrame), raw)
}

// resultFrame is what a reply has around its result.
const resultFrame = 16

func encodeFailure(err error) []byte {
	f := &wire.Failure{Message: err.Error(), Missing: identity.MissingOf(err)}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.Kind, f.Subject = e.Kind.String(), e.Subject
		if e.Err != nil {
			f.Message = e.Err.Error()
		}
	} else if kind := fault.KindOf(err); kind == fault.Canceled || kind == fault.Timeout {
		f.Kind = kind.String() // of the context
	} else {
		f.Kind, f.Type = wire.RemoteKind, fmt.Sprintf("%T", err)
	}
	return encodeReply(wire.Reply{Error: f})
}

func encodeReply(r wire.Reply) []byte {
	body, err := json.Marshal(r)
	if err != nil { // a result was checked, and texts always can be written
		return []byte(`{"error":{"kind":"internal","message":"the answer cannot be written"}}`)
	}
	return body
}
