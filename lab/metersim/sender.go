package metersim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/lab/load"
)

// sender is a fleet that runs.
type sender struct {
	fleet   *Fleet
	form    form
	targets []*target // one a token
	start   time.Time
	next    []atomic.Int64 // of an open rhythm: the next reading of each member

	mu      sync.Mutex
	out     Outcome
	latency *load.Histogram
	head    load.HeadRoom
	stretch float64 // sum over members
	last    time.Time

	counted     uint64 // readings and requests that were answered after the warm-up
	asked       uint64
	first, done time.Time // the warm-up's end, and the last answer that counts
}

// member sends the requests of one member, or in an open rhythm of any, one at a time. One goroutine uses it.
type member struct {
	s        *sender
	line     line
	readings []reading
	body     []byte
	packed   packed
	latency  *load.Histogram
	head     load.HeadRoom
}

func (s *sender) newMember(number int) *member {
	return &member{s: s, line: line{to: s.targets[number%len(s.targets)]}, readings: make([]reading, s.fleet.Batch), latency: load.NewHistogram()}
}

var errUsedUp = errors.New("the simulated meters have no intervals left: give it more meters")

// send builds a request of readings from n on and sends it. It is due at the moment given.
func (m *member) send(ctx context.Context, number int, n int64, due time.Time) error {
	f := m.s.fleet
	if (n+int64(f.Batch)-1)/int64(f.Meters) >= int64(f.Slots) {
		return errUsedUp
	}
	begun := time.Now()
	payload := 0
	for i := range m.readings {
		r := &m.readings[i]
		r.fill(f, f.First+number*f.Meters, n+int64(i))
		payload += r.payload()
	}
	m.body = m.s.form.write(m.body[:0], m.readings)
	body := m.body
	if f.Gzip {
		var err error
		if body, err = m.packed.pack(m.body); err != nil {
			return err
		}
	}
	built := time.Now()
	status, answer, err := m.line.post(ctx, body)
	end := time.Now()
	taken := 0
	if err == nil {
		var ok bool
		if taken, ok = accepted(answer); status != 200 || !ok {
			taken, err = 0, fmt.Errorf("status %d: %.300s", status, answer)
		} else if taken < f.Batch {
			err = fmt.Errorf("%d of %d readings were refused: %.300s", f.Batch-taken, f.Batch, answer)
		}
	}
	head := len(m.line.to.head) + len("\r\n\r\n") + 4
	m.s.note(&request{taken: taken, payload: payload, bytes: head + len(body), plain: head + len(m.body), reached: n + int64(f.Batch), building: built.Sub(begun), end: end, err: err, answered: status != 0})
	if end.Sub(m.s.start) >= f.WarmUp {
		m.latency.Add(end.Sub(due))
	}
	return nil
}

// request is one that was sent.
type request struct {
	taken, payload, bytes, plain int
	building                     time.Duration
	reached                      int64
	end                          time.Time
	err                          error
	answered                     bool
}

func (s *sender) note(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.out
	o.Requests++
	o.Reached = max(o.Reached, r.reached)
	o.Sent += uint64(s.fleet.Batch)
	o.Accepted += uint64(r.taken)
	o.Bytes, o.Plain, o.Payload = o.Bytes+uint64(r.bytes), o.Plain+uint64(r.plain), o.Payload+uint64(r.payload)
	o.Building += r.building.Seconds()
	if r.err != nil {
		if r.answered {
			o.Refused += uint64(s.fleet.Batch - r.taken)
		}
		if r.taken == 0 {
			o.Failed++
		}
		if o.First == "" {
			o.First = r.err.Error()
		}
	}
	if r.end.After(s.last) {
		s.last = r.end
	}
	if since := r.end.Sub(s.start); since < s.fleet.WarmUp || since > s.fleet.For {
		return
	}
	if s.first.IsZero() { // what was answered first ends the warm-up; it does not count
		s.first, s.done = r.end, r.end
		if s.fleet.WarmUp > 0 {
			return
		}
		s.first = s.start
	}
	s.counted += uint64(r.taken)
	s.asked++
	s.done = r.end
}

// members runs the members of a closed or serial rhythm.
func (s *sender) members(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range s.fleet.Members {
		wg.Go(func() {
			m := s.newMember(i)
			defer m.line.close()
			m.cycle(ctx, i)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.latency = merged(s.latency, m.latency)
			s.head.Add(m.head)
		})
	}
	wg.Wait()
}

func merged(to, from *load.Histogram) *load.Histogram {
	if to == nil {
		return from
	}
	to.Merge(from)
	return to
}

// cycle is the life of a member.
func (m *member) cycle(ctx context.Context, number int) {
	f, n := m.s.fleet, m.s.fleet.Skip
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	begun := m.s.start.Add(f.Period * time.Duration(number) / time.Duration(f.Members))
	due, end := begun, m.s.start.Add(f.For)
	cycles := 0
	for ; (f.Requests == 0 || cycles < f.Requests) && due.Before(end); cycles++ {
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
		if f.Period > 0 {
			m.lag(due, free)
		}
		if err := m.send(ctx, number, n, due); err != nil {
			m.s.fail(err)
			return
		}
		n += int64(f.Batch)
		now := time.Now()
		if due = due.Add(f.Period); f.Rhythm == Closed || f.Period == 0 {
			due = now.Add(f.Period)
		} else if now.After(end) && due.Before(end) { // a backlog is not worked off after the end
			cycles++
			break
		}
	}
	if f.Period > 0 && cycles > 0 {
		took := max(time.Since(begun), due.Sub(begun))
		m.s.stretched(took.Seconds() / (float64(cycles) * f.Period.Seconds()))
	}
}

// lag notes how late a request is sent by the fault of the simulator, or because the answer before was late.
func (m *member) lag(due, free time.Time) {
	const tolerated = 5 * time.Millisecond
	m.head.Due++
	m.head.Sent++
	if free.After(due) {
		if free.Sub(due) > tolerated {
			m.head.Waited++
		}
		return
	}
	late := time.Since(due)
	m.head.MostLag = max(m.head.MostLag, late.Seconds())
	if late > tolerated {
		m.head.Late++
	}
}

func (s *sender) stretched(by float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stretch += by
}

func (s *sender) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out.Error == "" {
		s.out.Error = err.Error()
	}
}

// open runs the members of an open rhythm.
func (s *sender) open(ctx context.Context) error {
	f := s.fleet
	s.next = make([]atomic.Int64, f.Members)
	workers := make([]*member, mostInFlight)
	for i := range workers {
		workers[i] = s.newMember(i)
		defer workers[i].line.close()
	}
	rate := float64(f.Members) / f.Period.Seconds()
	time0 := time.Now()
	o, err := load.Run(ctx, load.Plan{Rate: rate, For: f.For, WarmUp: f.WarmUp, Workers: len(workers)}, func(ctx context.Context, worker int, n int64) error {
		number := int(n % int64(f.Members))
		due := time0.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		return workers[worker].send(ctx, number, f.Skip+s.next[number].Add(int64(f.Batch))-int64(f.Batch), due)
	})
	if err != nil {
		return err
	}
	if o.First != nil {
		return o.First
	}
	s.latency, s.head = o.Latency, o.HeadRoom
	return nil
}

// watch tells how it goes.
func (s *sender) watch(stop <-chan struct{}, tell func(said)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before, last := uint64(0), s.start
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			s.mu.Lock()
			sum := s.out.Accepted
			s.mu.Unlock()
			tell(said{Rate: float64(sum-before) / now.Sub(last).Seconds()})
			before, last = sum, now
		}
	}
}

func (s *sender) outcome() *Outcome {
	o := &s.out
	if s.last.After(s.start) {
		o.Took = s.last.Sub(s.start).Seconds()
	}
	if took := s.done.Sub(s.first).Seconds(); took > 0 {
		o.Rate, o.Asked = float64(s.counted)/took, float64(s.asked)/took
	}
	o.Stretch = s.stretch / float64(s.fleet.Members)
	if s.latency != nil {
		o.Latency = s.latency.Bars()
	}
	o.HeadRoom = s.head
	return o
}
