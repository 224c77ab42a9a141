package sender

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/uplink"
	"voltbus/wire"
)

// lane sends the blocks of its origins, on one connection. One goroutine owns it.
type lane struct {
	cfg        *Config
	log        Log
	limit      *limit
	monitor    *monitor
	checkpoint *checkpoint

	name    uplink.Lane
	wire    uplink.Lane // by which frames go
	only    string      // its only origin; "" for those of the lane
	session Session
	paths   *paths
	answers chan uplink.Answer
	encoder wire.Encoder
	frame   []byte
	data    []byte

	epoch  uint64
	place  uint64                     // log position up to which everything is acknowledged
	acked  map[string]uplink.Position // what the parent has of the queried origins
	window laneWindow
	parts  bool // the parent accepts blocks in parts

	busy    int    // times in a row that the parent accepted nothing
	reached uint64 // how far passes got in the log
}

func (s *Sender) newLane(name uplink.Lane, session Session, w *uplink.Welcome) *lane {
	l := &lane{
		cfg: &s.cfg, log: s.log, limit: s.limit, monitor: s.monitor, checkpoint: s.checkpoint,
		name: name, wire: name, session: session, answers: make(chan uplink.Answer, 4*maxFlight),
		acked: map[string]uplink.Position{}, window: newWindow(s.cfg.Window, w.Window, s.monitor.openedBefore(name)), parts: w.Parts,
	}
	for origin, p := range w.Positions {
		if uplink.LaneOf(origin) == name {
			l.acked[origin] = p
		}
	}
	if name == released {
		l.releases(w)
	}
	return l
}

var (
	errAgain    = errors.New("the parent misses a block: the lane goes back")
	errBusy     = errors.New("the parent takes nothing now")
	errRetry    = errors.New("what was refused is tried again")
	errPatience = errors.New("the parent gave no answer to what was sent")
	errBack     = errors.New("the parent has less than it said before")
)

// run passes over the log until the session ends.
func (l *lane) run(ctx context.Context) error {
	defer func() { l.monitor.opens(l.name, l.window.Open) }()
	for ctx.Err() == nil {
		err := l.pass(ctx)
		switch {
		case errors.Is(err, errBusy):
			timer := time.NewTimer(min(busyPause<<l.busy, longestBusy))
			l.busy = min(l.busy+1, mostBusy)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		case errors.Is(err, errAgain):
			l.monitor.wentBack(l.wire)
		case errors.Is(err, errRetry):
		default:
			return err
		}
	}
	return ctx.Err()
}

// pass reads the log from the lane's place on and sends, until it must start over.
func (l *lane) pass(ctx context.Context) error {
	l.epoch++
	p := &pass{
		lane: l, read: l.place, sent: map[string]uplink.Position{}, open: map[string]*batch{}, blocked: map[string]flying{},
		due: stopped(), paid: stopped(), retry: stopped(), patience: stopped(), own: map[string]bool{}, began: time.Now(),
	}
	for origin := range l.cfg.Own() {
		p.own[origin] = true
	}
	for _, timer := range []*time.Timer{p.due, p.paid, p.retry, p.patience} {
		defer timer.Stop()
	}
	maps.Copy(p.sent, l.acked)
	reading, end := context.WithCancel(ctx)
	r := &reader{lane: l.wire, log: l.log, next: l.place + 1, out: make(chan entry, 16)}
	failed := make(chan error, 1)
	var done sync.WaitGroup
	done.Go(func() { failed <- r.run(reading) })
	defer done.Wait()
	defer end()
	return p.run(ctx, r.out, failed)
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// pass is one pass over the log.
type pass struct {
	*lane
	read    uint64                     // log position up to which blocks were taken
	sent    map[string]uplink.Position // up to where origins were sent
	open    map[string]*batch
	spare   []*batch
	flight  []flying
	octets  int64
	queue   []*parcel         // what is sent before anything else is read
	blocked map[string]flying // refused origins → their first pending block
	owing   bool              // the rate limit wants a pause
	armed   bool              // the timer due is running
	own     map[string]bool   // this node's origins
	began   time.Time
	again   bool // the timer retry is running

	due, paid, retry, patience *time.Timer
}

// flying is a frame in flight.
type flying struct {
	origin   string
	sequence uint64
	log      uint64 // log position of its first block
	octets   int64
	created  time.Time
	sent     time.Time
	part     bool   // part of a block sent in parts
	end      uint64 // end of a part in its block
}

func (p *pass) run(ctx context.Context, in <-chan entry, failed <-chan error) error {
	defer p.ended()
	for {
		next := in
		if p.owing || len(p.queue) > 0 || p.octets >= p.window.Open || len(p.flight) >= p.most() {
			next = nil
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-p.session.Done():
			return p.session.Err()
		case e := <-next:
			err = p.take(ctx, &e, len(in) == 0)
		case a := <-p.answers:
			err = p.answer(&a)
		case <-p.due.C:
			p.armed = false
			err = p.flushDue()
		case <-p.paid.C:
			p.owing = false
			err = p.flushDue()
		case <-p.retry.C:
			err = errRetry
		case <-p.patience.C:
			return fault.E("sender.Run", fault.Timeout, string(p.name), errPatience)
		}
		if err == nil {
			err = p.feed()
		}
		if err != nil {
			return err
		}
	}
}

// most is how many frames may be in flight. A parent that accepted nothing is probed with one: refused frames
// would cross the link in vain each time.
func (p *pass) most() int {
	if p.busy > 0 {
		return 1
	}
	return maxFlight
}

// ended adjusts the window at the end of a connection.
func (p *pass) ended() {
	p.reached = max(p.reached, p.read)
	if len(p.flight) > 0 {
		p.window.Lost(time.Since(p.flight[0].sent))
	}
}

// take takes a block of the log. idle means that no other block is waiting.
func (p *pass) take(ctx context.Context, e *entry, idle bool) error {
	if e.block != nil { // not a block of the other lane
		err := p.gather(ctx, e, idle)
		release(e.block)
		if err != nil {
			return err // and the position stays before the block
		}
	}
	p.read = e.log
	p.move()
	p.armRetry()
	return nil
}

// gather adds a block to its origin's batch.
func (p *pass) gather(ctx context.Context, e *entry, idle bool) error {
	b := e.block
	sent, known := p.sent[b.Origin]
	if !known {
		var err error
		if sent, err = p.ask(ctx, b.Origin); err != nil {
			return err
		}
	}
	if _, waits := p.blocked[b.Origin]; waits || b.Sequence <= sent.Sequence {
		return nil
	}
	open := p.open[b.Origin]
	if open != nil && !open.fits(b, p.window.samples(p.cfg.pace(b.Origin).Samples), p.window.text()) {
		if err := p.flush(open); err != nil {
			return err
		}
		open = nil
	}
	if open == nil {
		open = p.begin(e, sent)
	}
	open.add(b, p.paths)
	p.sent[b.Origin] = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	if open.block.Len() >= p.window.samples(p.cfg.pace(b.Origin).Samples) || open.text >= p.window.text() {
		return p.flush(open)
	}
	if idle {
		if err := p.flushReady(); err != nil {
			return err
		}
	}
	if len(p.open) > 0 {
		p.arm()
	}
	return nil
}

// begin opens a batch, with the reason why blocks before it are missing, if any.
func (p *pass) begin(e *entry, sent uplink.Position) *batch {
	b, lost := e.block, e.block.Lost
	if b.FirstSequence() > sent.Sequence+1 {
		if lost == "" {
			lost = e.reason
		}
		p.monitor.lost(b.Origin, gap{min(b.Before, sent.Samples), b.Before}, lost)
	}
	open := new(batch)
	if n := len(p.spare); n > 0 {
		open, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	open.begin(b, e.log, lost)
	open.previous = sent.Sequence
	p.open[b.Origin] = open
	return open
}

// ask requests the parent's position of a new origin.
func (p *pass) ask(ctx context.Context, origin string) (uplink.Position, error) {
	positions, err := p.session.Positions(ctx, []string{origin})
	if err != nil {
		return uplink.Position{}, err
	}
	p.acked[origin], p.sent[origin] = positions[origin], positions[origin]
	p.acknowledge(origin, positions[origin], positions[origin])
	return positions[origin], nil
}

// arm schedules sending open batches when they are old enough.
func (p *pass) arm() {
	if p.armed {
		return
	}
	p.armed = true
	age := p.cfg.Age
	for origin := range p.open {
		age = min(age, p.cfg.pace(origin).Age)
	}
	p.due.Reset(age)
}

// emptyAge is how many times longer a batch with only left-out samples may wait.
const emptyAge = 10

// flushDue sends the batches that are old enough.
func (p *pass) flushDue() error {
	if p.owing {
		return nil // continues when paid fires
	}
	now := time.Now()
	for _, b := range p.open {
		age := p.cfg.pace(b.block.Origin).Age
		if b.block.Len() == 0 {
			age *= emptyAge
		}
		if now.Sub(b.since) < age || (p.busy > 0 && len(p.flight) > 0) {
			continue
		}
		if err := p.flush(b); err != nil {
			return err
		}
	}
	p.move()
	if len(p.open) > 0 {
		p.arm()
	}
	return nil
}

// flushReady sends batches that need not wait for more: all of the urgent lane, and blocks of other nodes,
// which have already merged them. Merging once on the way is enough.
func (p *pass) flushReady() error {
	for origin, b := range p.open {
		if (p.name != uplink.Urgent && (p.own[origin] || p.cfg.pace(origin) != p.cfg.pace(""))) || (p.busy > 0 && len(p.flight) > 0) {
			continue
		}
		if err := p.flush(b); err != nil {
			return err
		}
	}
	return nil
}

// flush sends a batch.
func (p *pass) flush(b *batch) error {
	block := b.close()
	delete(p.open, block.Origin)
	p.spare = append(p.spare, b)
	var err error
	if p.data, err = p.encoder.AppendPacked(p.data[:0], block); err != nil {
		return fmt.Errorf("encode what is sent: %w", err)
	}
	f := flying{origin: block.Origin, sequence: block.Sequence, log: b.log, created: block.Created}
	p.monitor.count(block)
	large := p.parts && len(p.data) > p.window.whole()
	if large || len(p.queue) > 0 {
		p.queue = append(p.queue, newParcel(f, b.previous, p.data, large))
		return nil // feed sends it
	}
	return p.sendFrame(f, b.previous, p.data)
}

func (p *pass) sendFrame(f flying, previous uint64, block []byte) error {
	frame := uplink.Frame{Epoch: p.epoch, Previous: previous, Block: block}
	p.frame = frame.Append(p.frame[:0])
	return p.send(f)
}

// send sends the content of frame.
func (p *pass) send(f flying) error {
	if err := p.session.Send(p.wire, p.frame); err != nil {
		return err
	}
	if len(p.flight) == 0 {
		p.patience.Reset(p.cfg.Patience)
	}
	f.octets, f.sent = int64(len(p.frame)), time.Now()
	p.flight = append(p.flight, f)
	p.octets += f.octets
	p.monitor.went(f.origin, f.octets)
	if owed := p.limit.spend(len(p.frame), time.Now()); owed > 0 && p.wire == uplink.Normal {
		p.owing = true
		p.paid.Reset(owed)
	}
	return nil
}

// answer processes an answer of the parent.
func (p *pass) answer(a *uplink.Answer) error {
	acked := p.acked[a.Origin]
	if a.Sequence > acked.Sequence {
		p.acked[a.Origin] = a.Position
		p.settle(a.Origin, a.Position, acked)
	}
	if a.Epoch != p.epoch {
		return nil // it answers something sent before the lane went back
	}
	if a.Failure == nil || a.Failure.Kind != fault.Unavailable.String() {
		p.busy = 0
	}
	switch {
	case a.Part != nil:
		p.held(a.Origin, a.Part)
	case a.Failure != nil && a.Failure.Kind == fault.Unavailable.String():
		p.monitor.trouble(a.Origin, a.Err())
		return errBusy
	case a.Failure != nil:
		p.block(a)
	case a.Expected && a.Sequence < acked.Sequence:
		return fault.E("sender.Run", fault.Conflict, a.Origin, errBack)
	case a.Expected:
		return errAgain
	}
	return nil
}

// settle removes what the parent has from flight, and advances the lane's position.
func (p *pass) settle(origin string, to, from uplink.Position) {
	p.unqueue(func(f *flying) bool { return f.origin == origin && f.sequence <= to.Sequence })
	p.arrived(func(f *flying) bool { return f.origin == origin && f.sequence <= to.Sequence })
	p.acknowledge(origin, to, from)
	p.move()
}

// acknowledge records that the parent's position of an origin has advanced.
func (l *lane) acknowledge(origin string, to, from uplink.Position) {
	l.checkpoint.acknowledge(origin, to)
	l.monitor.acknowledged(origin, to, from)
	if l.only == origin {
		l.told(to)
	}
}

// arrived removes what the parent has from flight.
func (p *pass) arrived(has func(*flying) bool) {
	kept := p.flight[:0]
	now := time.Now()
	for _, f := range p.flight {
		if has(&f) {
			p.window.Answered(f.sent, f.octets, p.octets, now)
			p.octets -= f.octets
			continue
		}
		kept = append(kept, f)
	}
	p.flight = kept
	if len(p.flight) == 0 {
		p.patience.Stop()
	} else {
		p.patience.Reset(p.cfg.Patience)
	}
}

// move records up to where in the log everything is acknowledged.
func (p *pass) move() {
	place := p.read
	oldest := time.Time{}
	hold := func(log uint64, created time.Time) {
		place = min(place, log-1)
		if oldest.IsZero() || created.Before(oldest) {
			oldest = created
		}
	}
	for i := range p.flight {
		hold(p.flight[i].log, p.flight[i].created)
	}
	for _, w := range p.queue {
		hold(w.log, w.created)
	}
	for _, b := range p.open {
		hold(b.log, b.block.Created)
	}
	for _, f := range p.blocked {
		hold(f.log, f.created)
	}
	if place > p.place {
		p.place = place
	}
	if p.only != "" {
		return // its place is what the parent says
	}
	p.checkpoint.move(p.name, p.place)
	p.monitor.moved(p.name, p.place, oldest, len(p.flight), p.octets)
}
