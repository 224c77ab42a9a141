// Package blocklog stores encoded blocks in a durable, bounded sequence: a file stream of the embedded server, flushed after each block.
package blocklog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// The log's stream.
const (
	logStream  = "LOG"
	logSubject = "log.block"
	ackTimeout = 10 * time.Second
	apiTimeout = 5 * time.Second
	MaxBlock   = 8 << 20 // bytes of one block
	readAhead  = 64      // blocks that a reader asks for at once

	journalStream, journalSubject = "JOURNAL_", "journal."
)

// Config says how large the log may grow.
type Config struct {
	// MaxBytes bounds the log on disk; beyond it the oldest blocks are dropped.
	MaxBytes int64
	// Replica is the name of the replica that writes the log, Replicas how many shall have it on disk when it is made. The
	// zero values are those of a node alone.
	Replica  string
	Replicas func() int
	// Journal is the name of a log that all replicas write, by Add; "" for one with one writer.
	Journal string
}

// replicated reports whether the log is on the disks of several nodes: a block is acknowledged when a majority has it.
func (c *Config) replicated() bool { return c.Replica != "" }

// stream and subject are what the server calls the log.
func (c *Config) stream() string {
	if c.Journal != "" {
		return journalStream + c.Journal
	}
	if c.replicated() {
		return logStream + "_" + c.Replica
	}
	return logStream
}

func (c *Config) subject() string {
	if c.Journal != "" {
		return journalSubject + c.Journal
	}
	if c.replicated() {
		return logSubject + "." + c.Replica
	}
	return logSubject
}

// Log is the durable, bounded sequence of encoded blocks. It has one writer, the recorder, and
// any number of readers. It is safe for concurrent use.
type Log struct {
	engine Engine
	cfg    Config
	js     jetstream.JetStream

	recovering sync.Mutex // who starts the engine
	revived    time.Time  // when that was tried last because it had stopped by itself

	mu     sync.Mutex
	stream jetstream.Stream
	id     string
	broken bool          // the engine was stopped and could not be started
	back   chan struct{} // closed when Recover returns; nil while it is not called
	asking sync.WaitGroup
}

// State describes a log. Sequences count from 1; First > Last means that it is empty.
type State struct {
	First    uint64 // sequence of the oldest block kept
	Last     uint64 // sequence of the newest block
	Bytes    int64
	MaxBytes int64
}

// Engine is the server that keeps the log.
type Engine struct {
	Server *server.Server
	Conn   *nats.Conn // for the log alone
	Store  *server.JetStreamConfig
	Log    *slog.Logger
	// Trouble says why no majority of the replicas can be reached; nil for a node alone.
	Trouble func() error
}

// Open opens the log, and makes it if there is none. At a replica it waits until a majority of them is there.
func Open(ctx context.Context, e Engine, cfg Config) (*Log, error) {
	l, err := prepare(e, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.replicated() {
		return l, l.openReplicated(ctx)
	}
	return l, l.open(ctx)
}

func prepare(e Engine, cfg Config) (*Log, error) {
	js, err := jetstream.New(e.Conn, jetstream.WithPublishAsyncMaxPending(1024),
		jetstream.WithPublishAsyncTimeout(ackTimeout), jetstream.WithDefaultTimeout(apiTimeout))
	if err != nil {
		return nil, fault.E("bus.OpenLog", fault.Internal, logStream, trouble.Of(err))
	}
	return &Log{engine: e, cfg: cfg, js: js}, nil
}

func (l *Log) open(ctx context.Context) error {
	cfg := jetstream.StreamConfig{
		Name: l.cfg.stream(), Subjects: []string{l.cfg.subject()}, Storage: jetstream.FileStorage, Replicas: 1,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxBytes: l.cfg.MaxBytes, MaxMsgs: -1, MaxMsgSize: MaxBlock,
		// A replica that lags behind would answer directly, and not know the newest blocks.
		Duplicates: 100 * time.Millisecond, AllowDirect: !l.cfg.replicated(),
	}
	stream, err := makeStream(ctx, l, cfg)
	if err != nil {
		return fault.E("bus.OpenLog", fault.Unavailable, l.engine.Store.StoreDir, fmt.Errorf("open the log: %w", trouble.Of(err)))
	}
	l.take(stream)
	return nil
}

func (l *Log) take(stream jetstream.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stream = stream
	l.id = strconv.FormatInt(stream.CachedInfo().Created.UnixNano(), 36)
}

func (l *Log) opened() jetstream.Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stream
}

// ID identifies this log: another one in its place, after the directory was lost, has another ID.
func (l *Log) ID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// Append hands an encoded block to the log behind the block with sequence after. It returns a
// function that waits until the block is on disk. Blocks may be appended without waiting for the
// ones before; when one fails all later ones fail too, so that order is kept. The data must not
// be changed until wait has returned.
func (l *Log) Append(data []byte, after uint64) (wait func(context.Context) error, err error) {
	if err := l.trouble(); err != nil {
		return nil, err
	}
	future, err := l.js.PublishMsgAsync(&nats.Msg{Subject: l.cfg.subject(), Data: data},
		jetstream.WithExpectLastSequence(after), jetstream.WithRetryAttempts(0),
		jetstream.WithStallWait(ackTimeout))
	if err != nil {
		return nil, fault.E("bus.Append", fault.Unavailable, logStream, trouble.Of(err))
	}
	return func(ctx context.Context) error {
		select {
		case <-future.Ok():
			return nil
		case err := <-future.Err():
			if why := l.trouble(); why != nil {
				return why
			}
			return fault.E("bus.Append", fault.Unavailable, logStream, trouble.Of(err))
		case <-ctx.Done():
			return fault.E("bus.Append", fault.Timeout, logStream, ctx.Err())
		}
	}, nil
}

// Last returns the newest block and its sequence; nil and the last sequence ever used if the log
// holds none.
func (l *Log) Last(ctx context.Context) (data []byte, sequence uint64, err error) {
	state, err := l.State(ctx)
	if err != nil || state.First > state.Last || state.Last == 0 {
		return nil, state.Last, err
	}
	msg, err := l.message(ctx, state.Last)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, state.Last, nil
	}
	if err != nil {
		return nil, state.Last, fault.E("bus.Last", fault.Unavailable, logStream, trouble.Of(err))
	}
	return msg.Data, state.Last, nil
}

// State returns what the log holds.
func (l *Log) State(ctx context.Context) (State, error) {
	info, err := ask(ctx, l, func(ctx context.Context, s jetstream.Stream) (*jetstream.StreamInfo, error) { return s.Info(ctx) })
	if err != nil {
		return State{}, fault.E("bus.State", fault.Unavailable, logStream, fmt.Errorf("ask for the log's state: %w", trouble.Of(err)))
	}
	return State{
		First: info.State.FirstSeq, Last: info.State.LastSeq,
		Bytes: int64(info.State.Bytes), MaxBytes: l.cfg.MaxBytes,
	}, nil
}

// Bounds returns the sequences of the oldest and the newest block kept; first > last if it is empty.
func (l *Log) Bounds(ctx context.Context) (first, last uint64, err error) {
	state, err := l.State(ctx)
	return state.First, state.Last, err
}

// Written returns when a block was written to the log; fault.NotFound if it is not kept.
func (l *Log) Written(ctx context.Context, sequence uint64) (time.Time, error) {
	msg, err := l.message(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return time.Time{}, fault.E("bus.Written", fault.NotFound, strconv.FormatUint(sequence, 10), trouble.Of(err))
	}
	if err != nil {
		return time.Time{}, fault.E("bus.Written", fault.Unavailable, logStream, trouble.Of(err))
	}
	return msg.Time, nil
}

// Scan calls deliver with every block from a sequence on that is there, in order, and returns nil
// behind the last. Blocks that the log has dropped or cannot read are skipped: the sequence shows it.
func (l *Log) Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error {
	next, whole, err := l.scanStream(ctx, max(from, 1), deliver)
	if err != nil || (whole && !l.cfg.replicated()) {
		return err
	}
	// The consumer of a replica that lags behind ends too early. A damaged log counts blocks as pending that never come: what is behind is asked for one by one.
	state, err := l.State(ctx)
	for ; err == nil && next <= state.Last; next++ {
		err = l.scanOne(ctx, next, deliver)
	}
	return err
}

// stall is how long a block that is said to be there may take to come.
const stall = 2 * time.Second

// scanStream delivers blocks until none is pending, or the next does not come; then it says from
// which sequence on.
func (l *Log) scanStream(ctx context.Context, next uint64, deliver func(uint64, []byte) error) (from uint64, whole bool, err error) {
	consumer, err := l.consumer(ctx, next)
	if err != nil {
		return next, false, scanError(err)
	}
	if consumer.CachedInfo().NumPending == 0 {
		return next, true, nil
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(readAhead), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return next, false, scanError(err)
	}
	defer messages.Stop()
	for given := uint64(1); ; given++ {
		msg, err := nextWithin(ctx, messages, stall)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return next, false, nil
		}
		if err != nil {
			return next, false, scanError(err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return next, false, scanError(err)
		}
		if meta.Sequence.Consumer != given {
			return next, false, nil
		}
		next = meta.Sequence.Stream + 1
		if err := deliver(meta.Sequence.Stream, msg.Data()); err != nil || meta.NumPending == 0 {
			return next, true, err
		}
	}
}

func nextWithin(ctx context.Context, messages jetstream.MessagesContext, limit time.Duration) (jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return messages.Next(jetstream.NextContext(ctx))
}

// scanOne delivers one block if it can be read.
func (l *Log) scanOne(ctx context.Context, sequence uint64, deliver func(uint64, []byte) error) error {
	msg, err := l.message(ctx, sequence)
	var answered *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound) || (errors.As(err, &answered) && answered.Code < 503):
		return nil
	case err != nil:
		return scanError(err)
	}
	return deliver(sequence, msg.Data)
}

func scanError(err error) error {
	kind := fault.KindOf(err)
	if kind != fault.Canceled && kind != fault.Timeout {
		kind = fault.Unavailable
	}
	return fault.E("bus.Scan", kind, logStream, fmt.Errorf("read the log to its end: %w", trouble.Of(err)))
}
