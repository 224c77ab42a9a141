package destination

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// History is where readings of before come from. See store.Store.
type History interface {
	Cursor(ctx context.Context) (log string, sequence uint64, err error)
	Points(ctx context.Context) ([]point.Path, error)
	Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error
}

// window is the part of the history after which the position is stored.
const window = 24 * time.Hour

// runHistory sends parts of the history, whenever one is to be sent, until ctx ends.
func (t *target) runHistory(ctx context.Context) {
	for {
		for ctx.Err() == nil {
			more, err := t.fillNext(ctx)
			if err != nil && ctx.Err() == nil {
				t.log.WarnContext(ctx, "the history is not sent at present", slog.Any("err", err))
				pause(ctx, longestWait)
			}
			if err == nil && !more {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-t.fill:
		}
	}
}

// fillNext sends the next window of the history; false if there is none.
func (t *target) fillNext(ctx context.Context) (more bool, err error) {
	t.mu.Lock()
	var s span
	if more = t.p.History != nil && t.broken == nil && t.cfg.History != nil; more {
		s = *t.p.History
	}
	t.mu.Unlock()
	if !more {
		return false, nil
	}
	log, sequence, err := t.cfg.History.Cursor(ctx)
	if err != nil {
		return true, err
	}
	if log == s.Log && sequence < s.Sequence { // what was recorded last is not in the history yet
		pause(ctx, time.Second)
		return true, nil
	}
	to := s.Next.Add(window)
	if to.After(s.To) {
		to = s.To
	}
	sent, err := t.fillFrom(ctx, s.Next, to)
	if err != nil {
		return true, err
	}
	return true, t.filled(&s, to, sent)
}

// filled stores how far the history was sent, unless another part was asked for meanwhile.
func (t *target) filled(s *span, to time.Time, sent uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.p
	p.Filled += sent
	if h := p.History; h != nil && *h == *s {
		next := *s
		if p.History, next.Next = &next, to; !to.Before(next.To) {
			p.History = nil
		}
	}
	if err := keepPosition(t.file, &p); err != nil {
		return err
	}
	t.p = p
	return nil
}

func (t *target) fillFrom(ctx context.Context, from, to time.Time) (sent uint64, err error) {
	paths, err := t.cfg.History.Points(ctx)
	if err != nil {
		return 0, err
	}
	t.work.Lock()
	paths = slices.DeleteFunc(paths, func(path point.Path) bool { return t.shaper.shape(path) == nil })
	t.work.Unlock()
	if len(paths) == 0 {
		return 0, nil
	}
	var rows []Row
	pieces := 0
	flush := func() error {
		t.name(rows, from, pieces)
		pieces++
		refused, err := t.sendHistory(ctx, rows)
		sent += uint64(len(rows) - refused)
		rows = rows[:0]
		return err
	}
	err = t.cfg.History.Read(ctx, store.Range{Points: paths, From: from, To: to}, func(list []point.Sample) error {
		t.work.Lock()
		for i := range list {
			if shape := t.shaper.shape(list[i].Point); shape != nil {
				rows = append(rows, Row{Shape: shape, Time: list[i].Time.UnixMicro(), Value: shape.convert(list[i].Value), Quality: list[i].Quality})
			}
		}
		t.work.Unlock()
		if len(rows) < t.Batch*t.Parallel {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return sent, err
}

// name tells the rows of a file which piece of a window they are: the same as when the window was sent before.
func (t *target) name(rows []Row, from time.Time, piece int) {
	if !t.Files {
		return
	}
	part := fmt.Sprintf("history-%s-%06d", from.UTC().Format("20060102T150405Z"), piece)
	for i := range rows {
		rows[i].Part = part
	}
}

func (t *target) sendHistory(ctx context.Context, rows []Row) (refused int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	t.work.Lock()
	defer t.work.Unlock()
	return t.write(ctx, rows)
}

// backfill has a part of the history sent, in addition to what is still to be sent.
func (t *target) backfill(ctx context.Context, from, to time.Time) error {
	const op = "sinks.backfill"
	if t.cfg.History == nil {
		return fault.E(op, fault.Invalid, t.entry.Name, errors.New("this node has no history to send: its store.engine is none"))
	}
	_, last, err := t.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return fault.E(op, fault.Unavailable, t.entry.Name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	if h := t.p.History; h != nil {
		return fault.E(op, fault.Conflict, t.entry.Name, fmt.Errorf("the history from %s to %s is being sent, as far as %s: wait until it is done",
			h.From.Format(time.RFC3339), h.To.Format(time.RFC3339), h.Next.Format(time.RFC3339)))
	}
	p := t.p
	p.History = &span{From: from, To: to, Next: from, Log: t.cfg.Blocks.ID(), Sequence: last}
	if err := keepPosition(t.file, &p); err != nil {
		return err
	}
	t.p = p
	select {
	case t.fill <- struct{}{}:
	default:
	}
	return nil
}
