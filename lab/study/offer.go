package study

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
	"voltbus/lab/peers"
)

// taker takes readings and answers when it has them. write is called from many goroutines.
type taker interface {
	// write fails with a refusal if it answered that it does not take them.
	write(ctx context.Context, b *peers.Batch) error
	// found counts what a question finds: all, and all that are not repeats.
	found(ctx context.Context) (rows, distinct uint64, err error)
	process() int // 0 if it works in several
	close() error
}

// refusal is an answer that the readings were not taken.
type refusal struct{ error }

// Unwrap returns what was answered.
func (r *refusal) Unwrap() error { return r.error }

// offerRates offers a rate that doubles until the taker, which is called who, does not keep up.
func offerRates(ctx context.Context, b *experiment.Bench, who string, open func(context.Context, *experiment.Trial) (taker, error)) error {
	most := max(1, b.Int("most-rate"))
	for rate := min(most, max(1, b.Int("first-rate"))); rate <= most; rate *= 2 {
		kept := true
		c := experiment.Case{Name: experiment.Count(rate) + " samples/s offered", X: float64(rate)}
		err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
			w := offer{bench: b, trial: t, who: who, rate: rate, batch: max(1, b.Int("batch")), points: max(1, b.Int("points"))}
			ok, err := w.run(ctx, open)
			kept = kept && ok
			return err
		})
		if err != nil {
			return err
		}
		if !kept {
			b.Note("%s did not keep up with %s samples/s.", who, experiment.Count(rate))
			return nil
		}
	}
	b.Note("%s kept up with every rate that was offered.", who)
	return nil
}

// offer is one trial at one rate. The counts are of readings, from many goroutines.
type offer struct {
	bench               *experiment.Bench
	trial               *experiment.Trial
	who                 string
	rate, batch, points int

	to                   taker
	batches              sync.Pool // of *peers.Batch
	sent, taken, refused atomic.Uint64
}

func (w *offer) run(ctx context.Context, open func(context.Context, *experiment.Trial) (taker, error)) (kept bool, err error) {
	if w.to, err = open(ctx, w.trial); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.to.close()) }()
	meter := machine.NewMeter(w.to.process())
	window := w.bench.Duration("window")
	o, err := load.Run(ctx, load.Plan{
		Rate: float64(w.rate) / float64(w.batch), For: window, Workers: max(1, w.bench.Int("connections")),
		WarmUp: min(w.bench.Duration("warm-up"), window/2),
		Watch: func(m load.Moment) {
			w.trial.Report(experiment.Progress{Rate: m.Rate * float64(w.batch), P50: m.P50.Seconds(), P99: m.P99.Seconds()})
		},
	}, w.send)
	if err != nil {
		return false, err
	}
	if u, err := meter.Usage(); err == nil && w.to.process() != 0 {
		w.trial.Usage("receiver", u)
	}
	// The last body is due before the window ends, so an answer may be there earlier than the window.
	reached := float64(w.taken.Load()) / max(o.Took, window).Seconds()
	w.trial.Value(reached)
	w.trial.Latency(o.Latency)
	w.trial.Generator(o.HeadRoom)
	if o.First != nil {
		w.bench.Note("%s at %s samples/s: %d bodies failed, the first: %.300s", w.who, experiment.Count(w.rate), o.Failed, o.First)
	}
	return o.Failed == 0 && reached >= 0.95*float64(w.rate), w.audit(ctx)
}

// send sends body n. Its readings are numbered from n times the batch.
func (w *offer) send(ctx context.Context, _ int, n int64) error {
	b, ok := w.batches.Get().(*peers.Batch)
	if !ok {
		b = &peers.Batch{}
	}
	defer w.batches.Put(b)
	w.fill(b, n*int64(w.batch))
	w.sent.Add(uint64(w.batch))
	err := w.to.write(ctx, b)
	switch {
	case err == nil:
		w.taken.Add(uint64(w.batch))
	case errors.As(err, new(*refusal)):
		w.refused.Add(uint64(w.batch))
	}
	return err
}

// fill writes readings whose value is their number, a microsecond apart, in the forms that the
// taker reads.
func (w *offer) fill(b *peers.Batch, first int64) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.Lines, b.Rows = b.Lines[:0], b.Rows[:0]
	_, rows := w.to.(rowTaker)
	for number := first; number < first+int64(w.batch); number++ {
		device, after := number%int64(w.points), time.Duration(number)*time.Microsecond
		if rows {
			b.Rows = append(strconv.AppendInt(append(b.Rows, "lab/d"...), device, 10), '\t')
			b.Rows = begin.Add(after).AppendFormat(b.Rows, "2006-01-02T15:04:05.000000Z")
			b.Rows = append(strconv.AppendInt(append(b.Rows, '\t'), number, 10), '\n')
			continue
		}
		b.Lines = strconv.AppendInt(append(b.Lines, "lab,device=d"...), device, 10)
		b.Lines = strconv.AppendInt(append(b.Lines, " value="...), number, 10)
		b.Lines = strconv.AppendInt(append(b.Lines, "i "...), begin.Add(after).UnixNano(), 10)
		b.Lines = append(b.Lines, '\n')
	}
}

// audit counts what the store has.
func (w *offer) audit(ctx context.Context) error {
	rows, distinct, err := w.to.found(ctx)
	if err != nil {
		return err
	}
	b := account.Balance{
		Sent: w.sent.Load(), Acknowledged: w.taken.Load(), Refused: w.refused.Load(), Found: distinct, Repeated: rows - distinct,
	}
	b.Unanswered = b.Sent - b.Acknowledged - b.Refused
	b.Lost = b.Acknowledged - min(b.Acknowledged, b.Found)
	b.Foreign = b.Found - min(b.Found, b.Acknowledged+b.Unanswered)
	w.trial.Account(b)
	return nil
}
