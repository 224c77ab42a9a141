package metering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// MemberRequest is a request of one member of a cluster to another on behalf of its own caller.
type MemberRequest struct {
	Operation string          `json:"operation" api:"required,max=64" doc:"The name of an operation about meters"`
	Arguments json.RawMessage `json:"arguments" doc:"Its arguments, an object"`
	Caller    string          `json:"caller" api:"required,max=200" doc:"Who asks there"`
	Role      string          `json:"role" api:"required,schema=Role" doc:"The role of the caller there"`
	Digest    string          `json:"digest" api:"required,max=64" doc:"Of the cluster as the asking member knows it"`
	Without   []string        `json:"without" doc:"Members that do not answer: others answer with their copies"`
}

// Member is the operation by which members of a cluster ask each other.
var Member = operation.Declare[MemberRequest, account.MeterMemberAnswer](operation.Spec{
	Name: "meter.member", ID: "askMeterMember", HTTP: "POST /metering/cluster/ask", Role: identity.Engineer, Members: true, Body: bulkBody,
	Summary: "Do an operation about meters for a caller of another member of the cluster", Result: "Its result, or why it failed",
	Doc: "Only for tokens that voltbus token create --member made. The member that asks has judged its caller; the role of administrator does not travel.",
})

// ClusterStatus is the operation that gives the account of a cluster.
var ClusterStatus = operation.Declare[Nothing, account.MeterCluster](operation.Spec{
	Name: "meter.cluster", ID: "getMeterCluster", HTTP: "GET /metering/cluster", Role: identity.Viewer,
	Summary: "Give the account of the metering cluster: what each member accepted, keeps, forwarded and stored", Result: "The members that answered, and the sum",
})

// Cluster represents a cluster's members, of which this node is one.
type Cluster interface {
	Self() string
	// Names lists all members, including this one, in their order.
	Names() []string
	// Holders returns which members keep a meter: its owner, and then the one with the copy, if there are copies.
	Holders(meter string) []string
	// Copies is how many members keep each meter.
	Copies() int
	// Digest is the digest of the cluster as this node knows it.
	Digest() string
	// Differs explains how to fix a digest that differs at another member.
	Differs(member string) error
	// Ask has another member carry out a request. An error means that it did not answer, in time or at all.
	Ask(ctx context.Context, member string, r MemberRequest) (account.MeterMemberAnswer, error)
	// Account is the account of this member.
	Account(ctx context.Context) (account.MeterMember, error)
}

// withoutKey is the context key of the members that do not answer.
type withoutKey struct{}

// meant reports which meters this member answers for: its own, and copies of those whose owners do not answer. nil if that is all it keeps.
func meant(ctx context.Context, c Cluster) func(meter string) bool {
	if c == nil || c.Copies() == 1 {
		return nil
	}
	without, _ := ctx.Value(withoutKey{}).([]string)
	self := c.Self()
	return func(meter string) bool {
		for _, name := range c.Holders(meter) {
			if !slices.Contains(without, name) {
				return name == self
			}
		}
		return false
	}
}

// member carries out a request of another member.
func (p *router) member(ctx context.Context, c *operation.Call, in *MemberRequest) (account.MeterMemberAnswer, error) {
	const op = "meter.member"
	role, known := identity.ParseRole(in.Role)
	if !known {
		return account.MeterMemberAnswer{}, fault.E(op, fault.Invalid, "role", fmt.Errorf("%.40q is no role", in.Role))
	}
	if in.Digest != p.Cluster.Digest() {
		return account.MeterMemberAnswer{}, p.Cluster.Differs(c.Member)
	}
	if !slices.Contains(p.Cluster.Names(), c.Member) || c.Member == p.Cluster.Self() {
		return account.MeterMemberAnswer{}, fault.E(op, fault.Refused, c.Member, errStranger)
	}
	args := operation.Arguments{}
	if len(in.Arguments) > 0 {
		if err := json.Unmarshal(in.Arguments, &args); err != nil {
			return account.MeterMemberAnswer{}, fault.E(op, fault.Invalid, "arguments", err)
		}
	}
	who := &operation.Caller{Name: callerAt(c.Member, in.Caller), Role: min(role, identity.Engineer), Member: c.Member}
	result, err := p.local.Run(context.WithValue(ctx, withoutKey{}, in.Without), who, in.Operation, args)
	if err != nil {
		return account.MeterMemberAnswer{Failed: failure(err)}, nil
	}
	return account.MeterMemberAnswer{Result: result}, nil
}

var errStranger = errors.New("is not among the members of the cluster: list it in metering.cluster.members, at all members")

// callerAt returns how a caller of another member is known here: person:ada there is person:mds-1/ada.
func callerAt(member, caller string) string {
	kind, name, is := strings.Cut(caller, ":")
	if !is {
		return "member:" + member + "/" + caller
	}
	return kind + ":" + member + "/" + name
}

func failure(err error) *account.MeterMemberFailure {
	f := &account.MeterMemberFailure{Kind: fault.KindOf(err).String(), Detail: err.Error()}
	if e, is := errors.AsType[*fault.Error](err); is {
		if f.Subject = e.Subject; e.Err != nil {
			f.Detail = e.Err.Error()
		}
	}
	return f
}

// The operations that only members request.
type (
	// atPoint names a service point.
	atPoint struct {
		ServicePoint string `json:"servicePoint" api:"required,max=64"`
	}
	// places lists where meters were installed.
	places struct {
		Places []meter.Installation `json:"places"`
	}
	// move is one half of an exchange of meters kept by different members.
	move struct {
		ServicePoint string `json:"servicePoint" api:"required,max=64"`
		Meter        string `json:"meter" api:"required,max=64"`
		At           string `json:"at" api:"required,max=40"`
	}
)

// AccountName is the operation that gives the account of one member, for the others.
const AccountName = "meter.account"

// The operations that only members request.
var (
	installations = operation.Declare[atPoint, places](operation.Spec{Name: "meter.places", Role: identity.Viewer})
	install       = operation.Declare[move, operation.None](operation.Spec{Name: "meter.install", Role: identity.Engineer, Audited: true})
	remove        = operation.Declare[move, operation.None](operation.Spec{Name: "meter.remove", Role: identity.Engineer, Audited: true})
	ownAccount    = operation.Declare[Nothing, account.MeterMember](operation.Spec{Name: AccountName, Role: identity.Viewer})
)

// among lists the operations between members.
func (p *router) among() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(installations, nil, func(ctx context.Context, _ *operation.Call, in *atPoint) (places, error) {
			list, err := p.Store.Installations(ctx, in.ServicePoint)
			return places{list}, err
		}),
		operation.Bind(ownAccount, nil, func(ctx context.Context, _ *operation.Call, _ *Nothing) (account.MeterMember, error) {
			return p.Cluster.Account(ctx)
		}),
	}
	if p.Move != nil {
		list = append(list, operation.Bind(install, nil, p.moving(false)), operation.Bind(remove, nil, p.moving(true)))
	}
	return list
}

// moving is the handler of one half of an exchange.
func (p *router) moving(leaves bool) operation.Handler[move, operation.None] {
	return func(ctx context.Context, c *operation.Call, in *move) (operation.None, error) {
		c.Did(in.ServicePoint, map[string]string{"meter": in.Meter, "at": in.At})
		at, err := instant("meter.exchange", "at", in.At)
		if err != nil {
			return operation.None{}, err
		}
		return operation.None{}, p.Move(ctx, in.ServicePoint, in.Meter, leaves, at)
	}
}

// cluster returns the account of the cluster.
func (p *router) cluster(ctx context.Context, c *operation.Call, _ *Nothing) (account.MeterCluster, error) {
	out := account.MeterCluster{Members: []account.MeterMember{}}
	if p.Cluster == nil {
		return out, nil
	}
	list := inquire(p, c, ownAccount).everybody(ctx, func(string, []string) *Nothing { return &Nothing{} }, nil)
	out.Copies, out.Balanced = p.Cluster.Copies(), true
	out.Cluster = &answer.MeterAnswered{Complete: true, Members: []answer.MeterAnswerer{}}
	for i := range list {
		told := answer.MeterAnswerer{Name: list[i].member, Answered: list[i].err == nil}
		if list[i].err != nil {
			told.Error, out.Cluster.Complete = words(list[i].err), false
		} else {
			out.Members = append(out.Members, list[i].out)
		}
		out.Cluster.Members = append(out.Cluster.Members, told)
	}
	sumUp(&out)
	return out, nil
}

// sumUp sums up the accounts of the members, and compares what each reports as forwarded with what arrived.
func sumUp(c *account.MeterCluster) {
	arrived := map[[2]string]uint64{}
	for i := range c.Members {
		for _, f := range c.Members[i].Forwards {
			arrived[[2]string{f.To, c.Members[i].Name}] = f.Received
		}
	}
	c.Balanced = c.Cluster.Complete
	stored := uint64(0)
	for i := range c.Members {
		m := &c.Members[i]
		c.Balanced = c.Balanced && m.Balanced
		c.Sum.Accepted += m.Accepted
		c.Sum.Waiting += m.Unstored
		c.Sum.Refused += m.Unusable
		stored += m.Stored
		for _, f := range m.Forwards {
			c.Sum.Waiting += f.Waiting
			c.Sum.Refused += f.Refused
			c.Sum.Lost += f.Lost
			c.Sum.Forwarded += f.Sent
			there, known := arrived[[2]string{m.Name, f.To}]
			if !known { // it did not answer
				continue
			}
			if there >= f.Sent {
				c.Sum.Repeated += there - f.Sent
			} else {
				c.Balanced = false
			}
		}
	}
	c.Sum.Stored = stored - min(c.Sum.Repeated, stored)
}
