package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/fault"
)

// Plan is a schedule: request n is due at n/Rate seconds after the start, whatever became of the
// others.
type Plan struct {
	Rate    float64       // requests a second, above 0
	For     time.Duration // how long requests are due, above 0, the warm-up included
	WarmUp  time.Duration // requests that are due so early are sent but not measured
	Workers int           // requests that may be under way at once; at least 1
	// Watch is called about once a second, from one goroutine; nil for nobody.
	Watch func(Moment)
}

// Moment is how a load goes now.
type Moment struct {
	Rate     float64       // requests answered a second since the last moment
	P50, P99 time.Duration // of all measured so far
}

// Outcome is what a load found.
type Outcome struct {
	Latency  *Histogram // from the time at which a request was due to its answer
	Service  *Histogram // from the time at which it was sent to its answer
	Failed   uint64     // requests whose call returned an error
	First    error      // the first of these errors
	Sent     uint64
	Took     time.Duration // from the first due time to the last answer
	HeadRoom HeadRoom
}

// HeadRoom says whether the generator kept to its schedule.
type HeadRoom struct {
	Due     uint64  `json:"due"`      // requests by the schedule
	Sent    uint64  `json:"sent"`     // requests that were sent
	Late    uint64  `json:"late"`     // sent more than 1 ms after they were due though a worker was free
	Waited  uint64  `json:"waited"`   // sent late because all workers waited for answers: the receiver's doing
	MostLag float64 `json:"most_lag"` // seconds that a free worker was behind at most
}

// tolerated is how late a request may be sent, and how large the share of later ones may be.
const (
	tolerated      = time.Millisecond
	toleratedShare = 0.01
)

// Add adds the figures of another trial.
func (h *HeadRoom) Add(o HeadRoom) {
	h.Due += o.Due
	h.Sent += o.Sent
	h.Late += o.Late
	h.Waited += o.Waited
	h.MostLag = max(h.MostLag, o.MostLag)
}

// Kept reports whether the generator was not the bottleneck.
func (h *HeadRoom) Kept() bool {
	return h.Sent == h.Due && float64(h.Late) <= toleratedShare*float64(h.Sent)
}

// Words says it in a sentence.
func (h *HeadRoom) Words() string {
	if h.Kept() {
		return fmt.Sprintf("the generator kept to its schedule: %d of %d requests were sent late by its own fault, by %.1f ms at most.",
			h.Late, h.Sent, h.MostLag*1e3)
	}
	return fmt.Sprintf("the generator was too slow: of %d requests due it sent %d, %d of them late by its own fault; the figures are too bad for the receiver.",
		h.Due, h.Sent, h.Late)
}

// Run makes the load: it calls do for each request, from as many goroutines as the plan has
// workers, and returns when all have been answered. do gets the number of its worker and of the
// request. It fails with fault.Invalid for an impossible plan and fault.Canceled when ctx ends.
func Run(ctx context.Context, p Plan, do func(ctx context.Context, worker int, n int64) error) (*Outcome, error) {
	if p.Rate <= 0 || p.For <= 0 || p.Workers < 1 || p.WarmUp < 0 || p.WarmUp >= p.For {
		return nil, fault.E("load.Run", fault.Invalid, "", fmt.Errorf(
			"a plan needs a rate, a time longer than its warm-up, and a worker; it is %+v", p))
	}
	r := &runner{plan: p, do: do, start: time.Now(), due: max(1, int64(p.Rate*p.For.Seconds()))}
	workers := make([]*worker, p.Workers)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = &worker{number: i, latency: NewHistogram(), service: NewHistogram()}
		wg.Go(func() { r.work(ctx, workers[i]) })
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	if p.Watch != nil {
		watching.Go(func() { r.watch(stop, workers) })
	}
	wg.Wait()
	close(stop)
	watching.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fault.E("load.Run", fault.Canceled, "", err)
	}
	return r.outcome(workers), nil
}

type runner struct {
	plan  Plan
	do    func(context.Context, int, int64) error
	start time.Time
	due   int64
	next  atomic.Int64
}

// worker is one request at a time.
type worker struct {
	number int

	mu               sync.Mutex
	latency, service *Histogram
	answered, failed uint64
	first            error
	head             HeadRoom
}

func (r *runner) at(n int64) time.Time {
	return r.start.Add(time.Duration(float64(n) / r.plan.Rate * float64(time.Second)))
}

func (r *runner) work(ctx context.Context, w *worker) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		n := r.next.Add(1) - 1
		if n >= r.due {
			return
		}
		due := r.at(n)
		free := time.Now()
		if wait := due.Sub(free); wait > 0 {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		} else if ctx.Err() != nil {
			return
		}
		c := call{due: due, free: free, begun: time.Now()}
		c.err = r.do(ctx, w.number, n)
		c.end = time.Now()
		w.note(&c, due.Sub(r.start) >= r.plan.WarmUp)
	}
}

// call is one request.
type call struct {
	due   time.Time // by the schedule
	free  time.Time // when a worker was free for it
	begun time.Time
	end   time.Time
	err   error
}

func (w *worker) note(c *call, measured bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered++
	if c.err != nil {
		w.failed++
		if w.first == nil {
			w.first = c.err
		}
	}
	w.head.Sent++
	if c.free.After(c.due) { // every worker was busy when the request was due
		if c.free.Sub(c.due) > tolerated {
			w.head.Waited++
		}
		w.lag(c.begun.Sub(c.free))
	} else {
		w.lag(c.begun.Sub(c.due))
	}
	if measured {
		w.latency.Add(c.end.Sub(c.due))
		w.service.Add(c.end.Sub(c.begun))
	}
}

// lag notes how late the worker was by its own fault.
func (w *worker) lag(d time.Duration) {
	w.head.MostLag = max(w.head.MostLag, d.Seconds())
	if d > tolerated {
		w.head.Late++
	}
}

func (r *runner) watch(stop <-chan struct{}, workers []*worker) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before, last := uint64(0), time.Now()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			sum, all := uint64(0), NewHistogram()
			for _, w := range workers {
				w.mu.Lock()
				sum += w.answered
				all.Merge(w.latency)
				w.mu.Unlock()
			}
			r.plan.Watch(Moment{Rate: float64(sum-before) / now.Sub(last).Seconds(), P50: all.At(50), P99: all.At(99)})
			before, last = sum, now
		}
	}
}

func (r *runner) outcome(workers []*worker) *Outcome {
	o := &Outcome{Latency: NewHistogram(), Service: NewHistogram(), Took: time.Since(r.start)}
	for _, w := range workers {
		o.Latency.Merge(w.latency)
		o.Service.Merge(w.service)
		o.Failed += w.failed
		if o.First == nil {
			o.First = w.first
		}
		o.HeadRoom.Add(w.head)
	}
	o.Sent = o.HeadRoom.Sent
	o.HeadRoom.Due = uint64(r.due)
	return o
}
