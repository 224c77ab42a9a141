package metering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// part is the answer of one member.
type part[Out any] struct {
	member string
	out    Out
	err    error
	away   bool // it did not answer: err says why
}

// inquiry is an operation requested from members for a caller.
type inquiry[In, Out any] struct {
	router    *router
	call      *operation.Call
	operation operation.Operation[In, Out]
}

func inquire[In, Out any](p *router, c *operation.Call, o operation.Operation[In, Out]) *inquiry[In, Out] {
	return &inquiry[In, Out]{p, c, o}
}

// asked has one member, possibly this one, carry out the operation.
func (q *inquiry[In, Out]) asked(ctx context.Context, in *In, member string, without []string) part[Out] {
	p, c, o := q.router, q.call, &q.operation
	out := part[Out]{member: member}
	d := o.Declared()
	args, err := d.Given(in)
	var text json.RawMessage
	if err == nil {
		text, err = json.Marshal(args)
	}
	if err != nil {
		out.err = err
		return out
	}
	if member == p.Cluster.Self() {
		who := c.Caller
		text, err = p.local.Run(context.WithValue(ctx, withoutKey{}, without), &who, o.Name, args)
	} else {
		var got account.MeterMemberAnswer
		got, err = p.Cluster.Ask(ctx, member, MemberRequest{
			Operation: o.Name, Arguments: text, Caller: c.Name, Role: max(c.Role, o.Role).String(), // the caller's rights were checked here
			Digest: p.Cluster.Digest(), Without: without,
		})
		out.away = err != nil
		if text = got.Result; got.Failed != nil {
			kind, _ := fault.ParseKind(got.Failed.Kind)
			err = fault.E(o.Name, kind, got.Failed.Subject, errors.New(got.Failed.Detail))
		}
	}
	if out.err = err; err == nil {
		if _, none := any(out.out).(operation.None); !none {
			out.err = json.Unmarshal(text, &out.out)
		}
	}
	return out
}

// gather asks all members at once, each with its own arguments. If there are copies, the members that keep them are asked again on behalf
// of those that do not answer. It returns the first error of a member that did answer.
func (q *inquiry[In, Out]) gather(ctx context.Context, in func(member string, without []string) *In) ([]part[Out], *answer.MeterAnswered, error) {
	p := q.router
	var away []part[Out]
	var without []string
	list := q.everybody(ctx, in, nil)
	for round := 0; ; round++ {
		fresh := slices.Clone(list)
		list = list[:0]
		for i := range fresh {
			if fresh[i].away {
				away = append(away, fresh[i])
				without = append(without, fresh[i].member)
			} else {
				list = append(list, fresh[i])
			}
		}
		if len(list) == len(fresh) || p.Cluster.Copies() == 1 || round > 0 {
			break
		}
		list = q.everybody(ctx, in, without)
	}
	told := &answer.MeterAnswered{Complete: len(without) < p.Cluster.Copies(), Members: []answer.MeterAnswerer{}}
	for _, name := range p.Cluster.Names() {
		one := answer.MeterAnswerer{Name: name, Answered: true}
		if i := slices.IndexFunc(away, func(a part[Out]) bool { return a.member == name }); i >= 0 {
			one.Answered, one.Error = false, words(away[i].err)
		}
		told.Members = append(told.Members, one)
	}
	for i := range list {
		if list[i].err != nil {
			return nil, nil, list[i].err
		}
	}
	return list, told, nil
}

// everybody asks all members except some, and returns their answers in the order of the members.
func (q *inquiry[In, Out]) everybody(ctx context.Context, in func(member string, without []string) *In, without []string) []part[Out] {
	var names []string
	for _, name := range q.router.Cluster.Names() {
		if !slices.Contains(without, name) {
			names = append(names, name)
		}
	}
	list := make([]part[Out], len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { list[i] = q.asked(ctx, in(name, without), name, without) })
	}
	all.Wait()
	return list
}

// words returns an error without the operation in which it occurred.
func words(err error) string {
	if e, is := errors.AsType[*fault.Error](err); is && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// fromHolder asks the owner of a meter and, if it does not answer, the member with the copy.
func (q *inquiry[In, Out]) fromHolder(ctx context.Context, in *In, meter string) (out Out, told *answer.MeterAnswered, err error) {
	told = &answer.MeterAnswered{Members: []answer.MeterAnswerer{}}
	var without []string
	for _, name := range q.router.Cluster.Holders(meter) {
		got := q.asked(ctx, in, name, without)
		if !got.away {
			told.Complete = true
			told.Members = append(told.Members, answer.MeterAnswerer{Name: name, Answered: true})
			return got.out, told, got.err
		}
		told.Members = append(told.Members, answer.MeterAnswerer{Name: name, Error: words(got.err)})
		without = append(without, name)
		err = notAnswered(q.operation.Name, name, meter, got.err)
	}
	return out, nil, err
}

func notAnswered(op, member, meter string, err error) error {
	return fault.E(op, fault.Unavailable, meter, fmt.Errorf("the member %s of the cluster, which keeps this meter, does not answer: %s", member, words(err)))
}

// atHolders has all members that keep a meter do something, those with copies first: if one of them does not answer, the owner has done
// nothing yet, and the caller repeats it.
func (q *inquiry[In, Out]) atHolders(ctx context.Context, in *In, meter string) (out Out, err error) {
	for _, name := range slices.Backward(q.router.Cluster.Holders(meter)) {
		got := q.asked(ctx, in, name, nil)
		if got.away {
			return out, notAnswered(q.operation.Name, name, meter, got.err)
		}
		if got.err != nil {
			return out, got.err
		}
		out = got.out
	}
	return out, nil
}
