package blocklog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// heartbeat is how often a consumer says that it is there. It is given up after twice that time without a word.
const heartbeat = 2 * time.Second

// Read calls deliver with every block from a sequence on, in order, first those that are there,
// then new ones as they come, until ctx ends; it returns nil then. Blocks that the log has
// dropped are skipped: the sequence shows it. The data belongs to deliver.
func (l *Log) Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error {
	r := reader{log: l, next: max(from, 1), deliver: deliver}
	for {
		again, err := r.follow(ctx)
		if err != nil || !again {
			return err
		}
	}
}

// reader is a reader of the log. What it reads comes from a consumer, which only one replica has: when that one is gone, another
// consumer goes on where it was. The client's own ordered consumer would ask for one name until it is there, which is for ever if the
// replicas have placed it where it cannot be.
type reader struct {
	log     *Log
	next    uint64
	deliver func(sequence uint64, data []byte) error
}

// follow reads from one consumer, and reports whether another one is to go on.
func (r *reader) follow(ctx context.Context) (again bool, err error) {
	consumer, err := r.log.consumer(ctx, r.next)
	if err != nil {
		return false, readError(ctx, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(readAhead), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return false, readError(ctx, err)
	}
	defer messages.Stop()
	for given := uint64(1); ; given++ {
		msg, err := r.await(ctx, messages)
		if errors.Is(err, jetstream.ErrNoHeartbeat) || errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, errSilent) {
			return true, nil
		}
		if err != nil {
			return false, readError(ctx, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return false, readError(ctx, err)
		}
		if meta.Sequence.Consumer != given { // one was lost on its way
			return true, nil
		}
		if err := fill(ctx, r.log, gap{r.next, meta.Sequence.Stream}, r.deliver); err != nil {
			return false, readError(ctx, err)
		}
		if err := r.deliver(meta.Sequence.Stream, msg.Data()); err != nil {
			return false, err
		}
		r.next = meta.Sequence.Stream + 1
	}
}

// compareAfter is how long a consumer may say that it is there and give nothing before it is compared with the replica that leads. A consumer
// that is not there must be given up first.
const compareAfter = 3 * heartbeat

var errSilent = errors.New("the consumer does not give what the log has")

// await returns the next message. The consumer of a replica that was behind when it was made may say that it is there, and give nothing: from
// time to time it is compared with the replica that leads.
func (r *reader) await(ctx context.Context, messages jetstream.MessagesContext) (jetstream.Msg, error) {
	for {
		msg, err := nextWithin(ctx, messages, compareAfter)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return msg, err
		}
		if r.behind(ctx) {
			return nil, errSilent
		}
	}
}

func (r *reader) behind(ctx context.Context) bool {
	if !r.log.cfg.replicated() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	_, last, err := r.log.Bounds(ctx)
	return err == nil && last >= r.next
}

// gap is the sequences from one on, up to another one.
type gap struct{ next, until uint64 }

// fill delivers what a reader was not given between two blocks of a replicated log. Who gives may be a replica that has just caught up
// with the others: what it lacks is asked of the one that leads.
func fill(ctx context.Context, l *Log, g gap, deliver func(uint64, []byte) error) error {
	if g.next >= g.until || !l.cfg.replicated() {
		return nil
	}
	first, _, err := l.Bounds(ctx)
	if err != nil || first >= g.until {
		return err
	}
	next := max(g.next, first)
	l.engine.Log.WarnContext(ctx, "a reader of the log was not given all blocks, which are asked for one by one",
		slog.String("log", l.cfg.stream()), slog.Uint64("from", next), slog.Uint64("to", g.until-1))
	for ; err == nil && next < g.until; next++ {
		err = l.scanOne(ctx, next, deliver)
	}
	return err
}

// consumer returns a new one that delivers what the log has from a sequence on. It has a name of its own: where one that does not answer was
// placed says nothing about the next.
func (l *Log) consumer(ctx context.Context, from uint64) (jetstream.Consumer, error) {
	return ask(ctx, l, func(ctx context.Context, s jetstream.Stream) (jetstream.Consumer, error) {
		return s.CreateConsumer(ctx, jetstream.ConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, AckPolicy: jetstream.AckNonePolicy,
			Replicas: 1, MemoryStorage: true, InactiveThreshold: time.Minute,
		})
	})
}

func readError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return fault.E("bus.Read", fault.Unavailable, logStream, fmt.Errorf("read the log: %w", trouble.Of(err)))
	}
	return nil
}
