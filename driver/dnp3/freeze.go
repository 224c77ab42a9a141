package dnp3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

var errNoCounters = errors.New("its registry has no counters; add points of type counter or frozen_counter")

// Freeze implements driver.Freezer: it freezes all counters of the outstation (IEEE 1815 FC 7, or FC 9 with clears),
// and reads the points of types frozen_counter and, with clears, counter. If a device does not return them in time
// they are left out: it has frozen its counters anyway.
func (n *session) Freeze(ctx context.Context, clears bool) ([]point.Sample, error) {
	const op = "dnp3.Freeze"
	counters := false
	var touched []int
	for i := range n.items {
		switch kind := n.items[i].Kind; {
		case kind == object.KindFrozenCounter, kind == object.KindCounter && clears:
			touched = append(touched, i)
			counters = true
		case kind == object.KindCounter:
			counters = true
		}
	}
	if !counters {
		return nil, fault.E(op, fault.Refused, n.subject, errNoCounters)
	}
	if err := n.ready(ctx); err != nil {
		return nil, n.fail(op, err)
	}
	all := func(w *app.Writer) error { return w.All(object.G20V0) }
	request := master.Freeze(all)
	if clears {
		request = master.FreezeClear(all)
	}
	if _, err := n.do(ctx, request); err != nil {
		return nil, n.unknown(op, fmt.Errorf("freeze the counters: %w", err))
	}
	pass := n.values.newPass()
	for _, i := range touched {
		n.absent[i] = time.Time{} // a frozen counter may exist only after the first freeze
	}
	if err := n.fetch(ctx, touched); err != nil {
		return nil, n.unknown(op, fmt.Errorf("the counters are frozen, but were not read back: %w", err))
	}
	samples := make([]point.Sample, 0, len(touched))
	for _, i := range touched {
		if s, fresh := n.values.value(i, pass, false); fresh {
			samples = append(samples, s)
		}
	}
	return samples, nil
}

var _ driver.Freezer = (*session)(nil)
