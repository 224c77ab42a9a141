package judged

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/judge"
	"voltbus/judge/aside"
	"voltbus/point"
	"voltbus/wire"
)

// Timing and bounds of judging.
const (
	retry        = time.Second      // after a failure
	saveEvery    = 10 * time.Second // bounds what is judged again after a crash
	mostBlocks   = 256              // judged at once
	mostReadings = 20_000
)

// entry is a block of the log; nil for one that is not judged.
type entry struct {
	sequence uint64
	block    *point.Block
}

// Run judges what is recorded until ctx ends, and returns nil; without a log, nothing. Failures are shown in State and retried.
func (l *Log) Run(ctx context.Context) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}
	defer l.panel.Close()
	if l.broken != nil || len(l.cfg.Rules) == 0 {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		err := l.follow(ctx)
		if ctx.Err() != nil {
			break
		}
		l.report(err)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

// report keeps the error for State, and logs a new one.
func (l *Log) report(err error) {
	l.mu.Lock()
	first := l.err == nil && err != nil
	l.err = err
	l.mu.Unlock()
	if first {
		l.cfg.Log.Warn("judging what is sent to the parent is paused", slog.Any("err", err))
	}
}

// bench judges, from what was saved on. One goroutine owns it.
type bench struct {
	*Log

	judge    *judge.Judge
	sequence uint64
	found    found
	last     time.Time // when it was saved
	points   []*judge.Point
	withheld []aside.Reading
	fresh    []verdict
}

// follow judges from what was saved on, until something fails or ctx ends.
func (l *Log) follow(ctx context.Context) error {
	b := &bench{Log: l, judge: judge.New(l.cfg.Rules, l.saved.Memory), sequence: l.saved.Sequence, found: l.saved.Found.clone(), last: l.cfg.Now()}
	if err := b.fence(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	in := make(chan entry, mostBlocks)
	group.Go(func() error {
		defer close(in)
		return b.read(ctx, l.saved.Sequence+1, in)
	})
	group.Go(func() error {
		for {
			list, open := gather(in)
			if err := b.judgeSome(ctx, list); err != nil {
				return err
			}
			if !open {
				return b.save(context.WithoutCancel(ctx))
			}
		}
	})
	return group.Wait()
}

// fence forgets what was withheld of blocks whose verdicts were not written: they are judged again.
func (b *bench) fence() error {
	b.change.Lock()
	defer b.change.Unlock()
	if err := b.kept.Fence(b.ID(), max(b.verdicts.last(), b.saved.Sequence)); err != nil {
		return err
	}
	return b.recount()
}

// read reads the log.
func (b *bench) read(ctx context.Context, from uint64, out chan<- entry) error {
	var decoder wire.Decoder
	err := b.cfg.Blocks.Read(ctx, from, func(sequence uint64, data []byte) error {
		e := entry{sequence, new(point.Block)}
		if err := decoder.DecodeBlock(data, e.block); err != nil || point.IsMeterOrigin(e.block.Origin) {
			e.block = nil
		} else {
			e.block.Log, e.block.LogSequence = b.ID(), sequence
		}
		select {
		case out <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return err
}

// gather returns what there is to be judged, some at once; false after the last.
func gather(in <-chan entry) (list []entry, open bool) {
	e, open := <-in
	for readings := 0; open; {
		list = append(list, e)
		if e.block != nil {
			readings += e.block.Len()
		}
		if len(list) >= mostBlocks || readings >= mostReadings {
			return list, true
		}
		select {
		case e, open = <-in:
		default:
			return list, true
		}
	}
	return list, false
}

// judgeSome judges blocks, and lets them be read when what was found is on disk.
func (b *bench) judgeSome(ctx context.Context, list []entry) error {
	if len(list) == 0 {
		return nil
	}
	b.withheld, b.fresh = b.withheld[:0], b.fresh[:0]
	said, err := b.ask(ctx, list)
	if err != nil {
		return err
	}
	shared := b.cfg.Shared()
	known := b.verdicts.last()
	for _, e := range list {
		b.sequence = e.sequence
		if e.block == nil {
			continue
		}
		if e.sequence > known {
			b.judgeBlock(e.block, said, shared)
			continue
		}
		b.replay(e.block)
		before, found, err := b.verdicts.of(e.sequence)
		if err != nil {
			return err
		}
		if found {
			b.found.add(&before)
		}
	}
	if err := b.keep(); err != nil {
		return err
	}
	b.publish()
	if now := b.cfg.Now(); now.Sub(b.last) >= saveEvery || now.Before(b.last) {
		return b.save(ctx)
	}
	return nil
}

// ask asks functions about blocks that they were not asked about before.
func (b *bench) ask(ctx context.Context, list []entry) (judge.Findings, error) {
	if b.panel.Empty() {
		return nil, nil
	}
	var blocks []*point.Block
	for _, e := range list {
		if e.block != nil && e.sequence > b.verdicts.last() {
			blocks = append(blocks, e.block)
		}
	}
	return b.panel.Ask(ctx, blocks, b.cfg.Selects)
}

func (b *bench) of(block *point.Block) []*judge.Point {
	b.points = b.points[:0]
	for _, path := range block.Points {
		if b.cfg.Selects(path) {
			b.points = append(b.points, b.judge.Point(path))
		} else {
			b.points = append(b.points, nil)
		}
	}
	return b.points
}

// replay has rules remember the readings of a block that was judged before.
func (b *bench) replay(block *point.Block) {
	points := b.of(block)
	for i, at := range block.Point {
		points[at].Judge(block.Time[i], block.Value(i), block.Quality[i])
	}
}

func (b *bench) judgeBlock(block *point.Block, said judge.Findings, shared bool) {
	v := verdict{Sequence: block.LogSequence}
	points := b.of(block)
	withheld := 0
	for i, at := range block.Point {
		one := said.Combine(points[at].Judge(block.Time[i], block.Value(i), block.Quality[i]), block.LogSequence, i)
		if one.Rule < 0 || shared {
			continue
		}
		rule := b.cfg.Rules[one.Rule].Name
		v.count(rule, &one)
		if !one.Withheld {
			v.mark(i, one.Quality)
			continue
		}
		v.withhold(i)
		withheld++
		kept := aside.Of(&point.Sample{Point: block.Points[at], Time: time.UnixMicro(block.Time[i]), Value: block.Value(i), Quality: block.Quality[i]}, b.cfg.Now(), one.Reason)
		kept.Rule, kept.Log, kept.Sequence = rule, block.Log, block.LogSequence
		b.withheld = append(b.withheld, kept)
	}
	if v.Rules != nil || !b.panel.Empty() { // the verdicts of functions are not found again
		b.fresh = append(b.fresh, v)
	}
}

// keep writes what is withheld, and then the verdicts. Without room for what is withheld it is only counted: who can produce many readings that rules
// withhold must not be able to stop the others.
func (b *bench) keep() error {
	if len(b.withheld) > 0 {
		b.change.Lock()
		fits, err := b.kept.Keep(b.withheld)
		if err == nil {
			err = b.recount()
		}
		b.change.Unlock()
		if err != nil {
			return err
		}
		for i := range b.fresh {
			if v := &b.fresh[i]; !fits {
				v.Unkept = v.withheld()
			}
		}
	}
	if len(b.fresh) == 0 {
		return nil
	}
	for i := range b.fresh {
		b.found.add(&b.fresh[i])
	}
	return b.verdicts.append(b.fresh)
}

// publish lets blocks be read that are judged.
func (b *bench) publish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.judged, b.Log.found, b.err = max(b.judged, b.sequence), b.found.clone(), nil
	b.turn()
}

func (v *verdict) withheld() (n uint64) {
	for i := 1; i < len(v.Withheld); i += 2 {
		n += uint64(v.Withheld[i])
	}
	return n
}

func (f *found) add(v *verdict) {
	f.Withheld += v.withheld()
	f.Unkept += v.Unkept
	for rule, n := range v.Rules {
		if f.Rules == nil {
			f.Rules = map[string]judge.Counts{}
		}
		c := f.Rules[rule]
		c.Plus(n)
		f.Rules[rule] = c
	}
}

func (f *found) clone() found {
	out := *f
	out.Rules = maps.Clone(f.Rules)
	return out
}

// save writes what rules remember, and forgets verdicts on blocks that the log no longer has.
func (b *bench) save(ctx context.Context) error {
	first, _, err := b.Bounds(ctx)
	if err != nil {
		return err
	}
	if err := b.verdicts.keep(first, math.MaxUint64); err != nil && !os.IsNotExist(err) {
		return err
	}
	b.last = b.cfg.Now()
	return b.writeState(&recollection{Log: b.ID(), Sequence: b.sequence, Memory: b.judge.Memory(), Found: b.found.clone()})
}
