package account

import "sync"

// Ledger notes the fate of every sample of several writers. A writer numbers its samples from 0. Its
// methods are safe for concurrent use.
type Ledger struct {
	mu         sync.Mutex
	writers    map[int]*writer
	interrupts uint64
}

// writer holds the fate of one writer's samples.
type writer struct {
	fate []fate
	last int64 // the highest number that a query returned so far; -1 before
}

// fate is a set of bits.
type fate uint8

const (
	sent fate = 1 << iota
	acknowledged
	refused
	found
)

// counts are what Seen counts and no bit can hold.
type counts struct{ repeated, reordered, foreign uint64 }

// NewBook returns an empty book.
func NewBook() *Ledger { return &Ledger{writers: map[int]*writer{}} }

// Sent notes that the writer is about to send samples first to first+n-1.
func (b *Ledger) Sent(w int, first int64, n int) { b.mark(w, first, n, sent) }

// Acknowledged notes that the receiver answered that it has them.
func (b *Ledger) Acknowledged(w int, first int64, n int) { b.mark(w, first, n, acknowledged) }

// Refused notes that the receiver answered that it does not have them.
func (b *Ledger) Refused(w int, first int64, n int) { b.mark(w, first, n, refused) }

// Interrupted notes that the receiver was killed or cut off.
func (b *Ledger) Interrupted() {
	b.mu.Lock()
	b.interrupts++
	b.mu.Unlock()
}

func (b *Ledger) mark(w int, first int64, n int, f fate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wr := b.writers[w]
	if wr == nil {
		wr = &writer{}
		b.writers[w] = wr
	}
	if more := int(first) + n - len(wr.fate); more > 0 {
		wr.fate = append(wr.fate, make([]fate, more)...)
	}
	for i := range n {
		wr.fate[int(first)+i] |= f
	}
}

// Audit compares the book with what queries return. One goroutine uses it.
type Audit struct {
	book   *Ledger
	counts counts
}

// Audit begins a comparison; what an earlier one found is forgotten.
func (b *Ledger) Audit() *Audit {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.writers {
		w.last = -1
		for i := range w.fate {
			w.fate[i] &^= found
		}
	}
	return &Audit{book: b}
}

// Row notes one row of an answer, in the order in which the receiver says that they were written.
func (a *Audit) Row(w int, number int64) {
	a.book.mu.Lock()
	defer a.book.mu.Unlock()
	wr := a.book.writers[w]
	if wr == nil || number < 0 || number >= int64(len(wr.fate)) || wr.fate[number]&sent == 0 {
		a.counts.foreign++
		return
	}
	f := &wr.fate[number]
	switch {
	case *f&found != 0:
		a.counts.repeated++
	case *f&refused != 0:
		a.counts.foreign++
	case number < wr.last:
		a.counts.reordered++
	}
	*f |= found
	wr.last = max(wr.last, number)
}

// Balance closes the account.
func (a *Audit) Balance() Balance {
	b := a.book
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Balance{
		Interrupt: b.interrupts, Repeated: a.counts.repeated, Reordered: a.counts.reordered, Foreign: a.counts.foreign,
	}
	for _, w := range b.writers {
		for _, f := range w.fate {
			out.count(f)
		}
	}
	return out
}

func (b *Balance) count(f fate) {
	if f&found != 0 {
		b.Found++
	}
	if f&sent == 0 {
		return // numbers that a writer left out
	}
	b.Sent++
	switch {
	case f&acknowledged != 0:
		b.Acknowledged++
		if f&found == 0 {
			b.Lost++
		}
	case f&refused != 0:
		b.Refused++
	default:
		b.Unanswered++
	}
}
