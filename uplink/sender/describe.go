package sender

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
)

// describer describes the points of this node to the parent, for one session. One goroutine owns it.
type describer struct {
	points   func(ctx context.Context) ([]uplink.Description, error)
	log      *slog.Logger
	session  Session
	names    *paths
	reported map[point.Path]uint64 // checksum of each description sent to the parent
}

// run reports all descriptions, and then those that change. A refused one is reported again when it changes: descriptions
// are not readings. Those that the parent has no time for are reported the next time, and do not end the session: blocks
// may still go up.
func (d *describer) run(ctx context.Context) error {
	tick := time.NewTicker(describeEach)
	defer tick.Stop()
	last := ""
	for {
		err := d.changes(ctx)
		if err != nil && (ctx.Err() != nil || fault.Is(err, fault.Unreachable)) {
			return err
		}
		if err == nil {
			last = ""
		} else if err.Error() != last {
			last = err.Error()
			d.log.WarnContext(ctx, "points are not described to the parent", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// change is a description not yet reported, with its checksum.
type change struct {
	uplink.Description
	sum uint64
}

func (d *describer) changes(ctx context.Context) error {
	all, err := d.points(ctx)
	if err != nil {
		return err
	}
	var changed []change
	for i := range all {
		p := all[i]
		if p.Path = d.names.of(p.Path); p.Path == "" {
			continue
		}
		if p.Device != "" {
			p.Device = d.names.Place(p.Device)
		}
		body, err := json.Marshal(p)
		if err != nil { // strings and numbers cannot fail
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(body)
		if d.reported[p.Path] != sum.Sum64() {
			changed = append(changed, change{p, sum.Sum64()})
		}
	}
	return d.report(ctx, changed)
}

// report sends the changes to the parent, and records what it received.
func (d *describer) report(ctx context.Context, changed []change) error {
	var refused error
	points := make([]uplink.Description, 0, uplink.MaxDescriptions)
	for some := range slices.Chunk(changed, uplink.MaxDescriptions) {
		points = points[:0]
		for i := range some {
			points = append(points, some[i].Description)
		}
		err := d.session.Describe(ctx, points)
		if err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
			return err
		}
		if refused == nil {
			refused = err
		}
		for i := range some {
			d.reported[some[i].Path] = some[i].sum
		}
	}
	return refused
}
