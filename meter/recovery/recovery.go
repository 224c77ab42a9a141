// Package recovery puts missing readings in the order in which they should be recovered: the priority of the group of meters first, then the age.
// It is pure.
package recovery

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/meter/store"
)

// The priorities, of which the lowest number comes first.
const (
	First   = 1
	Last    = 9
	Default = 5 // of meters that no group gives another
)

// CheckPriority returns what is wrong with a priority.
func CheckPriority(n int) error {
	if n < First || n > Last {
		return fmt.Errorf("priority %d: write %d, which comes first, to %d", n, First, Last)
	}
	return nil
}

// Gap is a channel that lacks readings of a local day.
type Gap struct {
	store.ChannelKey
	Day      store.Day
	Count    int       // intervals without a reading
	First    time.Time // end of the first of them
	Priority int
}

// Age returns how long the first reading has been missing.
func (g *Gap) Age(now time.Time) time.Duration { return now.Sub(g.First) }

// Place returns that of the gap in the order.
func (g *Gap) Place() Place { return Place{Priority: g.Priority, First: g.First, Key: g.ChannelKey} }

// Place is a place in the order of gaps. No two gaps have the same.
type Place struct {
	Priority int
	First    time.Time
	Key      store.ChannelKey
}

// Compare orders by priority, then age with the oldest first, then meter and channel.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Priority, o.Priority), p.First.Compare(o.First), strings.Compare(p.Key.Meter, o.Key.Meter), cmp.Compare(p.Key.Channel, o.Key.Channel))
}

// String writes a place as ParsePlace reads it: priority,first,channel,meter.
func (p Place) String() string {
	return fmt.Sprintf("%d,%s,%d,%s", p.Priority, p.First.UTC().Format(time.RFC3339Nano), p.Key.Channel, p.Key.Meter)
}

var errPlace = errors.New("write the place that the page before ended with, such as 5,2026-03-01T00:15:00Z,1,1EMH0001")

// ParsePlace reads what String writes.
func ParsePlace(text string) (p Place, err error) {
	part := strings.SplitN(text, ",", 4)
	if len(part) < 4 || part[3] == "" {
		return p, fmt.Errorf("%q: %w", text, errPlace)
	}
	var errs [3]error
	p.Priority, errs[0] = strconv.Atoi(part[0])
	p.First, errs[1] = time.Parse(time.RFC3339Nano, part[1])
	p.Key.Channel, errs[2] = strconv.Atoi(part[2])
	p.Key.Meter = part[3]
	if errors.Join(errs[:]...) != nil {
		return Place{}, fmt.Errorf("%q: %w", text, errPlace)
	}
	return p, nil
}

// List keeps the gaps that come first behind a place, and counts all. It is not safe for concurrent use.
type List struct {
	after *Place
	most  int
	kept  worst
	gaps  uint64
	ends  uint64
	more  bool
}

// NewList returns a list of at most so many gaps, 1 or more, behind a place; nil is the beginning.
func NewList(after *Place, most int) *List { return &List{after: after, most: most} }

// Add adds a gap.
func (l *List) Add(g *Gap) {
	l.gaps++
	l.ends += uint64(g.Count)
	place := g.Place()
	if l.after != nil && place.Compare(*l.after) <= 0 {
		return
	}
	if len(l.kept) < l.most {
		heap.Push(&l.kept, *g)
		return
	}
	l.more = true
	if place.Compare(l.kept[0].Place()) < 0 {
		l.kept[0] = *g
		heap.Fix(&l.kept, 0)
	}
}

// Counts returns how many gaps were added, and how many intervals these have.
func (l *List) Counts() (gaps, intervals uint64) { return l.gaps, l.ends }

// Page returns the gaps in order, and whether there are more behind them.
func (l *List) Page() (page []Gap, more bool) {
	page = slices.Clone(l.kept)
	slices.SortFunc(page, func(a, b Gap) int { return a.Place().Compare(b.Place()) })
	return page, l.more
}

// worst is a heap with the gap on top that comes last.
type worst []Gap

func (w worst) Len() int           { return len(w) }
func (w worst) Less(i, j int) bool { return w[i].Place().Compare(w[j].Place()) > 0 }
func (w worst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *worst) Push(x any) { *w = append(*w, x.(Gap)) }

// Pop implements heap.Interface.
func (w *worst) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
