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

// described is what the parent of this session was told of points: a sum of each description.
type described map[point.Path]uint64

// describe tells the parent how the points are described, first all, then what changes. What the
// parent refuses is told again when it changes: descriptions are no readings. What it has no time for is told the next
// time, and does not end the session: blocks may go up all the same.
func (s *Sender) describe(ctx context.Context, session Session, names *paths) error {
	told := described{}
	tick := time.NewTicker(describeEach)
	defer tick.Stop()
	last := ""
	for {
		err := s.describeChanges(ctx, session, names, told)
		if err != nil && (ctx.Err() != nil || fault.Is(err, fault.Unreachable)) {
			return err
		}
		if err == nil {
			last = ""
		} else if err.Error() != last {
			last = err.Error()
			s.cfg.Log.WarnContext(ctx, "points are not described to the parent", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// change is a description that the parent was not told, with its sum.
type change struct {
	uplink.Description
	sum uint64
}

func (s *Sender) describeChanges(ctx context.Context, session Session, names *paths, told described) error {
	all, err := s.cfg.Describe(ctx)
	if err != nil {
		return err
	}
	var changed []change
	for i := range all {
		d := all[i]
		if d.Path = names.of(d.Path); d.Path == "" {
			continue
		}
		if d.Device != "" {
			d.Device = names.Place(d.Device)
		}
		body, err := json.Marshal(d)
		if err != nil { // texts and numbers are always written
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(body)
		if told[d.Path] != sum.Sum64() {
			changed = append(changed, change{d, sum.Sum64()})
		}
	}
	return tell(ctx, session, changed, told)
}

// tell tells the parent what changed, and notes what it heard.
func tell(ctx context.Context, session Session, changed []change, told described) error {
	var refused error
	points := make([]uplink.Description, 0, uplink.MaxDescriptions)
	for some := range slices.Chunk(changed, uplink.MaxDescriptions) {
		points = points[:0]
		for i := range some {
			points = append(points, some[i].Description)
		}
		err := session.Describe(ctx, points)
		if err != nil && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
			return err
		}
		if refused == nil {
			refused = err
		}
		for i := range some {
			told[some[i].Path] = some[i].sum
		}
	}
	return refused
}
