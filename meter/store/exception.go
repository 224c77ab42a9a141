package store

import (
	"cmp"
	"errors"
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
