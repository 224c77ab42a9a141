package metering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/vee"
	"voltbus/operation"
)

// distant provides the readings of all members for a bill.
type distant struct {
	part *router
	call *operation.Call
}

// Meter implements bill.Store.
func (d *distant) Meter(ctx context.Context, id string) (meter.Meter, error) {
	e, _, err := inquire(d.part, d.call, Get).fromHolder(ctx, &ID{id}, id)
	if err != nil {
		return meter.Meter{}, err
	}
	return MeterOf(&e)
}

// Installations implements bill.Store.
func (d *distant) Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error) {
	return d.part.installed(ctx, d.call, servicePoint)
}

// History implements bill.Store.
func (d *distant) History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error) {
	span := &Span{ID: ID{key.Meter}, Channel: key.Channel, From: from.Format(time.RFC3339Nano), To: to.Format(time.RFC3339Nano), Versions: true}
	got, _, err := inquire(d.part, d.call, Readings).fromHolder(ctx, span, key.Meter)
	if err != nil {
		return nil, err
	}
	versions := make([]meter.Version, len(got.Readings))
	for i := range got.Readings {
		v := &got.Readings[i]
		stage, err := stageOf(v.Stage)
		if err != nil {
			return nil, err
		}
		status, known := vee.ParseStatus(v.Status)
		if !known {
			return nil, fault.E("meter.readings", fault.Corrupt, v.Status, errVersion)
		}
		versions[i] = meter.Version{End: v.End, Recorded: v.Recorded, Value: v.Value, Stage: stage, Status: uint32(status), Origin: meter.Origin{Who: v.Who, Rule: v.Rule, Reason: v.Reason}}
	}
	h := &meter.History{}
	_, err = h.Add(versions)
	return h, err
}

func stageOf(name string) (meter.Stage, error) {
	for s := meter.Raw; s <= meter.Edited; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fault.E("meter.readings", fault.Corrupt, name, errVersion)
}

var errVersion = errors.New("another member of the cluster answers with a version of a stage or status that is not known: run the same release at all members")

// everywhere is the store of this member, extended to the readings of all.
type everywhere struct {
	Store
	distant
}

// everywhere returns a part that works for a caller on the readings of all members as a single node does on its own.
func (p *router) everywhere(c *operation.Call) *Part {
	all := *p.Part
	all.Store = &everywhere{p.Store, distant{p, c}}
	return &all
}

// Meter implements Store.
func (e *everywhere) Meter(ctx context.Context, id string) (meter.Meter, error) {
	return e.distant.Meter(ctx, id)
}

// Meters implements Store. It fails if a member does not answer: the reader of a file would not see what is missing.
func (e *everywhere) Meters(ctx context.Context, after string, limit int) ([]meter.Meter, error) {
	got, err := e.part.listAll(ctx, e.call, &Page{After: after, Limit: limit})
	if err == nil && !got.Cluster.Complete {
		err = fault.E(List.Name, fault.Unavailable, "", fmt.Errorf("not every member of the cluster answers: %s", missingMember(got.Cluster)))
	}
	list := make([]meter.Meter, 0, len(got.Meters))
	for i := 0; err == nil && i < len(got.Meters); i++ {
		var m meter.Meter
		m, err = MeterOf(&got.Meters[i])
		list = append(list, m)
	}
	return list, err
}

// Installations implements Store.
func (e *everywhere) Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error) {
	return e.distant.Installations(ctx, servicePoint)
}

// History implements Store.
func (e *everywhere) History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error) {
	return e.distant.History(ctx, key, from, to)
}
