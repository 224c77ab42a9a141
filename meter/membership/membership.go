// Package membership makes a metering data system a member of a cluster: it forwards readings to the members that keep their meters, takes what they
// forward, asks them, and gives the account.
package membership

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/meter"
	"voltbus/meter/cluster"
	"voltbus/meter/delivery"
	"voltbus/meter/gate"
	"voltbus/meter/member"
	"voltbus/meter/ruleset"
	"voltbus/meter/setting"
	"voltbus/meter/store"
	"voltbus/meter/tally"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
	"voltbus/sink"
)

// TallyFile remembers what was counted, and ForwardFile, with the name of a member, how far readings were forwarded to it, in the folder of
// the metering system.
const (
	TallyFile     = "tally.json"
	ForwardPrefix = "forward-"
)

// ForwardFile is where it is remembered how far readings were forwarded to a member.
func ForwardFile(member string) string { return ForwardPrefix + member + ".json" }

// Store is what a member needs of the metering store.
type Store interface {
	Knows(dst []bool, keys []store.ChannelKey) []bool
	KnowsMeter(id string) bool
	Meter(ctx context.Context, id string) (meter.Meter, error)
	Meters(ctx context.Context, after string, limit int) ([]meter.Meter, error)
	Waiting(meant func(origin string) bool) (of, all uint64)
	Stats(ctx context.Context) (store.Stats, error)
}

// Config is what a Membership needs.
type Config struct {
	Dir     string // of the store
	Node    string // the name of the node
	Own     string // the origin of readings that are sent to this node
	Section *setting.Section
	Store   Store
	Blocks  sink.Log
	Now     func() time.Time
	Log     *slog.Logger
	// Document returns the document with the rules of validation; nil for none.
	Document func(context.Context) (json.RawMessage, int, error)
}

// Gate takes what other members forward.
type Gate interface {
	Pass(ctx context.Context, node string, readings []meter.Reading, why func(r *meter.Reading, k store.ChannelKey) string) (gate.Taken, error)
}

// Membership is the part of a metering data system that belongs to a cluster.
type Membership struct {
	cfg     Config
	gate    Gate
	stored  func() uint64 // the last block of the log that the store has
	section *setting.Cluster
	members *cluster.Members
	self    int
	zone    string
	digest  string
	others  []*other // in the order of members, this one left out
	tally   *tally.Tally
	strays  atomic.Int64 // readings of meters that are not registered on their way to the store
}

// other is another member.
type other struct {
	name    string
	ask     *member.Member
	forward *delivery.Delivery
	rules   atomic.Pointer[string] // the digest of its rules, when it was asked last
}

// The times after which somebody should know, and the most bytes of the id of a meter.
const (
	failingAfter = 10 * time.Second
	refusedFor   = 24 * time.Hour
	maxMeter     = 64
)

// The rhythm of what goes to other members.
const (
	forwardBulk     = 5000 // readings of a request
	forwardParallel = 2
	forwardTimeout  = 30 * time.Second
	lookEach        = 5 * time.Second // how often a member is asked whether it is there
)

// Open opens what belongs to the cluster, and refuses to serve a store that was filled for another. It returns nil if the node is in none. Before it
// is used, it is given the gate of the node, and what says how far the store is.
func Open(ctx context.Context, c Config) (*Membership, error) { //nolint:gocritic // once a start
	const op = "metering.Open"
	section := &c.Section.Cluster
	if !section.Enabled() {
		return nil, checkView(ctx, &c, nil, -1)
	}
	members, err := cluster.New(section.Names(), section.Copies)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "metering.cluster", err)
	}
	k := &Membership{cfg: c, section: section, members: members, self: members.Index(c.Node), zone: c.Section.Zone, digest: members.Digest(c.Section.Zone)}
	if k.self < 0 {
		return nil, fault.E(op, fault.Invalid, "metering.cluster.members", fmt.Errorf("they do not list this node, %q", c.Node))
	}
	if err := checkView(ctx, &c, members, k.self); err != nil {
		return nil, err
	}
	for i := range section.Members {
		if m := &section.Members[i]; m.Name != c.Node {
			if err := k.reach(m); err != nil {
				return nil, err
			}
		}
	}
	k.tally = tally.New(tally.Config{
		File: filepath.Join(c.Dir, TallyFile), Blocks: c.Blocks, Members: members, Self: k.self, Own: c.Own, Now: c.Now, Log: c.Log,
	})
	return k, nil
}

// Serve gives the membership the gate of the node, and what says up to which block of the log the store is.
func (k *Membership) Serve(g Gate, stored func() uint64) { k.gate, k.stored = g, stored }

// reach adds another member.
func (k *Membership) reach(m *setting.Member) error {
	c := &k.cfg
	o := &other{name: m.Name}
	at := k.members.Index(m.Name)
	var err error
	if o.ask, err = member.New(*m, k.section.Timeout, c.Now); err != nil {
		return err
	}
	o.forward, err = delivery.New(delivery.Config{
		Section: &setting.Concentrator{
			Bulk: forwardBulk, Age: k.section.Age, Form: delivery.Passing, Kept: true, Parallel: forwardParallel, Timeout: forwardTimeout,
			Systems: []setting.System{{URL: m.URL, TokenFile: m.TokenFile, CAFile: m.CAFile}},
		},
		File: filepath.Join(c.Dir, ForwardFile(m.Name)), Blocks: c.Blocks, Now: c.Now, Log: c.Log,
		Members: &delivery.Members{
			Goes: func(meter string) bool { return k.members.Holds(at, meter) }, Own: c.Own, Digest: k.digest,
		},
	})
	k.others = append(k.others, o)
	return err
}

// Run forwards readings, counts them, and asks now and then whether the others are there, until ctx ends.
func (k *Membership) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return k.tally.Run(ctx) })
	for i := range k.others {
		o := k.others[i]
		group.Go(func() error { return o.forward.Run(ctx) })
		group.Go(func() error {
			defer o.ask.Close()
			k.look(ctx, o)
			return nil
		})
	}
	return group.Wait()
}

// look asks another member now and then for its account, so that health knows that it is away, or sees the cluster otherwise.
func (k *Membership) look(ctx context.Context, o *other) {
	for ctx.Err() == nil {
		got, err := k.Ask(ctx, o.name, metering.MemberRequest{Operation: metering.AccountName, Caller: "node:" + k.Self(), Role: "viewer", Digest: k.digest})
		var there account.MeterMember
		if err == nil && json.Unmarshal(got.Result, &there) == nil { // else it is remembered that the member is away
			o.rules.Store(&there.Rules)
			o.forward.Wake()
		}
		timer := time.NewTimer(lookEach)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Keeps reports whether this node keeps a meter.
func (k *Membership) Keeps(meter string) bool { return k.members.Holds(k.self, meter) }

// Knows is Knows of the store, which keeps nothing of meters that others keep: their readings do not wait for a registration.
func (k *Membership) Knows(dst []bool, keys []store.ChannelKey) []bool {
	n := len(dst)
	dst = k.cfg.Store.Knows(dst, keys)
	for i := range keys {
		dst[n+i] = dst[n+i] || !k.Keeps(keys[i].Meter)
	}
	return dst
}

// KnowsMeter reports whether events of a meter are taken: it is registered here, or other members keep it. Events stay where they are taken, and
// all members are asked for them.
func (k *Membership) KnowsMeter(id string) bool { return !k.Keeps(id) || k.cfg.Store.KnowsMeter(id) }

// Elsewhere judges readings of meters that others keep.
func (k *Membership) Elsewhere(r *meter.Reading) (is bool, why string) {
	if k.Keeps(r.Meter) {
		return false, ""
	}
	switch {
	case len(r.Meter) > maxMeter:
		return true, fmt.Sprintf("meter: more than %d bytes", maxMeter)
	case store.PathOf(store.ChannelKey{Meter: r.Meter, Channel: 1}).Validate() != nil:
		return true, "meter: no id of a meter"
	case r.Channel < 0 || r.Channel > 65535:
		return true, "channel: write a number from 1 to 65535"
	case r.Channel == 0 && r.Type == meter.ReadingType{}:
		return true, "channel: missing: give the channel or the reading type"
	}
	return true, ""
}

// Pass takes readings that another member hands on. Those of meters that are not registered wait here until they are, as far as there is room.
func (k *Membership) Pass(ctx context.Context, from, digest string, readings []meter.Reading) (gate.Taken, error) {
	const op = "metering.Pass"
	if digest != k.digest {
		return gate.Taken{}, k.Differs(from)
	}
	if at := k.members.Index(from); at < 0 || at == k.self {
		return gate.Taken{}, fault.E(op, fault.Refused, from, errStranger)
	}
	strays := k.unregistered(readings)
	room := int64(0)
	if len(strays) > 0 {
		_, waiting := k.cfg.Store.Waiting(func(string) bool { return false })
		room = int64(k.cfg.Section.Unregistered) - int64(waiting) - k.strays.Load()
	}
	n, next := int64(0), 0
	taken, err := k.gate.Pass(ctx, store.MemberMark+from, readings, func(r *meter.Reading, c store.ChannelKey) string {
		at := next
		next++
		switch {
		case !k.Keeps(r.Meter):
			return "this member of the cluster does not keep the meter"
		case c.Channel == 0:
			return "no meter is registered with this id and a channel of this reading type"
		case len(strays) > 0 && strays[at] && n >= room:
			return "no meter is registered with this id and channel, and there is no room to keep its readings until it is; register it, or raise metering.unregistered"
		case len(strays) > 0 && strays[at]:
			n++
		}
		return ""
	})
	if err == nil {
		k.strays.Add(n)
	}
	return taken, err
}

var errStranger = errors.New("is no other member of the cluster: list it in metering.cluster.members, at all members")

// unregistered says which readings are of channels that are not registered; nil for none.
func (k *Membership) unregistered(readings []meter.Reading) (strays []bool) {
	keys := make([]store.ChannelKey, len(readings))
	for i := range readings {
		keys[i] = store.ChannelKey{Meter: readings[i].Meter, Channel: readings[i].Channel}
	}
	for i, known := range k.cfg.Store.Knows(make([]bool, 0, len(keys)), keys) {
		if known || readings[i].Channel == 0 {
			continue
		}
		if strays == nil {
			strays = make([]bool, len(readings))
		}
		strays[i] = true
	}
	return strays
}

// Stored notes that readings of meters that are not registered are in the store.
func (k *Membership) Stored(strays int) {
	if left := k.strays.Add(-int64(strays)); left < 0 { // they came from a descendant, or before this start
		k.strays.Store(0)
	}
}

// Self implements metering.Cluster.
func (k *Membership) Self() string { return k.members.Names()[k.self] }

// Names implements metering.Cluster.
func (k *Membership) Names() []string { return k.members.Names() }

// Copies implements metering.Cluster.
func (k *Membership) Copies() int { return k.members.Copies() }

// Holders implements metering.Cluster.
func (k *Membership) Holders(meter string) (list []string) {
	for _, at := range k.members.Holders(make([]int, 0, cluster.MostCopies), meter) {
		list = append(list, k.members.Names()[at])
	}
	return list
}

// Digest implements metering.Cluster.
func (k *Membership) Digest() string { return k.digest }

// Differs implements metering.Cluster.
func (k *Membership) Differs(from string) error {
	return fault.E("metering.cluster", fault.Conflict, from, fmt.Errorf(
		"the configurations of the members differ: here metering.cluster has the members %s, and the time zone is %s; write the same members, copies and zone at %s",
		k.members, k.zone, from))
}

// Ask implements metering.Cluster.
func (k *Membership) Ask(ctx context.Context, name string, r metering.MemberRequest) (account.MeterMemberAnswer, error) { //nolint:gocritic // the arguments of an operation
	for i := range k.others {
		if k.others[i].name == name {
			ctx, cancel := context.WithTimeout(ctx, k.section.Timeout)
			defer cancel()
			return k.others[i].ask.Ask(ctx, r)
		}
	}
	return account.MeterMemberAnswer{}, fault.E("metering.cluster", fault.Internal, name, errStranger)
}

// Meter returns a meter, whichever member keeps it.
func (k *Membership) Meter(ctx context.Context, id string) (meter.Meter, error) {
	if k.Keeps(id) {
		return k.cfg.Store.Meter(ctx, id)
	}
	args, err := json.Marshal(metering.ID{Meter: id})
	if err != nil {
		return meter.Meter{}, err
	}
	for _, name := range k.Holders(id) {
		var got account.MeterMemberAnswer
		got, err = k.Ask(ctx, name, metering.MemberRequest{Operation: metering.Get.Name, Arguments: args, Caller: "node:" + k.Self(), Role: "viewer", Digest: k.digest})
		switch {
		case err != nil:
			continue
		case got.Failed != nil:
			kind, _ := fault.ParseKind(got.Failed.Kind)
			return meter.Meter{}, fault.E("metering.Meter", kind, id, errors.New(got.Failed.Detail))
		}
		var e answer.MeterEntry
		if err := json.Unmarshal(got.Result, &e); err != nil {
			return meter.Meter{}, fault.E("metering.Meter", fault.Corrupt, id, err)
		}
		return metering.MeterOf(&e)
	}
	return meter.Meter{}, fault.E("metering.Meter", fault.Unavailable, id, fmt.Errorf("the member of the cluster that keeps this meter does not answer: %w", err))
}

// Account implements metering.Cluster.
func (k *Membership) Account(ctx context.Context) (account.MeterMember, error) {
	stats, err := k.cfg.Store.Stats(ctx)
	if err != nil {
		return account.MeterMember{}, err
	}
	counts, unstored := k.tally.Counts(k.stored())
	out := account.MeterMember{
		Name: k.Self(), Digest: k.digest, Rules: k.rules(ctx), Meters: stats.Meters, Accepted: counts.Accepted, Kept: counts.Kept, Unusable: counts.Left,
		Unstored: unstored, Strays: stats.Strays, Forwards: []account.MeterForward{},
	}
	held := counts.Kept
	for i := range k.others {
		o := k.others[i]
		d := o.forward.Status()
		f := account.MeterForward{
			To: o.name, Total: counts.For[o.name], Sent: d.Sent, Refused: d.Refused, Waiting: d.Waiting, Lost: d.Lost, Received: counts.Received[o.name],
			Oldest: moment(d.Oldest), Rate: d.Rate, State: "ready",
		}
		if since, why := k.away(o, &d); why != "" {
			f.State, f.Since, f.Reason = "away", moment(since), why
		}
		out.Received += f.Received
		held += f.Total
		out.Balanced = (i == 0 || out.Balanced) && f.Total == f.Sent+f.Refused+f.Waiting && f.Lost == 0
		out.Forwards = append(out.Forwards, f)
	}
	out.Stored = out.Kept + out.Received - min(unstored, out.Kept+out.Received)
	out.Balanced = out.Balanced && held == (counts.Accepted-counts.Left)*uint64(k.Copies())
	return out, nil
}

// away says since when a member does not answer, and why: what is forwarded, or what is asked.
func (k *Membership) away(o *other, d *delivery.Status) (since time.Time, why string) {
	since, why = o.ask.Away()
	if t := &d.Systems[0].State; t.Failures > 0 && (why == "" || t.Since.Before(since)) {
		return t.Since, t.Why
	}
	return since, why
}

// rules is a digest of the rules of validation, which are the same at all members.
func (k *Membership) rules(ctx context.Context) string {
	text := fmt.Sprintf("%+v", k.cfg.Section.Rules())
	if k.cfg.Document != nil {
		if doc, _, err := k.cfg.Document(ctx); err == nil {
			text += string(doc)
		}
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Troubles says in sentences what is wrong with the cluster, by what it is about.
func (k *Membership) Troubles(now time.Time, out map[string]string) {
	for i := range k.others {
		o := k.others[i]
		d := o.forward.Status()
		about := "member " + o.name
		since, why := k.away(o, &d)
		switch {
		case why != "" && now.Sub(since) > failingAfter:
			out[about] = fmt.Sprintf("of the metering cluster does not answer, %s: %s", plural.Of(d.Waiting, "reading")+plural.Word(d.Waiting, " waits", " wait"), why)
		case !d.Oldest.IsZero() && now.Sub(d.Oldest) > k.section.Late:
			out[about] = fmt.Sprintf("of the metering cluster is late: %s, the oldest since %s", plural.Of(d.Waiting, "reading")+plural.Word(d.Waiting, " waits", " wait"), d.Oldest.UTC().Format(time.RFC3339))
		}
		if rules := o.rules.Load(); why == "" && rules != nil && *rules != k.rules(context.Background()) {
			out["rules at "+o.name] = "validate otherwise than here: give all members the same section metering and the same document " + ruleset.Name
		}
		if d.Lost > 0 {
			out["readings for "+o.name] = plural.Of(d.Lost, "sample") + " of meters were dropped from the log before they were forwarded: raise log.max_bytes"
		}
		if len(d.Refusals) > 0 && now.Sub(d.Refusals[0].At) < refusedFor {
			r := &d.Refusals[0]
			out["readings refused by "+o.name] = fmt.Sprintf("%s that this node had acknowledged, the newest of %s: %s", plural.Of(d.Refused, "reading"), r.Meter, strings.TrimSuffix(r.Reason, "."))
		}
		if d.Trouble != "" {
			out[ForwardFile(o.name)] = "the place in the log cannot be remembered: " + d.Trouble
		}
	}
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
