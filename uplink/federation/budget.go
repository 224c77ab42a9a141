package federation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"voltbus/fault"
	"voltbus/point"
)

// DefaultMemory is how many bytes the samples of descendants take in memory, of all questions that are
// answered at one time. A half of it is for questions as they come, and the other half for those that need
// more than is free of it: they wait for their turn, and are answered in pieces. Half holds what one node
// may give of one point.
const DefaultMemory = 320 << 20

// Bounds of all questions at one time.
const (
	flights  = 64      // answers that are waited for
	decoders = 4       // answers that are decoded, of up to maxSamples each
	maxPairs = 200_000 // of a point and a node that is asked for it, in one question
	allPairs = 2 * maxPairs
	turnTime = 20 * time.Second // that a question waits for its turn
)

var errBusy = errors.New("answers as many questions about other nodes as it has memory for; ask again in a moment")

// budget is what all questions share.
type budget struct {
	half    int64
	first   *semaphore.Weighted // bytes, for what comes
	turns   *semaphore.Weighted // bytes, for what was reserved
	pairs   *semaphore.Weighted
	flights *semaphore.Weighted
	decoder *semaphore.Weighted
	held    atomic.Int64 // bytes that are in memory
	most    atomic.Int64 // that were at once
	asking  atomic.Int64 // goroutines that ask
	asked   atomic.Int64 // that did at once
}

func newBudget(memory int64) *budget {
	if memory == 0 {
		memory = DefaultMemory
	}
	half := memory / 2
	return &budget{
		half: half, first: semaphore.NewWeighted(half), turns: semaphore.NewWeighted(half), pairs: semaphore.NewWeighted(allPairs),
		flights: semaphore.NewWeighted(flights), decoder: semaphore.NewWeighted(decoders),
	}
}

// wait waits for a turn. It fails with fault.Unavailable if that takes too long.
func (b *budget) wait(ctx context.Context, of *semaphore.Weighted, n int64) error {
	own, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	err := of.Acquire(own, n)
	if err != nil && ctx.Err() == nil {
		return fault.E("federation.Ask", fault.Unavailable, "this node", errBusy)
	}
	return err
}

// rise counts up, and notes the most.
func rise(count, most *atomic.Int64, n int64) {
	now := count.Add(n)
	for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
	}
}

// size returns how many bytes samples take in memory.
func size(list []point.Sample) int64 {
	return int64(cap(list))*int64(unsafe.Sizeof(point.Sample{})) + int64(textSize(list))
}

// holding is what the samples that came for one question take of the budget. Once they are too much it
// takes no more, and what there is can be forgotten. It is safe for concurrent use.
type holding struct {
	*budget
	mu       sync.Mutex
	reserved int64 // 0: it takes what is free
	used     int64
	over     bool
}

// hold returns a holding that takes what is free.
func (b *budget) hold() *holding { return &holding{budget: b} }

// reserve returns a holding of so many bytes, when it is their turn.
func (b *budget) reserve(ctx context.Context, n int64) (*holding, error) {
	n = max(1, min(n, b.half))
	if err := b.wait(ctx, b.turns, n); err != nil {
		return nil, err
	}
	return &holding{budget: b, reserved: n}, nil
}

// spare adds to bytes that came what may come more when nodes are asked again.
func spare(n int64) int64 { return n + n/8 + 64<<10 }

// take reports whether there is room for so many bytes.
func (h *holding) take(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.over:
	case h.reserved > 0:
		h.over = h.used+n > h.reserved
	default:
		h.over = !h.first.TryAcquire(n)
	}
	if !h.over {
		h.used += n
	}
	return !h.over
}

// full reports whether more came than there was room for.
func (h *holding) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// free gives back bytes that were taken, of samples that nothing leads to any more.
func (h *holding) free(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used -= n
	h.held.Add(-n)
	if h.reserved == 0 {
		h.first.Release(n)
	}
}

// end gives back all. It may be called again.
func (h *holding) end() {
	h.free(h.used)
	if h.reserved > 0 {
		h.turns.Release(h.reserved)
		h.reserved = 0
	}
}
