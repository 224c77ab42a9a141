package logbook

import (
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Filter selects records. The zero Filter selects all.
type Filter struct {
	Level slog.Level // minimum level
	Text  string     // in the message or the attributes, case-insensitively
	Since time.Time  // zero for all
	After uint64     // those with a higher number
	// Limit is the maximum number: with After those that follow it, otherwise the newest.
	Limit int
}

// Found is the result of a search.
type Found struct {
	Records []Record // oldest first
	// Last is the number to continue after: that of the last record examined.
	Last uint64
	// Lost counts the records after Filter.After that are no longer kept.
	Lost uint64
}

// Search returns the stored records that the filter selects. news is closed when another record arrives; it
// is already closed if the limit omitted following ones.
func (b *Handler) Search(f *Filter) (found Found, news <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, news := b.records, b.news
	found.Last = b.number
	if f.After > 0 {
		list, found.Lost = b.after(f.After)
	}
	text := strings.ToLower(f.Text)
	if f.After == 0 {
		for i := len(list) - 1; i >= 0 && len(found.Records) < f.Limit; i-- {
			if f.selects(&list[i], text) {
				found.Records = append(found.Records, list[i])
			}
		}
		slices.Reverse(found.Records)
		return found, news
	}
	for i := range list {
		if !f.selects(&list[i], text) {
			continue
		}
		if len(found.Records) == f.Limit {
			found.Last = found.Records[f.Limit-1].Number
			return found, closed()
		}
		found.Records = append(found.Records, list[i])
	}
	return found, news
}

// after returns the records after a number, and how many of them are no longer kept. The caller holds mu.
func (b *Handler) after(number uint64) (list []Record, lost uint64) {
	first := b.number - uint64(len(b.records)) + 1
	switch {
	case number == b.number:
		return nil, 0
	case number > b.number: // from an earlier run of the program, with a clock that was ahead
		return b.records, first - b.begun - 1
	case number+1 >= first:
		return b.records[number+1-first:], 0
	case number < b.begun: // from an earlier run of the program
		return b.records, first - b.begun - 1
	}
	return b.records, first - number - 1
}

func (f *Filter) selects(r *Record, text string) bool {
	if r.Level < f.Level || r.Time.Before(f.Since) {
		return false
	}
	return text == "" || strings.Contains(strings.ToLower(r.Message), text) || strings.Contains(strings.ToLower(string(r.Attrs)), text)
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
