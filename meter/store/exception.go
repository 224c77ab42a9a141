package store

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"voltbus/fault"
)

// defaultExceptions is how many exceptions are listed if nothing else is said.
const defaultExceptions = 100

// Most is how many exceptions are listed.
func (q *ExceptionQuery) Most() int { return cmp.Or(q.Limit, defaultExceptions) }

// NewException returns the exception of a day of a channel.
func NewException(number uint64, c *ChannelDay, noticed time.Time) Exception {
	e := Exception{Number: number, Key: c.Key, Day: c.Day, Noticed: noticed}
	for _, s := range c.Status {
		if s != 0 {
			e.Status |= s
			e.Count++
		}
	}
	return e
}

// SortExceptions orders exceptions: the newest day first, then by number.
func SortExceptions(list []Exception) {
	slices.SortFunc(list, func(a, b Exception) int { return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Number, b.Number)) })
}

// CheckSettle returns why an exception cannot be settled.
func CheckSettle(op string, number uint64, there bool, who, why string) error {
	subject := strconv.FormatUint(number, 10)
	switch {
	case !there:
		return fault.E(op, fault.NotFound, subject, errors.New("no exception waits with this number: list them anew"))
	case who == "" || why == "":
		return fault.E(op, fault.Invalid, subject, errors.New("give who settles it, and why"))
	}
	return nil
}
