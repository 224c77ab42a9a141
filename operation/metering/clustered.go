package metering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/meter"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// router carries out the operations of a node in a cluster.
type router struct{ *Part }

// inCluster returns the operations of a member of a cluster, from those of a single node: operations on one meter go to the member that
// keeps it, and all others to every member. Operations that are left as they are concern this node alone.
func (p *router) inCluster(alone []operation.Bound) []operation.Bound {
	p.local = operation.NewTable(func(ctx context.Context, e operation.Entry) {
		if e.Caller.Member != "" && p.Tell != nil { // what a caller of this node does is audited where it was requested
			p.Tell(ctx, e)
		}
	}, alone, p.among())
	in := map[string]operation.Bound{}
	for _, b := range p.together() {
		in[b.Name] = b
	}
	out := make([]operation.Bound, 0, len(alone)+1)
	for _, b := range alone {
		if other, is := in[b.Name]; is {
			b = other
		}
		out = append(out, b)
	}
	return out
}

// together lists the operations that involve other members.
func (p *router) together() []operation.Bound {
	return []operation.Bound{
		operation.Bind(Register, nil, p.registerSplit), operation.Bind(List, nil, p.listAll), operation.Bind(Get, nil, p.getThere),
		operation.Bind(Readings, mayReadChannel, p.readingsThere), operation.Bind(Missing, nil, p.missingAll), operation.Bind(Exceptions, nil, p.exceptionsAll),
		operation.Bind(Settle, nil, p.settleThere), operation.Bind(EditReading, nil, p.editThere), operation.Bind(Exchange, nil, p.exchangeThere),
		operation.Bind(Validate, nil, p.validateAll), operation.Bind(Bill, nil, p.billAll), operation.Bind(Progress, nil, p.progressAll),
		operation.BindStream(GreenButton, nil, p.greenButtonThere), operation.BindStream(Export, nil, p.exportAll), operation.Bind(ListEvents, nil, p.eventsAll),
		operation.Bind(Recovery, nil, func(ctx context.Context, c *operation.Call, in *ToRecover) (Gaps, error) {
			return gapsAll(ctx, p, c, in)
		}),
	}
}

// registerSplit registers each meter at the members that keep it. A meter that one of them does not register is refused, and can be registered
// again later.
func (p *router) registerSplit(ctx context.Context, c *operation.Call, in *Registration) (answer.MeterRegistered, error) {
	c.Did(strconv.Itoa(len(in.Meters))+" meters", nil)
	share := map[string][]int{} // indices, by member
	for i := range in.Meters {
		for _, name := range p.Cluster.Holders(in.Meters[i].ID) {
			share[name] = append(share[name], i)
		}
	}
	list := inquire(p, c, Register).everybody(ctx, func(member string, _ []string) *Registration {
		part := &Registration{Meters: []answer.MeterEntry{}}
		for _, i := range share[member] {
			part.Meters = append(part.Meters, in.Meters[i])
		}
		return part
	}, without(p.Cluster.Names(), share))
	out := answer.MeterRegistered{Refused: []answer.MeterRefusal{}, Cluster: &answer.MeterAnswered{Complete: true, Members: []answer.MeterAnswerer{}}}
	refused := map[int]string{}
	for i := range list {
		one := &list[i]
		told := answer.MeterAnswerer{Name: one.member, Answered: !one.away}
		switch {
		case one.away:
			told.Error, out.Cluster.Complete = words(one.err), false
			for _, at := range share[one.member] {
				refused[at] = fmt.Sprintf("the member %s of the cluster, which keeps it, does not answer: register it again later", one.member)
			}
		case one.err != nil:
			return answer.MeterRegistered{}, one.err
		}
		out.Cluster.Members = append(out.Cluster.Members, told)
		for _, r := range one.out.Refused {
			refused[share[one.member][r.Index]] = r.Reason
		}
		out.Added, out.Known, out.Adopted = out.Added+one.out.Added, out.Known+one.out.Known, out.Adopted+one.out.Adopted
	}
	copies := p.Cluster.Copies()
	out.Added, out.Known, out.Adopted = out.Added/copies, out.Known/copies, out.Adopted/copies
	for i := range in.Meters {
		if why, is := refused[i]; is {
			out.Refused = append(out.Refused, answer.MeterRefusal{Index: i, Reason: why})
		}
	}
	return out, nil
}

// without lists the members without a share.
func without(names []string, share map[string][]int) (list []string) {
	for _, name := range names {
		if len(share[name]) == 0 {
			list = append(list, name)
		}
	}
	return list
}

// responsible returns which member answers for a meter if some do not respond.
func (p *router) responsible(meter string, without []string) string {
	for _, name := range p.Cluster.Holders(meter) {
		if !slices.Contains(without, name) {
			return name
		}
	}
	return ""
}

// pages says which part of a list that visits one member after another is requested from a member: after the meter after, which another
// member may keep.
func (p *router) pages(after, member string, without []string) (behind string, passed bool) {
	if after == "" {
		return "", false
	}
	names := p.Cluster.Names()
	at := slices.Index(names, cmp.Or(p.responsible(after, without), p.Cluster.Holders(after)[0]))
	switch here := slices.Index(names, member); {
	case here < at:
		return "", true
	case here > at:
		return "", false
	}
	return after, false
}

// listAll visits the members one after another.
func (p *router) listAll(ctx context.Context, c *operation.Call, in *Page) (answer.Meters, error) {
	list, told, err := inquire(p, c, List).gather(ctx, func(member string, without []string) *Page {
		page := *in
		page.After, _ = p.pages(in.After, member, without)
		return &page
	})
	out := answer.Meters{Meters: []answer.MeterEntry{}, Cluster: told}
	for i := range list {
		if _, passed := p.pages(in.After, list[i].member, away(told)); !passed {
			out.Meters = append(out.Meters, list[i].out.Meters...)
		}
	}
	out.Meters = out.Meters[:min(len(out.Meters), in.Limit)]
	return out, err
}

// away lists the members that did not answer.
func away(told *answer.MeterAnswered) (list []string) {
	if told == nil {
		return nil
	}
	for _, m := range told.Members {
		if !m.Answered {
			list = append(list, m.Name)
		}
	}
	return list
}

func (p *router) getThere(ctx context.Context, c *operation.Call, in *ID) (answer.MeterEntry, error) {
	out, _, err := inquire(p, c, Get).fromHolder(ctx, in, in.Meter)
	return out, err
}

func (p *router) readingsThere(ctx context.Context, c *operation.Call, in *Span) (answer.MeterReadings, error) {
	out, told, err := inquire(p, c, Readings).fromHolder(ctx, in, in.Meter)
	out.Cluster = told
	return out, err
}

// missingAll sums up the missing readings, and lists them member by member.
func (p *router) missingAll(ctx context.Context, c *operation.Call, in *Lacking) (answer.MeterMissing, error) {
	list, told, err := inquire(p, c, Missing).gather(ctx, func(member string, without []string) *Lacking {
		page := *in
		page.After, _ = p.pages(in.After, member, without)
		return &page
	})
	out := answer.MeterMissing{Day: in.Day, List: []answer.MeterMissingEntry{}, Cluster: told}
	for i := range list {
		one := &list[i].out
		out.Expected, out.Received, out.Channels = out.Expected+one.Expected, out.Received+one.Received, out.Channels+one.Channels
		if _, passed := p.pages(in.After, list[i].member, away(told)); passed {
			continue
		}
		for k := range one.List {
			if n := len(out.List); n >= in.Limit && out.List[n-1].Meter != one.List[k].Meter { // a page ends between meters
				out.More = true
				break
			}
			out.List = append(out.List, one.List[k])
		}
		out.More = out.More || one.More
	}
	return out, err
}

func (p *router) exceptionsAll(ctx context.Context, c *operation.Call, in *Waiting) (answer.MeterExceptions, error) {
	out := answer.MeterExceptions{Exceptions: []answer.MeterException{}}
	add := func(member string, list []answer.MeterException) {
		for _, e := range list {
			e.Member = member
			out.Exceptions = append(out.Exceptions, e)
		}
	}
	if in.Meter != "" {
		got, told, err := inquire(p, c, Exceptions).fromHolder(ctx, in, in.Meter)
		if err != nil {
			return out, err
		}
		out.Cluster = told
		add(told.Members[len(told.Members)-1].Name, got.Exceptions)
		return out, nil
	}
	list, told, err := inquire(p, c, Exceptions).gather(ctx, func(string, []string) *Waiting { return in })
	if err != nil {
		return out, err
	}
	out.Cluster = told
	for i := range list {
		add(list[i].member, list[i].out.Exceptions)
	}
	slices.SortStableFunc(out.Exceptions, func(a, b answer.MeterException) int { return cmp.Compare(b.Day, a.Day) })
	out.Exceptions = out.Exceptions[:min(len(out.Exceptions), in.Limit)]
	return out, nil
}

func (p *router) settleThere(ctx context.Context, c *operation.Call, in *Settlement) (operation.None, error) {
	const op = "meter.settle"
	c.Did(strconv.Itoa(in.Number), map[string]string{"why": in.Why, "member": in.Member})
	if !slices.Contains(p.Cluster.Names(), in.Member) {
		return operation.None{}, fault.E(op, fault.Invalid, "member", fmt.Errorf("%.64q is no member of the cluster: give the member that stands beside the exception in the list", in.Member))
	}
	got := inquire(p, c, Settle).asked(ctx, in, in.Member, nil)
	if got.away {
		return operation.None{}, fault.E(op, fault.Unavailable, in.Member, fmt.Errorf("the member does not answer: %s", words(got.err)))
	}
	return operation.None{}, got.err
}

func (p *router) editThere(ctx context.Context, c *operation.Call, in *Edit) (operation.None, error) {
	c.Did(in.Meter, map[string]any{"channel": in.Channel, "end": in.End, "value": in.Value, "reason": in.Reason})
	return inquire(p, c, EditReading).atHolders(ctx, in, in.Meter)
}

// validateAll has all members validate their readings. A member without readings of the day has nothing to validate, if another has some.
func (p *router) validateAll(ctx context.Context, c *operation.Call, in *Validation) (answer.MeterJudgement, error) {
	c.Did(in.Day, nil)
	list := inquire(p, c, Validate).everybody(ctx, func(string, []string) *Validation { return in }, nil)
	out := answer.MeterJudgement{Cluster: &answer.MeterAnswered{Complete: true, Members: []answer.MeterAnswerer{}}}
	done := slices.ContainsFunc(list, func(one part[answer.MeterJudgement]) bool { return one.err == nil })
	for i := range list {
		one := &list[i]
		told := answer.MeterAnswerer{Name: one.member, Answered: !one.away}
		switch {
		case one.away:
			told.Error, out.Cluster.Complete = words(one.err), false
		case one.err != nil && (!done || !fault.Is(one.err, fault.Invalid)):
			return answer.MeterJudgement{}, one.err
		}
		out.Cluster.Members = append(out.Cluster.Members, told)
		out.Channels, out.Validated, out.Doubted = out.Channels+one.out.Channels, out.Validated+one.out.Validated, out.Doubted+one.out.Doubted
		out.Estimated, out.Exceptions = out.Estimated+one.out.Estimated, out.Exceptions+one.out.Exceptions
	}
	return out, nil
}

var errMemberPlaces = errors.New("not every member of the cluster answers, so it is not known which meters were there")

// installed returns the meters that were at a service point, whichever members keep them.
func (p *router) installed(ctx context.Context, c *operation.Call, servicePoint string) ([]meter.Installation, error) {
	list, told, err := inquire(p, c, installations).gather(ctx, func(string, []string) *atPoint { return &atPoint{servicePoint} })
	if err != nil {
		return nil, err
	}
	if !told.Complete {
		return nil, fault.E("meter.places", fault.Unavailable, servicePoint, fmt.Errorf("%w: %s", errMemberPlaces, missingMember(told)))
	}
	var all []meter.Installation
	for i := range list {
		for _, at := range list[i].out.Places {
			if !slices.Contains(all, at) { // or a copy
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, func(a, b meter.Installation) int { return a.From.Compare(b.From) })
	return all, nil
}

func missingMember(told *answer.MeterAnswered) string {
	for _, m := range told.Members {
		if !m.Answered {
			return m.Name + ": " + m.Error
		}
	}
	return ""
}

// exchangeThere exchanges meters kept by the same or different members. It may be repeated.
func (p *router) exchangeThere(ctx context.Context, c *operation.Call, in *Replacement) (operation.None, error) {
	const op = "meter.exchange"
	c.Did(in.ServicePoint, map[string]string{"meter": in.Meter, "at": in.At})
	at, err := instant(op, "at", in.At)
	if err != nil {
		return operation.None{}, err
	}
	all, err := p.installed(ctx, c, in.ServicePoint)
	if err != nil {
		return operation.None{}, err
	}
	old := leaving(all, in.Meter, at)
	if old == "" {
		return operation.None{}, fault.E(op, fault.Conflict, in.ServicePoint, fmt.Errorf("no meter is installed at %s that can be replaced: install one", in.At))
	}
	here, there := p.Cluster.Holders(old), p.Cluster.Holders(in.Meter)
	for _, name := range p.Cluster.Names() {
		got := part[operation.None]{}
		switch gone, comes := slices.Contains(here, name), slices.Contains(there, name); {
		case gone && comes && stands(all, old, at):
			got = inquire(p, c, Exchange).asked(ctx, in, name, nil)
		case comes && !gone:
			got = inquire(p, c, install).asked(ctx, &move{in.ServicePoint, in.Meter, in.At}, name, nil)
		}
		if got.err != nil {
			return operation.None{}, exchangeFailed(name, in, got)
		}
	}
	for _, name := range here {
		if slices.Contains(there, name) {
			continue
		}
		if got := inquire(p, c, remove).asked(ctx, &move{in.ServicePoint, old, in.At}, name, nil); got.err != nil {
			return operation.None{}, exchangeFailed(name, in, got)
		}
	}
	return operation.None{}, nil
}

func exchangeFailed(member string, in *Replacement, got part[operation.None]) error {
	if !got.away {
		return got.err
	}
	return fault.E("meter.exchange", fault.Unavailable, in.ServicePoint, fmt.Errorf("the member %s of the cluster does not answer; exchange the meters again when it does: %s", member, words(got.err)))
}

// leaving returns the meter that another one replaces at a moment: the one installed, or the one removed when the other was installed.
func leaving(all []meter.Installation, fresh string, at time.Time) string {
	for _, i := range all {
		if i.Meter != fresh && (i.To.IsZero() && i.From.Before(at) || i.To.Equal(at)) {
			return i.Meter
		}
	}
	return ""
}

// stands reports whether a meter is still in its place.
func stands(all []meter.Installation, id string, at time.Time) bool {
	return !slices.ContainsFunc(all, func(i meter.Installation) bool { return i.Meter == id && i.To.Equal(at) })
}

// billAll computes a bill here, from readings that any members keep.
func (p *router) billAll(ctx context.Context, c *operation.Call, in *Billing) (answer.MeterBill, error) {
	return p.everywhere(c).bill(ctx, c, in)
}

// greenButtonThere writes readings that any members keep.
func (p *router) greenButtonThere(ctx context.Context, c *operation.Call, in *Customer, to operation.Stream) error {
	return p.everywhere(c).greenButton(ctx, c, in, to)
}

// exportAll writes readings that any members keep.
func (p *router) exportAll(ctx context.Context, c *operation.Call, in *File, to operation.Stream) error {
	return p.everywhere(c).export(ctx, c, in, to)
}

var errEventPages = errors.New("is of one member, and a cluster has several: leave it out, and give from and to")

// eventsAll lists the events that any members received, each once.
func (p *router) eventsAll(ctx context.Context, c *operation.Call, in *Happened) (answer.MeterEvents, error) {
	if in.After != 0 {
		return answer.MeterEvents{}, fault.E(ListEvents.Name, fault.Invalid, "after", errEventPages)
	}
	list, told, err := inquire(p, c, ListEvents).gather(ctx, func(string, []string) *Happened { return in })
	if err != nil {
		return answer.MeterEvents{}, err
	}
	told.Complete = len(away(told)) == 0 // there are no copies of events
	out := answer.MeterEvents{Events: []answer.MeterEvent{}, Cluster: told}
	type key struct{ meter, at, kind, code, detail string }
	seen := map[key]bool{}
	for i := range list {
		for _, e := range list[i].out.Events {
			k := key{e.Meter, e.At.String(), e.Kind, e.Code, e.Detail}
			if !seen[k] {
				seen[k] = true
				out.Events = append(out.Events, e)
			}
		}
	}
	slices.SortStableFunc(out.Events, func(a, b answer.MeterEvent) int { return b.At.Compare(a.At) })
	out.Events = out.Events[:min(len(out.Events), in.Limit)]
	return out, nil
}

var errProgressCopies = errors.New("is not counted in a cluster with copies: ask for what is missing of the day instead")

// progressAll sums up the progress of a day at all members.
func (p *router) progressAll(ctx context.Context, c *operation.Call, in *LocalDay) (account.MeterProgress, error) {
	if p.Cluster.Copies() > 1 {
		return account.MeterProgress{}, fault.E(Progress.Name, fault.Unavailable, in.Day, errProgressCopies)
	}
	list, told, err := inquire(p, c, Progress).gather(ctx, func(string, []string) *LocalDay { return in })
	if err != nil {
		return account.MeterProgress{}, err
	}
	out := account.MeterProgress{Day: in.Day, Hours: []account.MeterHour{}, Arrived: []account.MeterArrival{}, Cluster: told}
	for i := range list {
		if one := &list[i].out; i == 0 {
			out.Hours, out.Arrived = one.Hours, one.Arrived
			continue
		}
		addProgress(&out, &list[i].out)
	}
	return out, nil
}

// addProgress adds the counts of the same hours of a day.
func addProgress(out, one *account.MeterProgress) {
	for k := range min(len(out.Hours), len(one.Hours)) {
		to, h := &out.Hours[k], &one.Hours[k]
		to.Expected, to.Received, to.Validated = to.Expected+h.Expected, to.Received+h.Received, to.Validated+h.Validated
		to.Doubted, to.Estimated, to.Edited = to.Doubted+h.Doubted, to.Estimated+h.Estimated, to.Edited+h.Edited
	}
	for k := range min(len(out.Arrived), len(one.Arrived)) {
		out.Arrived[k].Readings += one.Arrived[k].Readings
	}
}

// MeterOf returns the meter in another member's answer.
func MeterOf(e *answer.MeterEntry) (meter.Meter, error) {
	r, err := registration(e)
	return r.Meter, err
}
