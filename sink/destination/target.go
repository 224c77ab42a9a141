package destination

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/judge/aside"
	"voltbus/point"
	"voltbus/sink/setting"
	"voltbus/store"
)

// target is one destination.
type target struct {
	Kind

	cfg     *Config
	entry   setting.Sink
	writer  Writer
	file    string
	refused *aside.File
	bench   *bench // nil if no rule holds for the destination
	log     *slog.Logger
	fill    chan struct{} // a part of the history is to be sent

	work   sync.Mutex // held while rows are made and sent
	shaper *shaper
	rows   []Row

	mu     sync.Mutex // guards the rest
	p      position
	err    error
	broken error // why the position cannot be read
	since  time.Time
	wait   time.Duration
}

// Bounds of a destination.
const (
	requestTime = time.Minute
	fileTime    = 15 * time.Minute // also over a slow line
	firstWait   = time.Second
	longestWait = time.Minute
)

// open returns the destination of an entry. A new one gets what is recorded from now on, and the history since a day if the entry says so.
func open(ctx context.Context, cfg *Config, entry setting.Sink) (*target, error) {
	entry = entry.Completed()
	kind := cfg.Kinds[entry.Kind]
	writer, err := kind.Make(&entry, Environment{Node: cfg.Node, Dir: cfg.Dir})
	if err != nil {
		return nil, err
	}
	if entry.Batch > 0 {
		kind.Batch = entry.Batch
	}
	if entry.Every > 0 {
		kind.Every = entry.Every
	}
	t := &target{
		Kind: kind, cfg: cfg, entry: entry, writer: writer, file: positionFile(cfg.Dir, entry.Name), fill: make(chan struct{}, 1),
		log: cfg.Log.With(slog.String("destination", entry.Name)), shaper: newShaper(entry, cfg.Node, cfg.Unit),
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return nil, fault.E("sinks.Open", fault.Unavailable, t.file, err)
	}
	var unread error
	t.refused, unread = aside.Open(refusedName(cfg.Dir, entry.Name))
	p, found, err := readPosition(t.file)
	p.completed()
	t.p = p
	if t.broken = errors.Join(err, unread); t.broken == nil {
		t.broken = t.openBench()
	}
	if !found && t.broken == nil { // a destination that is broken does not stop the node
		return t, t.begin(ctx)
	}
	return t, nil
}

// begin makes the position of a new destination.
func (t *target) begin(ctx context.Context) error {
	_, last, err := t.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return fault.E("sinks.Open", fault.Unavailable, t.entry.Name, err)
	}
	t.p = position{Log: t.cfg.Blocks.ID(), Sequence: last}
	if t.cfg.Recorded != nil { // after the end of the log is known: what comes meanwhile is sent
		t.p.Ends = t.cfg.Recorded()
	}
	begun := t.p.ended()
	t.p.Begun = &begun
	if since, ok := t.entry.Since(); ok {
		t.p.History = &span{From: since, To: t.cfg.Now().Add(ahead), Next: since, Log: t.p.Log, Sequence: last}
	}
	return keepPosition(t.file, &t.p)
}

// ahead is how far the times of samples may be in the future that were recorded before the destination was added.
const ahead = time.Hour

// Cursor implements sink.Store.
func (t *target) Cursor(context.Context) (log string, sequence uint64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.bench.forget() // what follows is judged from there on
		t.broken = t.bench.restore(&t.p)
	}
	return t.p.Log, t.bench.from(&t.p), t.broken
}

// unusable returns why nothing can be sent, whatever the destination does.
func (t *target) unusable() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// Append implements sink.Store: it sends the readings of blocks, and stores the position when the destination has them. When that
// fails it waits before it returns, longer each time.
func (t *target) Append(ctx context.Context, blocks []*point.Block) (r store.Result, err error) {
	r, err = t.send(ctx, blocks)
	if wait := t.tell(err); err != nil {
		pause(ctx, wait)
	}
	return r, err
}

// close ends connections and processes. More are made when they are needed.
func (t *target) close() error {
	t.bench.close()
	return t.writer.Close()
}

// tell remembers how the last attempt ended, and returns how long to wait after a failure.
func (t *target) tell(err error) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		t.err, t.wait, t.since = nil, 0, time.Time{}
		return 0
	case t.err == nil:
		t.since, t.wait = t.cfg.Now(), firstWait
		t.log.Warn("sending to a destination is paused", slog.Any("err", err))
	default:
		t.wait = min(2*t.wait, longestWait)
	}
	t.err = err
	return t.wait
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// send sends the readings of blocks. What was accepted before an error is not sent again.
func (t *target) send(ctx context.Context, blocks []*point.Block) (r store.Result, err error) {
	t.work.Lock()
	defer t.work.Unlock()
	t.mu.Lock()
	p := t.p.clone()
	t.mu.Unlock()
	if err := t.bench.restore(&p); err != nil {
		return r, err
	}
	begun, log := p.Sequence, p.Log
	t.shaper.refresh(t.cfg.Now())
	if err := t.bench.ask(ctx, blocks, t.shaper, &p); err != nil {
		return r, err
	}
	next := p.clone()
	t.rows = t.rows[:0]
	for i, b := range blocks {
		t.gather(b, &next)
		if len(t.rows) < t.Batch*t.Parallel && i < len(blocks)-1 {
			continue
		}
		refused, failed := t.write(ctx, t.rows)
		if failed == nil {
			failed = t.bench.settle(&next)
		}
		if err = failed; err != nil {
			break
		}
		next.Sent += uint64(len(t.rows) - refused)
		next.Refused += uint64(refused)
		r.Stored += len(t.rows)
		t.rows, p = t.rows[:0], next.clone()
		if t.Files && i < len(blocks)-1 {
			if err = t.advance(&p); err != nil {
				break
			}
		}
	}
	if p.Sequence != begun || p.Log != log || err == nil {
		err = errors.Join(err, t.advance(&p))
	}
	t.bench.behind(&p)
	return r, t.bench.end(&p, err, t.cfg.Now())
}

// advance stores a position. The part of the history that is to be sent may have changed meanwhile.
func (t *target) advance(p *position) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.History, p.Filled, p.Accepted, p.Discarded, p.Released, p.Dismissed = t.p.History, t.p.Filled, t.p.Accepted, t.p.Discarded, t.p.Released, t.p.Dismissed
	if err := keepPosition(t.file, p); err != nil {
		return err
	}
	t.p = *p
	return nil
}

// gather adds the rows of a block, and moves the position behind it. One that was sent before is only judged again.
func (t *target) gather(b *point.Block, p *position) {
	if b.Log == p.Log && b.LogSequence <= p.Sequence {
		t.bench.replay(b)
		return
	}
	switch end, known := p.Ends[b.Origin]; {
	case !known:
		*p.Begun += int64(b.Before)
	case b.Before > end:
		p.Missing += b.Before - end
	default: // it was recorded while the destination was being added
		*p.Begun -= int64(end - b.Before)
	}
	p.Ends[b.Origin] = b.End()
	now := t.cfg.Now().UnixMicro()
	p.Log, p.Sequence = b.Log, b.LogSequence
	p.Left += b.Left
	shapes := make([]*Shape, len(b.Points))
	for i, path := range b.Points {
		shapes[i] = t.shaper.shape(path)
	}
	part := ""
	if t.Files {
		part = fmt.Sprintf("%s-%012d", b.Log, b.LogSequence)
	}
	judged := t.bench.of(b)
	for i := range b.Point {
		p.Newest = max(p.Newest, min(b.Time[i], now))
		shape := shapes[b.Point[i]]
		quality := b.Quality[i]
		if judged != nil {
			v := t.bench.verdicts.Combine(judged[b.Point[i]].Judge(b.Time[i], b.Value(i), quality), b.LogSequence, i)
			if shape != nil && v.Rule >= 0 && t.bench.found(b, i, &v, shape, p) {
				continue
			}
			quality = v.Quality
		}
		if shape == nil {
			p.Left++
			continue
		}
		t.rows = append(t.rows, Row{Shape: shape, Time: b.Time[i], Value: shape.convert(b.Value(i)), Quality: quality, Part: part})
	}
}

// write sends rows in requests, several at a time, and keeps those that are refused.
func (t *target) write(ctx context.Context, rows []Row) (refused int, err error) {
	var group errgroup.Group
	group.SetLimit(t.Parallel)
	var mu sync.Mutex
	size, limit := t.Batch, requestTime
	if t.Files {
		size, limit = len(rows), fileTime
	}
	for len(rows) > 0 {
		part := rows[:min(len(rows), size)]
		rows = rows[len(part):]
		group.Go(func() error {
			one, stop := context.WithTimeout(ctx, limit)
			defer stop()
			list, err := t.writer.Write(one, part)
			if err != nil || len(list) == 0 {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			refused += len(list)
			return t.refuse(part, list)
		})
	}
	return refused, group.Wait()
}

func (p *position) clone() position {
	c := *p
	c.Ends = make(map[string]uint64, len(p.Ends)+1)
	maps.Copy(c.Ends, p.Ends)
	begun := *p.Begun
	c.Begun = &begun
	c.Rules = maps.Clone(p.Rules)
	return c
}
