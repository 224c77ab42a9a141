package register

import (
	"sync/atomic"

	"voltbus/internal/column"
)

// sequence remembers for each number the one last looked up after it, which is the next number until another is
// recorded. Pages of numbers followed by the next one take no memory. The methods other than grow are safe for
// concurrent use.
type sequence struct {
	pages []atomic.Pointer[sequencePage]
}

type sequencePage [column.PageRows]atomic.Uint32 // the number plus one; 0 is the next one

// grow makes room for so many numbers.
func (s *sequence) grow(numbers int) {
	if pages := (numbers + column.PageRows - 1) / column.PageRows; pages > len(s.pages) {
		s.pages = append(s.pages, make([]atomic.Pointer[sequencePage], pages-len(s.pages))...)
	}
}

// behind returns the number last looked up after one.
func (s *sequence) behind(number uint32) uint32 {
	if page := s.pages[number/column.PageRows].Load(); page != nil {
		if next := page[number%column.PageRows].Load(); next != 0 {
			return next - 1
		}
	}
	return number + 1
}

// note records the number looked up after a number.
func (s *sequence) note(number, next uint32) {
	at := &s.pages[number/column.PageRows]
	page := at.Load()
	if page == nil {
		page = new(sequencePage)
		if !at.CompareAndSwap(nil, page) {
			page = at.Load()
		}
	}
	page[number%column.PageRows].Store(next + 1)
}
