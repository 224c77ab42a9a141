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

// DefaultMemory is how many bytes of memory the samples of descendants may take, for all queries being
// answered at one time. One half is for queries as they come, and the other for those that need more than is
// free: these wait for their turn, and are answered in pieces. Each half holds what one node may return for
// one point.
const DefaultMemory = 320 << 20

// Bounds of all concurrent queries.
const (
	flights  = 64      // pending answers
	decoders = 4       // answers being decoded, of up to maxSamples each
	maxPairs = 200_000 // of a point and a node queried for it, in one query
	allPairs = 2 * maxPairs
	turnTime = 20 * time.Second // longest wait of a query for its turn
)

var errBusy = errors.New("answers as many questions about other nodes as it has memory for; ask again in a moment")

// budget is shared by all queries.
type budget struct {
	half    int64
	first   *semaphore.Weighted // bytes, for queries as they come
	turns   *semaphore.Weighted // bytes, for reserved memory
	pairs   *semaphore.Weighted
	flights *semaphore.Weighted
	decoder *semaphore.Weighted
	held    atomic.Int64 // bytes in memory
	most    atomic.Int64 // maximum of held
	asking  atomic.Int64 // querying goroutines
	asked   atomic.Int64 // maximum of asking
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

// rise adds to a counter, and records the maximum.
func rise(count, most *atomic.Int64, n int64) {
	now := count.Add(n)
	for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
	}
}

// size returns the memory of samples in bytes.
func size(list []point.Sample) int64 {
	return int64(cap(list))*int64(unsafe.Sizeof(point.Sample{})) + int64(textSize(list))
}

// holding is the part of the budget taken by the samples received for one query. Once they are too much it
// takes no more, and the existing ones can be dropped. It is safe for concurrent use.
type holding struct {
	*budget
	mu       sync.Mutex
	reserved int64 // 0: uses free memory
	used     int64
	over     bool
}

// hold returns a holding that uses free memory.
func (b *budget) hold() *holding { return &holding{budget: b} }

// reserve returns a holding of the given number of bytes, when its turn has come.
func (b *budget) reserve(ctx context.Context, n int64) (*holding, error) {
	n = max(1, min(n, b.half))
	if err := b.wait(ctx, b.turns, n); err != nil {
		return nil, err
	}
	return &holding{budget: b, reserved: n}, nil
}

// spare adds to the bytes received a margin for what may additionally come when nodes are queried again.
func spare(n int64) int64 { return n + n/8 + 64<<10 }

// take reserves bytes, and reports whether there was room.
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

// full reports whether more was received than there was room for.
func (h *holding) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// free releases the bytes of unreferenced samples.
func (h *holding) free(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used -= n
	h.held.Add(-n)
	if h.reserved == 0 {
		h.first.Release(n)
	}
}

// end releases everything. It may be called again.
func (h *holding) end() {
	h.free(h.used)
	if h.reserved > 0 {
		h.turns.Release(h.reserved)
		h.reserved = 0
	}
}
