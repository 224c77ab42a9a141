package metering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter/recovery"
	"voltbus/meter/ruleset"
	"voltbus/meter/store"
	"voltbus/operation"
)

// ToRecover requests the missing readings of past days.
type ToRecover struct {
	From  string `json:"from" api:"max=10" doc:"The first local day, such as 2026-03-01; if left out, the day metering.give_up ago"`
	To    string `json:"to" api:"max=10" doc:"The last local day; if left out, the last one that has ended"`
	After string `json:"after" api:"max=128" doc:"The value of next of the page before"`
	Limit int    `json:"limit" api:"min=1,max=10000,default=100" doc:"The most gaps in the list"`
}

// Gaps are missing readings in the order in which they should be recovered.
type Gaps struct {
	From      string      `json:"from" doc:"The first local day"`
	To        string      `json:"to" doc:"The last local day"`
	Gaps      uint64      `json:"gaps" doc:"Of all pages: channels that lack something of a day, once for each day"`
	Intervals uint64      `json:"intervals" doc:"Of all pages"`
	List      []ToReceive `json:"list" doc:"By priority, then by age with the oldest first"`
	Next      string      `json:"next,omitempty" doc:"Where the next page begins; left out if there is none"`

	Cluster *answer.MeterAnswered `json:"cluster,omitempty" doc:"Which members of the cluster answered"`
}

// ToReceive is a channel with missing readings of a day.
type ToReceive struct {
	Meter     string    `json:"meter"`
	Channel   int       `json:"channel"`
	Day       string    `json:"day"`
	Intervals int       `json:"intervals" doc:"Without a reading"`
	First     time.Time `json:"first" doc:"The end of the first of them"`
	Age       float64   `json:"age" doc:"Seconds since then"`
	Priority  int       `json:"priority" doc:"Of the group of meters in metering/rules: 1 comes first, 9 last"`
}

// Recovery is the operation that lists what should be recovered.
var Recovery = operation.Declare[ToRecover, Gaps](operation.Spec{
	Name: "meter.recovery", ID: "listReadingsToRecover", HTTP: "GET /metering/recovery", Role: identity.Viewer, Waits: true, Wait: 2 * time.Minute,
	Summary: "List missing readings of ended days by priority and age", Result: "Counts of all, and a page of the list",
})

const (
	mostDays  = 92      // of a list
	recallOne = 500_000 // channels in one request
)

func listGaps(ctx context.Context, p *Part, in *ToRecover) (Gaps, error) {
	const op = "meter.recovery"
	from, to, err := daysOf(p, op, in)
	if err != nil {
		return Gaps{}, err
	}
	var after *recovery.Place
	if in.After != "" {
		place, err := recovery.ParsePlace(in.After)
		if err != nil {
			return Gaps{}, invalid(op, "after", err)
		}
		after = &place
	}
	sets, err := p.Validator.Sets(ctx)
	if err != nil {
		return Gaps{}, err
	}
	list := recovery.NewList(after, in.Limit)
	for d := from; d <= to; d++ {
		err := addGaps(ctx, p, d, func(one *store.MissingChannel) error {
			rank, err := priorityOf(ctx, p.Store, one.ChannelKey, sets)
			list.Add(&recovery.Gap{ChannelKey: one.ChannelKey, Day: d, Count: one.Count, First: one.First, Priority: rank})
			return err
		})
		if err != nil {
			return Gaps{}, err
		}
	}
	return gaps(from, to, list, p.Now()), nil
}

func gaps(from, to store.Day, list *recovery.List, now time.Time) Gaps {
	out := Gaps{From: from.String(), To: to.String(), List: []ToReceive{}}
	out.Gaps, out.Intervals = list.Counts()
	page, more := list.Page()
	for i := range page {
		g := &page[i]
		out.List = append(out.List, ToReceive{
			Meter: g.Meter, Channel: g.Channel, Day: g.Day.String(), Intervals: g.Count, First: g.First, Age: g.Age(now).Seconds(), Priority: g.Priority,
		})
	}
	if more {
		out.Next = page[len(page)-1].Place().String()
	}
	return out
}

// span returns the requested days.
func daysOf(p *Part, op string, in *ToRecover) (from, to store.Day, err error) {
	now := p.Now().In(p.Zone)
	ended := store.DayOf(now.Date()) - 1
	from, to = min(store.DayOf(now.Add(-p.GiveUp).Date()), ended), ended
	if in.From != "" {
		if from, err = store.ParseDay(in.From); err != nil {
			return 0, 0, invalid(op, "from", err)
		}
	}
	if in.To != "" {
		if to, err = store.ParseDay(in.To); err != nil {
			return 0, 0, invalid(op, "to", err)
		}
	}
	if in.From == "" {
		from = min(from, to)
	}
	switch {
	case to > ended:
		return 0, 0, invalid(op, "to", fmt.Errorf("%s has not ended: write %s or an earlier day", to, ended))
	case from > to:
		return 0, 0, invalid(op, "from", fmt.Errorf("%s is after %s: write that day or an earlier one", from, to))
	case to-from >= mostDays:
		return 0, 0, invalid(op, "from", fmt.Errorf("%d days: write at most %d", to-from+1, mostDays))
	}
	return from, to, nil
}

// addGaps adds the missing readings of a day.
func addGaps(ctx context.Context, p *Part, d store.Day, add func(*store.MissingChannel) error) error {
	q := store.MissingQuery{Day: d, Limit: recallOne, Brief: true}
	for {
		m, err := p.Store.Missing(ctx, q)
		if err != nil {
			return err
		}
		for i := range m.List {
			if err := add(&m.List[i]); err != nil {
				return err
			}
		}
		if !m.More {
			return nil
		}
		q.After = m.List[len(m.List)-1].Meter
	}
}

// priorityOf returns the priority of a channel's group.
func priorityOf(ctx context.Context, meters store.Registry, key store.ChannelKey, sets *ruleset.Sets) (int, error) {
	if !sets.Ranks() {
		return recovery.Default, nil
	}
	m, err := meters.Meter(ctx, key.Meter)
	if err != nil {
		return 0, err
	}
	for i := range m.Channels {
		if c := &m.Channels[i]; c.Number == key.Channel {
			return sets.Of(key.Meter, m.Commodity, c).Priority, nil
		}
	}
	return 0, fault.E("meter.recovery", fault.NotFound, key.Meter, errNoChannel)
}

var errRecoveryCopies = errors.New("is not listed in a cluster with copies: ask for what is missing of each day instead")

// gapsAll merges the lists of all members: each lists the gaps of its own meters, in the same order.
func gapsAll(ctx context.Context, p *router, c *operation.Call, in *ToRecover) (Gaps, error) {
	if p.Cluster.Copies() > 1 {
		return Gaps{}, fault.E(Recovery.Name, fault.Unavailable, "", errRecoveryCopies)
	}
	list, told, err := inquire(p, c, Recovery).gather(ctx, func(string, []string) *ToRecover { return in })
	if err != nil {
		return Gaps{}, err
	}
	out, more := Gaps{List: []ToReceive{}, Cluster: told}, false
	for i := range list {
		one := &list[i].out
		out.From, out.To = one.From, one.To
		out.Gaps += one.Gaps
		out.Intervals += one.Intervals
		out.List = append(out.List, one.List...)
		more = more || one.Next != ""
	}
	slices.SortFunc(out.List, func(a, b ToReceive) int { return a.place().Compare(b.place()) })
	if len(out.List) > in.Limit {
		out.List, more = out.List[:in.Limit], true
	}
	if more && len(out.List) > 0 {
		out.Next = out.List[len(out.List)-1].place().String()
	}
	return out, nil
}

// place is the position of the channel in the order of all gaps.
func (r *ToReceive) place() recovery.Place {
	return recovery.Place{Priority: r.Priority, First: r.First, Key: store.ChannelKey{Meter: r.Meter, Channel: r.Channel}}
}
