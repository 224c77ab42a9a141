package receiver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// arrival is a received frame.
type arrival struct {
	data    []byte
	respond func(uplink.Answer)
}

// underway is a block passed to the recorder.
type underway struct {
	answer  uplink.Answer
	samples int
	octets  int
	wait    func(context.Context) error
	respond func(uplink.Answer)
}

// lane processes the frames of a child's lane, one after another. Its goroutines start with the frames and
// end when there are none and all are answered.
type lane struct {
	*Receiver
	child string
	name  uplink.Lane
	moved *sync.Cond // of Receiver.mu: a frame arrived, or one was answered

	waiting  []arrival // these seven under Receiver.mu
	octets   int64
	busy     bool
	asked    int               // frames that settle has to answer
	refused  map[string]error  // origins whose blocks are refused
	said     map[string]string // the last refusal of an origin, so that it is reported once
	refusals uint64            // reported refusals

	decoder wire.Decoder
	block   point.Block
	partial *partial // block received in part; nil for none
}

// maxUnderway bounds the blocks of a lane that were passed to the recorder and are not on disk.
const maxUnderway = 256

// work processes frames until none are queued, and waits for the disk.
func (l *lane) work(ctx context.Context) {
	out := make(chan underway, maxUnderway)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for u := range out {
			l.settle(ctx, &u)
			l.settled()
		}
	}()
	for {
		a, ok := l.next(out)
		if !ok {
			break
		}
		l.take(ctx, a, out)
	}
	<-done
}

// next returns the first queued frame. When there is none and all are answered the channel is closed, and the
// next frame starts another goroutine. Not before: of two goroutines the later one would answer first, for
// example a block resent over a new connection before the first one is on disk.
func (l *lane) next(out chan underway) (arrival, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && l.asked > 0 {
		l.moved.Wait()
	}
	if len(l.waiting) == 0 {
		l.busy = false
		close(out)
		return arrival{}, false
	}
	a := l.waiting[0]
	l.waiting[0] = arrival{}
	if l.waiting = l.waiting[1:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	l.octets -= int64(len(a.data))
	return a, true
}

// take processes a frame, or a part of one.
func (l *lane) take(ctx context.Context, a arrival, out chan<- underway) {
	l.block.Reset() // a frame that cannot be decoded has no origin
	frame, whole, err := l.frame(ctx, a, out)
	if !whole {
		return
	}
	if err == nil {
		err = l.decoder.DecodeBlock(frame.Block, &l.block)
	}
	if err != nil { // its origin is unknown: the sender goes back when it gets no answer
		l.partial = nil
		l.refuse(err)
		return
	}
	l.admit(ctx, &frame, a, out)
}

// admit checks the block of a frame, and passes it to the recorder.
func (l *lane) admit(ctx context.Context, frame *uplink.Frame, a arrival, out chan<- underway) {
	b := &l.block
	answer := uplink.Answer{Epoch: frame.Epoch, Origin: b.Origin}
	if err := l.judge(b); err != nil {
		l.refuse(err)
		answer.Failure = uplink.FailureOf(err, identity.MissingOf(err))
		answer.Position = l.keptOf(b.Origin)
		a.respond(answer)
		return
	}
	if err := l.recorder.Paused(); err != nil {
		if kept := l.keptOf(b.Origin); b.Sequence > kept.Sequence {
			answer.Failure, answer.Position = unavailable(err), kept
			a.respond(answer) // even for one already waiting for the disk: that may take long
			return
		}
	}
	taken := l.takenOf(b.Origin)
	switch {
	case b.Sequence <= taken.Sequence:
		l.repeated(b)
		answer.Position = l.keptOf(b.Origin)
		// The answer must not precede those of blocks on their way to the disk.
		l.pass(ctx, out, underway{answer: answer, respond: a.respond, wait: noWait})
		return
	case frame.Previous != taken.Sequence:
		answer.Expected, answer.Position = true, l.keptOf(b.Origin)
		l.pass(ctx, out, underway{answer: answer, respond: a.respond, wait: noWait})
		return
	}
	if err := l.fits(ctx, b, taken); err != nil {
		l.refuse(err)
		answer.Failure, answer.Position = uplink.FailureOf(err, ""), l.keptOf(b.Origin)
		a.respond(answer)
		return
	}
	wait, err := l.recorder.Forward(ctx, b, frame.Block)
	if err != nil {
		answer.Failure, answer.Position = unavailable(err), l.keptOf(b.Origin)
		a.respond(answer)
		return
	}
	answer.Position = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	l.took(b, answer.Position)
	l.forget(b.Origin, b.Sequence)
	l.pass(ctx, out, underway{answer: answer, samples: b.Len(), octets: len(frame.Block), wait: wait, respond: a.respond})
}

func noWait(context.Context) error { return nil }

// unavailable says that the recorder accepts nothing now, whatever its message.
func unavailable(err error) *wire.Failure {
	f := uplink.FailureOf(err, "")
	f.Kind = fault.Unavailable.String()
	return f
}

func (l *lane) pass(ctx context.Context, out chan<- underway, u underway) {
	l.mu.Lock()
	l.asked++
	l.mu.Unlock()
	select {
	case out <- u:
	case <-ctx.Done(): // no more answers
		l.settled()
	}
}

func (l *lane) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked--
	l.moved.Signal()
}

// fits refuses a block that does not continue what is here, or has points for which there is no room. Meter readings
// have no points: their system checks them.
func (l *lane) fits(ctx context.Context, b *point.Block, taken uplink.Position) error {
	if err := continues(b, taken); err != nil {
		return err
	}
	if point.IsMeterOrigin(b.Origin) {
		return l.cfg.Meter(b, func(origin string) bool { return l.Owner(origin) == l.child })
	}
	return l.cfg.Know(ctx, l.child, b.Points)
}

// continues refuses a block whose numbers do not continue what is here.
func continues(b *point.Block, taken uplink.Position) error {
	first := b.FirstSequence()
	if first > b.Sequence || b.End() < b.Before ||
		(first == taken.Sequence+1 && b.Before != taken.Samples) || (first > taken.Sequence+1 && b.Before < taken.Samples) {
		return fault.E("receiver.Receive", fault.Conflict, b.Origin, errForked)
	}
	return nil
}

// judge refuses blocks that the child may not send.
func (l *lane) judge(b *point.Block) error {
	const op = "receiver.Receive"
	child, known := l.cfg.Child(l.child)
	if !known {
		return fault.E(op, fault.Refused, l.child, errNoChild)
	}
	if b.Origin == "" || uplink.LaneOf(b.Origin) != l.name {
		return fault.E(op, fault.Invalid, b.Origin, errNotLane)
	}
	for _, path := range b.Points { // caching permitted ones would save little time and cost much memory
		if err := path.Validate(); err != nil {
			return fault.E(op, fault.Invalid, fmt.Sprintf("%.80q", string(path)), err)
		}
		if err := child.Grants.MayRecord(path); err != nil {
			return err
		}
	}
	return l.owns(l.child, b.Origin) // last: it is recorded
}

// settle waits until a block is on disk, and answers.
func (l *lane) settle(ctx context.Context, u *underway) {
	if err := l.await(ctx, u); err != nil {
		u.answer.Position, u.answer.Failure = l.lostTrack(u.answer.Origin), unavailable(err)
		u.respond(u.answer)
		return
	}
	l.land(u)
	if err := l.remember(u.answer.Origin); err != nil { // the block is in the log anyway
		u.answer.Position, u.answer.Failure = l.keptOf(u.answer.Origin), unavailable(err)
	} else {
		u.answer.Position = l.keep(u.answer.Origin)
	}
	u.respond(u.answer)
}

// patience is how long a block may take to reach the disk before checking whether recording works.
const patience = 2 * time.Second

// await waits until a block is on disk, however long that takes. If recording was paused meanwhile it tells
// the sender so, once: the sender asks again from time to time, and take answers.
func (l *lane) await(ctx context.Context, u *underway) error {
	told := u.octets == 0 // only an answer
	for {
		some, cancel := context.WithTimeout(ctx, patience)
		err := u.wait(some)
		late := err != nil && some.Err() != nil && ctx.Err() == nil
		cancel()
		if !late {
			return err
		}
		if paused := l.recorder.Paused(); paused != nil && !told {
			told = true
			answer := u.answer
			answer.Position, answer.Failure = l.keptOf(answer.Origin), unavailable(paused)
			u.respond(answer)
		}
	}
}
