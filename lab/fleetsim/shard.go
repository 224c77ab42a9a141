package fleetsim

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"voltbus/lab/load"
)

// shard keeps the time of some devices, and counts what they do. One goroutine runs it.
type shard struct {
	p    *process
	wake chan struct{}
	hand sync.Mutex // held from taking an event to giving it to its device

	mu       sync.Mutex
	rand     *rand.Rand
	events   events
	look     Look
	response *load.Histogram
	delivery *load.Histogram
	posts    *load.Histogram
}

// event is a message of a device that is due.
type event struct {
	due    time.Time
	to     wanter
	octets int
	every  time.Duration // 0 for once
}

// wanter is a device.
type wanter interface{ want(wish) }

// events is a heap by due time.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].due.Before(e[j].due) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *events) Push(x any) { *e = append(*e, x.(event)) } //nolint:forcetypeassert // the heap is of them

// Pop implements heap.Interface.
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}

func newShard(p *process, seed uint64) *shard {
	s := &shard{p: p, wake: make(chan struct{}, 1), rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // jitter
	s.reset()
	return s
}

func (s *shard) reset() {
	s.look = Look{}
	s.response, s.delivery, s.posts = load.NewHistogram(), load.NewHistogram(), load.NewHistogram()
}

// take adds what the shard counted to a look, and begins anew.
func (s *shard) take(l *Look) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look.Response, s.look.Delivery, s.look.Posts = s.response.Bars(), s.delivery.Bars(), s.posts.Bars()
	l.add(&s.look)
	s.reset()
}

// begin plans the messages of a device, each profile at a time of its period that is drawn by lot.
func (s *shard) begin(d wanter, profiles []Profile) {
	s.mu.Lock()
	now := time.Now()
	for _, p := range profiles {
		due := now.Add(time.Duration(s.rand.Int64N(int64(p.Every))))
		heap.Push(&s.events, event{due, d, p.Octets, p.Every})
	}
	s.mu.Unlock()
	s.kick()
}

func (s *shard) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stop forgets what is planned. When it returns, no device is given more.
func (s *shard) stop() {
	s.hand.Lock()
	defer s.hand.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = nil
}

// idle is how long a shard without plans sleeps.
const idle = time.Minute

// run has devices send what is due until ctx ends.
func (s *shard) run(ctx context.Context) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		wait := s.give(time.Now())
		if wait == 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
	}
}

// give gives the event that is due to its device, or says how long there is none.
func (s *shard) give(now time.Time) time.Duration {
	s.hand.Lock()
	defer s.hand.Unlock()
	e, wait := s.next(now)
	if e.to != nil {
		e.to.want(wish{e.due, e.octets})
	}
	return wait
}

// next takes the event that is due, or says how long there is none.
func (s *shard) next(now time.Time) (event, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		return event{}, idle
	}
	e := s.events[0]
	if wait := e.due.Sub(now); wait > 0 {
		return event{}, wait
	}
	if e.every == 0 {
		heap.Pop(&s.events)
	} else {
		s.events[0].due = e.due.Add(e.every)
		heap.Fix(&s.events, 0)
	}
	return e, 0
}

// tolerated is how late the simulator may be.
const tolerated = 5 * time.Millisecond

// due counts a message that is due. held says that the device could not send it at once.
func (s *shard) due(at time.Time, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &s.look.HeadRoom
	h.Due++
	h.Sent++
	if held {
		h.Waited++
		return
	}
	late := time.Since(at)
	h.MostLag = max(h.MostLag, late.Seconds())
	if late > tolerated {
		h.Late++
	}
}

func (s *shard) skipped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look.Skipped++
}

func (s *shard) sent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look.Published++
}

func (s *shard) answered(due time.Time, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused {
		s.look.Refused++
		return
	}
	s.look.Answered++
	s.response.Add(time.Since(due))
}

// posted counts an answer over HTTP.
func (s *shard) posted(due time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok {
		s.look.Refused++
		return
	}
	s.look.Answered++
	s.posts.Add(time.Since(due))
}

func (s *shard) received(due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look.Received++
	s.delivery.Add(time.Since(due))
}

// jitter is a random part of a time.
func (s *shard) jitter(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.rand.Int64N(int64(d)))
}
