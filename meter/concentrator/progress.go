package concentrator

import (
	"maps"
	"time"
)

// Counts says what became of readings.
type Counts struct {
	Sent    uint64 `json:"sent"`    // that a system took
	Refused uint64 `json:"refused"` // that a system refused
	Lost    uint64 `json:"lost"`    // samples of the log that it had dropped before they were sent
}

// Add adds others.
func (c *Counts) Add(o Counts) {
	c.Sent += o.Sent
	c.Refused += o.Refused
	c.Lost += o.Lost
}

// Progress follows bulks that may be answered in another order than they were sent in. The place moves only over what is answered. It
// is not safe for concurrent use.
type Progress struct {
	place  Place
	counts Counts
	ends   map[string]uint64 // samples of each origin, up to the place
	under  []*Ticket
}

// Ticket is a bulk under way.
type Ticket struct {
	end    Place
	oldest time.Time
	passed []Passed
	counts Counts
	done   bool
}

// NewProgress returns a progress from a place on, with what was counted up to it, and how many samples each origin has up to it.
func NewProgress(at Place, counts Counts, ends map[string]uint64) *Progress {
	p := &Progress{place: at, counts: counts, ends: map[string]uint64{}}
	maps.Copy(p.ends, ends)
	return p
}

// Begin notes that a bulk is under way.
func (p *Progress) Begin(b *Bulk) *Ticket {
	t := &Ticket{end: b.End, oldest: b.Oldest, passed: b.Passed}
	p.under = append(p.under, t)
	return t
}

// Skip notes that up to a place there is nothing more to send, and which block ends there, if it holds readings.
func (p *Progress) Skip(end Place, passed []Passed) {
	p.under = append(p.under, &Ticket{end: end, passed: passed, done: true})
	p.settle()
}

// Done notes that a bulk was answered.
func (p *Progress) Done(t *Ticket, c Counts) {
	t.counts, t.done = c, true
	p.settle()
}

func (p *Progress) settle() {
	n := 0
	for n < len(p.under) && p.under[n].done {
		p.place = p.under[n].end
		p.counts.Add(p.under[n].counts)
		for _, b := range p.under[n].passed {
			p.ends[b.Origin] = b.Samples
			p.counts.Lost += b.Lost
		}
		p.under[n] = nil
		n++
	}
	p.under = p.under[n:]
}

// Place returns up to where all is answered, and what was counted up to it.
func (p *Progress) Place() (Place, Counts) { return p.place, p.counts }

// Ends returns how many samples each origin has up to the place.
func (p *Progress) Ends() map[string]uint64 { return maps.Clone(p.ends) }

// Oldest returns when the oldest reading under way was recorded; zero if none is.
func (p *Progress) Oldest() time.Time {
	for _, t := range p.under {
		if !t.done {
			return t.oldest
		}
	}
	return time.Time{}
}
