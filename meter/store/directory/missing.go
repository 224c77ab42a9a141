package directory

import (
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

// Missing answers a query for what is missing of a day; has reports whether the interval with a number and an end of a
// channel has a raw reading, and must not call the directory.
func (d *Directory) Missing(q store.MissingQuery, has func(channel uint32, place int, end int64) bool) (store.Missing, error) {
	return missing(d, q, has, func(channel uint32, ends []int64) (n int) {
		for i, end := range ends {
			if has(channel, i, end) {
				n++
			}
		}
		return n
	})
}

// Marks are intervals that have a raw reading.
type Marks interface {
	Has(channel uint32, place int) bool
	// Count returns how many of a channel have one.
	Count(channel uint32) int
}

// MissingOf answers as Missing does, for who can count faster than one by one: most channels lack nothing, or are not on the page.
func MissingOf(d *Directory, q store.MissingQuery, m Marks) (store.Missing, error) {
	return missing(d, q, func(channel uint32, place int, _ int64) bool { return m.Has(channel, place) },
		func(channel uint32, _ []int64) int { return m.Count(channel) })
}

func missing(d *Directory, q store.MissingQuery, has func(channel uint32, place int, end int64) bool, received func(channel uint32, ends []int64) int) (store.Missing, error) {
	var out store.Missing
	behind := uint32(0)
	if q.After != "" {
		n, ok := d.Number(q.After)
		if !ok {
			return out, fault.E("meter.Missing", fault.NotFound, q.After, errAfter)
		}
		behind = n + 1
	}
	grids := map[time.Duration][]int64{}
	var found []pending
	last, listedEnds := uint32(0), 0
	d.Expected(q.Day, 0, meantOf(d, q.Meant, func(number, channel uint32, c *meter.Channel) bool {
		ends, ok := grids[c.Interval]
		if !ok {
			ends = d.calendar.Ends(nil, q.Day, c.Interval)
			grids[c.Interval] = ends
		}
		full := len(found) >= q.Limit || listedEnds >= mostEnds
		listed := number >= behind && (!full || len(found) > 0 && number == last) // a page ends between meters
		count := len(ends) - received(channel, ends)
		out.Expected += uint64(len(ends))
		out.Received += uint64(len(ends) - count)
		switch {
		case count == 0:
			return true
		case listed:
			most := count
			if q.Brief {
				most = 1
			}
			list := lacking(ends, most, func(place int, end int64) bool { return has(channel, place, end) })
			one := pending{channel: channel, first: list[0], count: count}
			if !q.Brief {
				one.ends = list
			}
			found = append(found, one)
			last, listedEnds = number, listedEnds+len(one.ends)
		case number >= behind:
			out.More = true
		}
		out.Channels++
		return true
	}))
	for _, p := range found {
		key, _ := d.Key(p.channel)
		out.List = append(out.List, store.MissingChannel{ChannelKey: key, First: p.first, Count: p.count, Ends: p.ends})
	}
	return out, nil
}

// meantOf returns what calls do with the channels of the meters that are asked for, nil for all, and is given all of them, one meter after another.
func meantOf(d *Directory, of func(meter string) bool, do func(number, channel uint32, c *meter.Channel) bool) func(number, channel uint32, c *meter.Channel) bool {
	if of == nil {
		return do
	}
	last, is := ^uint32(0), false
	return func(number, channel uint32, c *meter.Channel) bool {
		if number != last {
			last, is = number, of(d.names.text(number))
		}
		return !is || do(number, channel, c)
	}
}

// mostEnds is how many ends of intervals a page has, whatever its limit: after them it ends with its meter.
const mostEnds = 200_000

type pending struct {
	channel uint32
	first   time.Time
	count   int
	ends    []time.Time
}

// lacking returns the ends of the intervals, so many, that do not have a raw reading.
func lacking(ends []int64, count int, has func(place int, end int64) bool) []time.Time {
	out := make([]time.Time, 0, count)
	for i, end := range ends {
		if len(out) == count {
			break
		}
		if !has(i, end) {
			out = append(out, time.UnixMicro(end).UTC())
		}
	}
	return out
}
