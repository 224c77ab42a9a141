// Package dispatch passes requests of many callers to a bounded number of workers, fairly among the callers.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/wire"
)

// What requests to the node may cost.
const (
	callerRunning = 64        // of one caller at a time; more wait
	callerWaiting = 1024      // of one caller; more are refused
	callerParked  = 1024      // of one caller that wait for something else than the processor
	mostRunning   = 1024      // of all callers at a time
	mostParked    = 8192      // of all callers
	mostBytes     = 256 << 20 // of bodies that run or wait
	callerWeight  = 192 << 20 // of bodies of one caller that run, as wire.Weight has it; more wait
	mostWeight    = 512 << 20 // of all callers'; then each runs one of any weight
)

var errBusy = errors.New("too many requests wait already; wait for answers before asking more")

// Request is something that an agent asks of the node.
type Request struct {
	Subject string
	From    string // the caller; the server made sure of it
	Method  string
	Data    []byte
	Header  map[string][]string
	// Respond sends the one answer; it is no error if nobody waits for it any more.
	Respond func([]byte) error
	// Park says that the request from now on only waits, such as for a disk or a device, so that
	// another one of the caller may run. Where too many are parked it does nothing. Call it once, in
	// the handler's own goroutine.
	Park func()

	weight int
}

// Dispatcher hands requests to workers, which come with the requests and go when there are none.
type Dispatcher struct {
	ctx     context.Context //nolint:containedctx // ends with the dispatcher, not with a call
	end     context.CancelFunc
	handler func(context.Context, Request)
	sub     *nats.Subscription
	foreign func(caller, reply string) // is told of answers that somebody wants to be sent elsewhere
	workers sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	callers map[string]*caller
	turns   []*caller // those with waiting requests that may run, in turn
	running int
	parked  int
	bytes   int
	weight  int // of those that run or are parked
}

// caller has requests here.
type caller struct {
	name    string
	running int
	parked  int
	weight  int // of those that run or are parked
	waiting []Request
	inTurn  bool
}

// New returns a dispatcher that handles requests by handler, in several goroutines at once. foreign is called for requests
// whose answer would go elsewhere than to an inbox of the caller.
func New(handler func(context.Context, Request), foreign func(caller, reply string)) *Dispatcher {
	ctx, end := context.WithCancel(context.Background())
	return &Dispatcher{ctx: ctx, end: end, handler: handler, foreign: foreign, callers: map[string]*caller{}}
}

// Subscribe has the dispatcher handle what comes to a subject. Call it once.
func (d *Dispatcher) Subscribe(conn *nats.Conn, subject string) error {
	sub, err := conn.Subscribe(subject, d.receive)
	if err == nil {
		err = sub.SetPendingLimits(-1, mostBytes)
	}
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		d.end()
		return err
	}
	d.sub = sub
	return nil
}

func (d *Dispatcher) receive(m *nats.Msg) {
	call, err := wire.ParseCall(m.Subject)
	if err != nil {
		return // somebody else's subject is not ours to judge
	}
	r := Request{Subject: m.Subject, From: call.Caller, Method: call.Method, Data: m.Data, Header: m.Header, Respond: m.Respond}
	switch {
	case m.Reply == "":
		r.Respond = func([]byte) error { return nil }
	case !wire.IsInbox(m.Reply, call.Caller):
		d.foreign(call.Caller, m.Reply)
		return
	}
	if err := wire.Readable(call.Method, m.Data); err != nil {
		_ = r.Respond(Failure(err, ""))
		return
	}
	r.weight = wire.Weight(m.Data)
	if !d.enqueue(r) {
		_ = r.Respond(Failure(fault.E("bus.Serve", fault.Unavailable, call.Caller, errBusy), ""))
	}
}

// enqueue queues a request and lets a worker come for it; false if it is too much.
func (d *Dispatcher) enqueue(r Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return true // nobody waits for the answer
	}
	c := d.callers[r.From]
	if c == nil {
		c = &caller{name: r.From}
		d.callers[r.From] = c
	}
	if len(c.waiting) >= callerWaiting || d.bytes+len(r.Data) > mostBytes {
		d.forget(c)
		return false
	}
	d.bytes += len(r.Data)
	c.waiting = append(c.waiting, r)
	d.queue(c)
	d.start()
	return true
}

// start lets one more worker come if there is something for it.
func (d *Dispatcher) start() {
	if !d.closed && d.running < mostRunning && len(d.turns) > 0 {
		d.running++
		d.workers.Go(d.work)
	}
}

// queue gives the caller a turn if it has something that may run.
func (d *Dispatcher) queue(c *caller) {
	if !c.inTurn && len(c.waiting) > 0 && c.running < callerRunning && d.fits(c) {
		c.inTurn = true
		d.turns = append(d.turns, c)
	}
}

// fits reports whether there is memory for what a caller asks next. A caller with nothing under way never waits for others.
func (d *Dispatcher) fits(c *caller) bool {
	more := c.waiting[0].weight
	return c.weight == 0 || (c.weight+more <= callerWeight && d.weight+more <= mostWeight)
}

// forget keeps the table from growing with callers that ask nothing.
func (d *Dispatcher) forget(c *caller) {
	if c.running+c.parked == 0 && len(c.waiting) == 0 {
		delete(d.callers, c.name)
	}
}

// work answers requests until there are none.
func (d *Dispatcher) work() {
	for {
		c, r, ok := d.next()
		if !ok {
			return
		}
		parked := false
		r.Park = func() { parked = parked || d.park(c) }
		d.handler(d.ctx, r)
		if !d.done(c, &r, parked) {
			return
		}
	}
}

// park lets others run instead of a request of the caller; false if too many are parked.
func (d *Dispatcher) park(c *caller) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.parked >= callerParked || d.parked >= mostParked {
		return false
	}
	c.running--
	c.parked++
	d.running--
	d.parked++
	d.queue(c)
	d.start()
	return true
}

// done takes note of an answer, and reports whether the worker may take another request.
func (d *Dispatcher) done(c *caller, r *Request, parked bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes -= len(r.Data)
	c.weight -= r.weight
	d.weight -= r.weight
	stays := true
	if parked {
		c.parked--
		d.parked--
		if stays = d.running < mostRunning; stays {
			d.running++
		}
	} else {
		c.running--
	}
	d.queue(c)
	d.forget(c)
	return stays
}

// next takes the first request of the caller whose turn it is.
func (d *Dispatcher) next() (*caller, Request, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.turns) == 0 {
		d.running--
		return nil, Request{}, false
	}
	c := d.turns[0]
	d.turns[0] = nil
	d.turns = d.turns[1:]
	c.inTurn = false
	r := c.waiting[0]
	c.waiting[0] = Request{}
	if c.waiting = c.waiting[1:]; len(c.waiting) == 0 {
		c.waiting = nil
	}
	c.running++
	c.weight += r.weight
	d.weight += r.weight
	d.queue(c)
	return c, r, true
}

// Close takes nothing more, and waits for what runs.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	_ = d.sub.Unsubscribe() // fails only when the connection is gone
	d.workers.Wait()
}

// Failure is the body of an answer that reports an error, with a word for programs.
func Failure(err error, why string) []byte {
	body, _ := json.Marshal(wire.Reply{Error: &wire.Failure{ // texts are always written
		Kind: fault.KindOf(err).String(), Message: err.Error(), Why: why,
	}})
	return body
}
