package logbook

import (
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Filter selects records. The zero Filter selects all.
type Filter struct {
	Level slog.Level // least important
	Text  string     // in the message or the attributes, without regard to case
	Since time.Time  // zero for all
	After uint64     // those with a higher number
	// Limit is how many at most: with After those that follow it, else the newest.
	Limit int
}

// Found is what a book says to a filter.
type Found struct {
	Records []Record // oldest first
	// Last is the number to go on after: of the last record that was looked at.
	Last uint64
	// Lost counts the records behind Filter.After that are not kept any more.
	Lost uint64
}

// Search returns what the filter selects of the records that are kept. news is closed when another record
// comes; it is closed already if the limit left some out that follow.
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

// after returns the records behind a number, and how many of them are gone. The caller holds mu.
func (b *Handler) after(number uint64) (list []Record, lost uint64) {
	first := b.number - uint64(len(b.records)) + 1
	switch {
	case number == b.number:
		return nil, 0
	case number > b.number: // of a program that ran before, with a clock that was ahead
		return b.records, first - b.begun - 1
	case number+1 >= first:
		return b.records[number+1-first:], 0
	case number < b.begun: // of a program that ran before
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
