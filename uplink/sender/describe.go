package sender

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"log/slog"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
)

// described is what the parent of this session was told of points: a sum of each description.
type described map[point.Path]uint64

// describe tells the parent how the points are described, first all, then what changes. What the
// parent refuses is told again when it changes: descriptions are no readings.
func (s *Sender) describe(ctx context.Context, session Session, names *paths) error {
	told := described{}
	tick := time.NewTicker(describeEach)
	defer tick.Stop()
	for {
		if err := s.describeChanges(ctx, session, names, told); err != nil {
			if ctx.Err() != nil || fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Timeout) {
				return err
			}
			s.cfg.Log.WarnContext(ctx, "points are not described to the parent", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Sender) describeChanges(ctx context.Context, session Session, names *paths, told described) error {
	all, err := s.cfg.Describe(ctx)
	if err != nil {
		return err
	}
	var changed []uplink.Description
	for i := range all {
		d := all[i]
		if d.Path = names.of(d.Path); d.Path == "" {
			continue
		}
		if d.Device != "" {
			d.Device = names.place(d.Device)
		}
		body, err := json.Marshal(d)
		if err != nil { // texts and numbers are always written
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(body)
		if told[d.Path] == sum.Sum64() {
			continue
		}
		told[d.Path] = sum.Sum64()
		changed = append(changed, d)
	}
	for len(changed) > 0 {
		n := min(len(changed), uplink.MaxDescriptions)
		if err := session.Describe(ctx, changed[:n]); err != nil {
			return err
		}
		changed = changed[n:]
	}
	return nil
}
