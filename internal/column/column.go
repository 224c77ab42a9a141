// Package column stores one value per number from 0 on, compactly for tables with millions of rows in which neighbours often have equal
// values. A column consists of pages: it grows without copying and with less than a page of spare room, and a page whose rows all have
// the same value takes only the memory of that value.
package column

// PageRows is the number of rows in a page.
const PageRows = 1 << pageBits

const (
	pageBits = 8
	pageMask = PageRows - 1
)

// Column is a column of values, which should hold no pointers. The zero Column is empty. Reads may be concurrent
// with each other, but not with Append, Grow and Set.
type Column[T comparable] struct {
	pages []page[T]
	rows  int
}

type page[T comparable] struct {
	rows *[PageRows]T // nil if all rows are the same
	same T            // their common value in that case
}

// Len returns the number of rows.
func (c *Column[T]) Len() int { return c.rows }

// At returns the value of an existing row.
func (c *Column[T]) At(row uint32) T {
	p := &c.pages[row>>pageBits]
	if p.rows == nil {
		return p.same
	}
	return p.rows[row&pageMask]
}

// Set sets the value of an existing row.
func (c *Column[T]) Set(row uint32, v T) {
	p := &c.pages[row>>pageBits]
	if p.rows == nil {
		if p.same == v {
			return
		}
		p.spread()
	}
	p.rows[row&pageMask] = v
	if row&pageMask == pageMask {
		p.gather() // rows are mostly set in sequence: this was the last one of the page
	}
}

// spread allocates a value for each row.
func (p *page[T]) spread() {
	p.rows = new([PageRows]T)
	for i := range p.rows {
		p.rows[i] = p.same
	}
}

// gather frees the values if all rows are the same.
func (p *page[T]) gather() {
	first := p.rows[0]
	for _, v := range p.rows[1:] {
		if v != first {
			return
		}
	}
	p.rows, p.same = nil, first
}

// Append adds a row.
func (c *Column[T]) Append(v T) {
	row := uint32(c.rows)
	c.rows++
	if row&pageMask == 0 {
		c.pages = append(c.pages, page[T]{same: v})
		return
	}
	c.Set(row, v)
}

// Grow adds rows with the zero value until there are n.
func (c *Column[T]) Grow(rows int) {
	var zero T
	for c.rows < rows {
		if c.rows&pageMask != 0 {
			c.Append(zero)
			continue
		}
		c.pages = append(c.pages, page[T]{})
		c.rows = min(rows, c.rows+PageRows)
	}
}
