package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/wire"
)

// calls sends calls to agents and to the node, and knows those that wait for an answer.
type calls struct {
	link  *link
	inbox string // the subject before the number of a call

	mu   sync.Mutex
	next uint64
	open map[uint64]*waiting
	pool sync.Pool
}

// waiting is a call that waits. What comes first is its answer.
type waiting struct {
	subject string
	done    chan result // holds one
}

type result struct {
	data []byte
	err  error
}

func (c *calls) init(l *link) {
	c.link = l
	c.inbox = wire.InboxPrefix + wire.Token(l.opts.Name) + "." + rand.Text() + "."
	c.open = map[uint64]*waiting{}
	c.pool.New = func() any { return &waiting{done: make(chan result, 1)} }
}

func (c *calls) enter(subject string) (uint64, *waiting) {
	w, ok := c.pool.Get().(*waiting)
	if !ok {
		w = &waiting{done: make(chan result, 1)}
	}
	w.subject = subject
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	c.open[c.next] = w
	return c.next, w
}

// leave takes a call out; false if its answer is on its way to it.
func (c *calls) leave(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, there := c.open[id]
	delete(c.open, id)
	return there
}

// end gives a call its answer, if it still waits.
func (c *calls) end(id uint64, r result) {
	c.mu.Lock()
	w := c.open[id]
	delete(c.open, id)
	c.mu.Unlock()
	if w != nil {
		w.done <- r
	}
}

// again gives a call back, which must have had its answer.
func (c *calls) again(w *waiting) { c.pool.Put(w) }

// fail ends all calls.
func (c *calls) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, w := range c.open {
		delete(c.open, id)
		w.done <- result{err: err}
	}
}

// refuse ends the calls on a subject that the server refused; false if there are none.
func (c *calls) refuse(subject string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := false
	for id, w := range c.open {
		if w.subject == subject {
			found = true
			delete(c.open, id)
			w.done <- result{err: missing("client.Call", capability(subject, true))}
		}
	}
	return found
}

var errAbsent = errors.New("nobody answers to this name: the agent is not connected")

// statusNobody is what the server answers when nobody subscribes to a subject.
const statusNobody = "503"

// answer takes the answers to all calls.
func (c *calls) answer(m *nats.Msg) {
	id, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 36, 64)
	if err != nil {
		return // nobody here asked for it
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == statusNobody {
		c.end(id, result{err: errAbsent})
		return
	}
	c.end(id, result{data: m.Data})
}

// Call calls a method of an agent with arguments by place, or of one of another node, which is written
// node/agent ("plant-1/boiler", and "plant-1/node" for that node itself), and decodes its result into result, a
// pointer, or nil to drop it. It waits as long as ctx allows, without a deadline Options.Timeout.
//
// It fails with fault.Unreachable, at once, if the agent is not connected; fault.Timeout if it does
// not answer in time, or the connection was lost meanwhile and the outcome is unknown;
// fault.Refused if the capability is missing; fault.NotFound if there is no such method; and with
// a *RemoteError if the method itself failed.
func (c *Client) Call(ctx context.Context, agent, method string, result any, args ...any) error {
	if len(args) == 0 {
		return c.calls.call(ctx, agent, method, result, nil)
	}
	return c.calls.call(ctx, agent, method, result, struct {
		Args []any `json:"args"`
	}{args})
}

// CallNamed is Call with arguments by name.
func (c *Client) CallNamed(ctx context.Context, agent, method string, result any, args map[string]any) error {
	return c.calls.call(ctx, agent, method, result, byName(args))
}

// node asks the node itself, with arguments by name.
func (c *calls) node(ctx context.Context, method string, args map[string]any, result any) error {
	return c.call(ctx, wire.NodeName, method, result, byName(args))
}

// byName returns what is written of arguments by name; nil for none.
func byName(args map[string]any) any {
	if len(args) == 0 {
		return nil
	}
	return struct {
		Kwargs map[string]any `json:"kwargs"`
	}{args}
}

// far is a request that the node passes on to another one.
type far struct {
	Node    string          `json:"node"`
	Agent   string          `json:"agent"`
	Method  string          `json:"method"`
	Args    json.RawMessage `json:"args,omitempty"`
	Kwargs  json.RawMessage `json:"kwargs,omitempty"`
	Timeout float64         `json:"timeout,omitempty"`
}

// callFar has the node call an agent of another one, which is written node/agent.
func (c *calls) callFar(ctx context.Context, callee, method string, result any, body []byte) error {
	f := far{Method: method}
	f.Node, f.Agent, _ = strings.Cut(callee, "/")
	if len(body) > 0 {
		if err := json.Unmarshal(body, &f); err != nil {
			return fault.E("client.Call", fault.Invalid, callee+":"+method, err)
		}
	}
	wait := c.link.opts.Timeout
	if end, bounded := ctx.Deadline(); bounded {
		wait = time.Until(end)
	}
	f.Timeout = max(min(wait, maxFar).Seconds()*farPart, 0.001)
	ask, err := json.Marshal(struct {
		Kwargs far `json:"kwargs"`
	}{f})
	if err != nil {
		return fault.E("client.Call", fault.Invalid, callee+":"+method, err)
	}
	data, err := c.request(ctx, wire.NodeName, "remote", ask)
	if err != nil {
		return err
	}
	return decodeReply(callee, method, data, result)
}

// How long the node may take to ask another one: a part of the time that there is, so that it can still
// say what went wrong.
const (
	maxFar  = 2 * time.Minute
	farPart = 0.95
)

// call calls with arguments as they are written; nil for none.
func (c *calls) call(ctx context.Context, agent, method string, result, args any) error {
	var body []byte
	if args != nil {
		var err error
		if body, err = json.Marshal(args); err != nil {
			return fault.E("client.Call", fault.Invalid, agent+":"+method, fmt.Errorf("the arguments cannot be written as JSON: %w", err))
		}
	}
	if strings.Contains(agent, "/") {
		return c.callFar(ctx, agent, method, result, body)
	}
	return c.callWith(ctx, agent, method, result, body)
}

// callWith calls with the body of the request; nil for none.
func (c *calls) callWith(ctx context.Context, agent, method string, result any, body []byte) error {
	data, err := c.request(ctx, agent, method, body)
	if err != nil {
		return err
	}
	return decodeReply(agent, method, data, result)
}

var errReply = errors.New("the answer cannot be read")

func decodeReply(agent, method string, data []byte, result any) error {
	const op = "client.Call"
	reply, err := wire.ParseReply(data)
	if err != nil {
		return fault.E(op, fault.Corrupt, agent+":"+method, fmt.Errorf("%w: %w", errReply, err))
	}
	if reply.Error != nil {
		return failureError(agent, method, reply.Error)
	}
	if result == nil || len(reply.Result) == 0 {
		return nil
	}
	if quick, ok := result.(interface{ Scan(data []byte) bool }); ok && quick.Scan(reply.Result) {
		return nil
	}
	if err := json.Unmarshal(reply.Result, result); err != nil {
		return fault.E(op, fault.Corrupt, agent+":"+method, fmt.Errorf("the result is no %T: %w", result, err))
	}
	return nil
}

// request sends a request and waits for the body of its answer.
func (c *calls) request(ctx context.Context, agent, method string, body []byte) ([]byte, error) {
	const op = "client.Call"
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), agent+":"+method, err)
	}
	subject := wire.CallSubject(agent, c.link.opts.Name, method)
	id, w := c.enter(subject)
	if err := c.link.conn.PublishRequest(subject, c.inbox+strconv.FormatUint(id, 36), body); err != nil {
		if !c.leave(id) {
			<-w.done
		}
		c.again(w)
		return nil, c.link.sendError(op, err)
	}
	r := c.await(ctx, id, w)
	c.again(w)
	switch {
	case r.err == nil:
		return r.data, nil
	case errors.Is(r.err, errAbsent):
		return nil, fault.E(op, fault.Unreachable, agent, errAbsent)
	}
	return nil, r.err
}

// await returns the answer, or why there is none in time.
func (c *calls) await(ctx context.Context, id uint64, w *waiting) result {
	var late <-chan time.Time
	if _, bounded := ctx.Deadline(); !bounded {
		timer := time.NewTimer(c.link.opts.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	err := context.DeadlineExceeded
	select {
	case r := <-w.done:
		return r
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
	}
	if !c.leave(id) {
		return <-w.done // it came at the last moment
	}
	return result{err: fault.E("client.Call", fault.KindOf(err), w.subject, fmt.Errorf(
		"no answer in time; whether it was carried out is unknown: %w", err))}
}
