package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/source/setting"
)

// intake is one source: one goroutine takes, reads, records and answers.
type intake struct {
	entry     setting.Source
	reader    Reader
	admission Admission
	now       func() time.Time
	log       *slog.Logger
	kept      *keptFile

	work     sync.Mutex // held while messages are read
	payloads *payloads

	mu    sync.Mutex // guards the rest
	s     State
	pause time.Duration
}

// Bounds of a source.
const (
	recordTime  = 5 * time.Second  // longest wait of messages for the disk
	answerTime  = 30 * time.Second // and of an answer or of dead letters for the broker
	firstPause  = time.Second
	longestWait = time.Minute
)

func open(cfg *Config, entry setting.Source) (*intake, error) {
	entry = entry.Completed(cfg.Node)
	k := &intake{
		entry: entry, admission: cfg.Admission, now: cfg.Now, log: cfg.Log.With(slog.String("source", entry.Name)),
		s: State{Name: entry.Name, Kind: entry.Kind},
	}
	var err error
	if k.payloads, err = newPayloads(&k.entry, cfg.Bounds); err != nil {
		return nil, err
	}
	if k.kept, err = openKept(cfg.Dir, entry.Name); err != nil {
		return nil, err
	}
	kind := cfg.Kinds[entry.Kind]
	if kind == nil {
		return nil, fault.E("sources.Open", fault.Invalid, entry.Kind, errors.New("this program does not read from such brokers"))
	}
	k.reader, err = kind(&k.entry, cfg.Node)
	return k, err
}

func (k *intake) state() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.s
	s.Kept = k.kept.len()
	return s
}

// run records until ctx ends. What was taken but is not on disk then is not answered, and is delivered again.
func (k *intake) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.turn(ctx); err != nil && ctx.Err() == nil {
			_ = k.reader.Close() // it is not used further
			k.wait(ctx, err)
		}
	}
	return k.reader.Close()
}

// turn takes messages, records them and answers them.
func (k *intake) turn(ctx context.Context) error {
	messages, err := k.reader.Read(ctx)
	if err != nil {
		return err
	}
	k.well()
	if len(messages) == 0 {
		return nil
	}
	b := k.read(messages)
	for err := k.store(ctx, b); err != nil; err = k.store(ctx, b) {
		k.wait(ctx, err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	counts := Counts{Messages: uint64(len(messages)), Samples: uint64(len(b.Samples)), Refused: uint64(b.Refused), Misdated: uint64(b.Misdated)}
	if err := k.setAside(ctx, messages, b, &counts); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	if err := k.reader.Answer(ctx); err != nil {
		return err
	}
	k.count(&counts)
	return nil
}

// read makes readings of messages.
func (k *intake) read(messages []Message) *batch {
	k.work.Lock()
	defer k.work.Unlock()
	b := newBatch(len(messages), k.now())
	for i := range messages {
		k.payloads.take(b, i, &messages[i])
	}
	return b
}

// store records what was read. An error says that the node does not record at present. Readings that may not be recorded are then counted with their
// messages.
func (k *intake) store(ctx context.Context, b *batch) error {
	ctx, stop := context.WithTimeout(ctx, recordTime)
	defer stop()
	if err := k.admission.Record(ctx, &b.Batch, point.Path(k.entry.Under)); err != nil {
		return fmt.Errorf("the node does not record: %w", err)
	}
	for _, e := range b.Errors {
		b.fail(e.Line, fmt.Sprintf("%s: %s", e.Point, e.Detail))
	}
	left := make([]int, len(b.taken))
	for _, message := range b.Lines {
		left[message]++
	}
	for message, n := range b.taken {
		if left[message] < n { // more were refused than are told of
			b.fail(message, plural.Of(n-left[message], "reading")+" may not be recorded, for the reason of other messages")
		}
	}
	return nil
}

// setAside sends messages that could not be read to where dead letters go, or keeps them.
func (k *intake) setAside(ctx context.Context, messages []Message, b *batch, c *Counts) error {
	c.Unread = uint64(len(b.unread))
	if c.Unread == 0 {
		return nil
	}
	var list []Unread
	for _, i := range slices.Sorted(maps.Keys(b.unread)) {
		list = append(list, Unread{Message: i, Reason: b.unread[i]})
	}
	k.log.DebugContext(ctx, "messages cannot be read", slog.Int("messages", len(list)), slog.String("place", messages[list[0].Message].Place), slog.String("why", list[0].Reason))
	if k.entry.DeadLetters != "" && k.divert(ctx, list) {
		c.Diverted = c.Unread
		return nil
	}
	var kept []Kept
	for _, one := range list {
		kept = append(kept, keptOf(&messages[one.Message], one.Reason, b.now))
	}
	for {
		dropped, err := k.kept.add(kept)
		if err == nil {
			c.Dropped = uint64(dropped)
			return nil
		}
		k.wait(ctx, err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// divert sends copies of messages to where dead letters go, and reports whether that is sure.
func (k *intake) divert(ctx context.Context, list []Unread) bool {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	err := k.reader.Divert(ctx, list)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && k.s.Dead == nil {
		k.log.WarnContext(ctx, "dead letters cannot be sent", slog.Any("err", err))
	}
	k.s.Dead = err
	return err == nil
}

// wait tells why nothing is taken, and waits, longer each time.
func (k *intake) wait(ctx context.Context, err error) {
	k.mu.Lock()
	if k.s.Err == nil {
		k.s.Since, k.pause = k.now(), firstPause
		k.log.WarnContext(ctx, "a source takes no messages", slog.Any("err", err))
	} else {
		k.pause = min(2*k.pause, longestWait)
	}
	k.s.Err = err
	pause := k.pause
	k.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// well tells that messages are taken.
func (k *intake) well() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.s.Err, k.s.Since, k.pause = nil, time.Time{}, 0
}

func (k *intake) count(c *Counts) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.s
	s.Messages += c.Messages
	s.Samples += c.Samples
	s.Counts.Refused += c.Refused
	s.Misdated += c.Misdated
	s.Unread += c.Unread
	s.Diverted += c.Diverted
	s.Dropped += c.Dropped
	s.Last, s.Err, s.Since = k.now(), nil, time.Time{}
}

// again reads messages once more that could not be read.
func (k *intake) again(ctx context.Context) (read int, err error) {
	list, err := k.kept.page(0, mostKept)
	if err != nil {
		return 0, err
	}
	messages := make([]Message, len(list))
	for i := range list {
		messages[i] = Message{Topic: list[i].Topic, Place: list[i].Place, Time: list[i].Time, Payload: list[i].Payload}
		if list[i].Time.IsZero() {
			messages[i].Time = list[i].At
		}
		if list[i].Size > len(list[i].Payload) {
			messages[i].Payload = nil
		}
	}
	b := k.read(messages)
	if err := k.store(ctx, b); err != nil {
		return 0, fault.E("sources.retry", fault.Unavailable, k.entry.Name, err)
	}
	some := map[uint64]*Kept{}
	for i := range list {
		reason, unread := b.unread[i]
		switch {
		case list[i].Size > len(list[i].Payload): // it stays as it is
			some[list[i].Number] = &list[i]
		case unread:
			list[i].Reason = clip(reason)
			some[list[i].Number] = &list[i]
		default:
			some[list[i].Number] = nil
			read++
		}
	}
	return read, k.kept.change(some)
}
