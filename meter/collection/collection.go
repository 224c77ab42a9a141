// Package collection reads meters that the node reaches as points of its devices: on a schedule, aligned to the clock, and on demand. What is
// read becomes readings, which the gate takes in like all others.
package collection

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/setting"
	"voltbus/point"
)

// Value is what came of the read of a point.
type Value struct {
	Sample point.Sample // with a bad quality if the device says that it has no value
	Err    error        // why there is none
}

// Config is what a Collector needs.
type Config struct {
	Reads []setting.Read
	Zone  *time.Location // to whose days schedules are aligned
	// Read reads points now, all at once, and returns one value for each, in order. It waits until ctx ends at most.
	Read func(ctx context.Context, points []point.Path) []Value
	// Take takes readings in.
	Take func(ctx context.Context, sender, under string, list []meter.Reading) (gate.Taken, error)
	Now  func() time.Time
	Log  *slog.Logger
}

// Collector reads meters. ReadNow may be called at any time.
type Collector struct {
	cfg    Config
	meters map[string][]setting.Read
}

// New returns a collector; nothing runs before Run.
func New(c Config) *Collector {
	k := &Collector{cfg: c, meters: map[string][]setting.Read{}}
	for _, r := range c.Reads {
		k.meters[r.Meter] = append(k.meters[r.Meter], r)
	}
	return k
}

// Outcomes of a read.
const (
	Answered    = "answered"
	TimedOut    = "timed-out"
	Unreachable = "unreachable"
	Refused     = "refused"
	Unknown     = "unknown"
	Failed      = "failed"
)

// Outcome is what came of the read of a channel.
type Outcome struct {
	Meter   string
	Channel int
	Result  string
	Reason  string // if it was not answered, or is not recorded
	Value   float64
	At      time.Time
	// Recorded says that the value is a reading now, and on disk.
	Recorded bool
}

// ReadNow reads the mapped channels of meters now, records registers as readings of the sender, and returns an outcome for each channel, in
// the order of the meters. It waits until ctx ends at most.
func (k *Collector) ReadNow(ctx context.Context, sender string, meters []string) ([]Outcome, error) {
	var out []Outcome
	var reads []setting.Read
	var at []int // in out
	for _, id := range meters {
		list := k.meters[id]
		if len(list) == 0 {
			out = append(out, Outcome{Meter: id, Result: Unknown, Reason: "no point of this node is mapped to the meter in metering.reads"})
		}
		for _, r := range list {
			reads, at = append(reads, r), append(at, len(out))
			out = append(out, Outcome{Meter: id, Channel: r.Channel})
		}
	}
	values := k.cfg.Read(ctx, pointsOf(reads))
	var list []meter.Reading
	var of []int
	for i, v := range values {
		o := &out[at[i]]
		if judge(o, v); o.Result != Answered {
			continue
		}
		if reads[i].As == setting.AsAdvance {
			o.Reason = "the channel has intervals, which are read on schedule"
			continue
		}
		list, of = append(list, meter.Reading{Meter: o.Meter, Channel: o.Channel, End: o.At, Value: o.Value}), append(of, at[i])
	}
	if len(list) == 0 {
		return out, nil
	}
	taken, err := k.cfg.Take(context.WithoutCancel(ctx), sender, "", list)
	if err != nil {
		return nil, err
	}
	for _, i := range of {
		out[i].Recorded = true
	}
	for _, r := range taken.Refused {
		out[of[r.Index]].Recorded, out[of[r.Index]].Reason = false, r.Reason
	}
	return out, nil
}

func pointsOf(reads []setting.Read) []point.Path {
	out := make([]point.Path, len(reads))
	for i := range reads {
		out[i] = point.Path(reads[i].Point)
	}
	return out
}

// judge says what came of the read of a point.
func judge(o *Outcome, v Value) {
	if v.Err != nil {
		o.Reason = v.Err.Error()
		switch fault.KindOf(v.Err) {
		case fault.Timeout, fault.Canceled:
			o.Result = TimedOut
		case fault.Unreachable, fault.Unavailable:
			o.Result = Unreachable
		case fault.Refused:
			o.Result = Refused
		default:
			o.Result = Failed
		}
		return
	}
	number, is := v.Sample.Value.Number()
	switch {
	case v.Sample.Quality.IsBad():
		o.Result, o.Reason = Failed, "the device has no value: "+v.Sample.Quality.String()
	case !is:
		o.Result, o.Reason = Failed, "the value of the point is no number"
	default:
		o.Result, o.Value, o.At = Answered, number, v.Sample.Time.UTC().Truncate(time.Millisecond)
	}
}

// Run reads on schedule until ctx ends, and returns nil.
func (k *Collector) Run(ctx context.Context) error {
	var reads []setting.Read
	for _, r := range k.cfg.Reads {
		if r.Every > 0 {
			reads = append(reads, r)
		}
	}
	last := map[int]count{}
	for len(reads) > 0 {
		now := k.cfg.Now()
		next := time.Time{}
		for i := range reads {
			if b := Boundary(now, reads[i].Every, k.cfg.Zone); next.IsZero() || b.Before(next) {
				next = b
			}
		}
		if !sleep(ctx, next.Sub(now)) {
			return nil
		}
		var due []int
		for i := range reads {
			if Boundary(next.Add(-time.Nanosecond), reads[i].Every, k.cfg.Zone).Equal(next) {
				due = append(due, i)
			}
		}
		k.readAt(ctx, next, reads, due, last)
	}
	<-ctx.Done()
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Boundary returns the first moment after now at which an interval of a length ends: counted from the beginning of the local day, which ends one, too.
func Boundary(now time.Time, every time.Duration, zone *time.Location) time.Time {
	local := now.In(zone)
	year, month, day := local.Date()
	start, end := time.Date(year, month, day, 0, 0, 0, 0, zone), time.Date(year, month, day+1, 0, 0, 0, 0, zone)
	if every >= 24*time.Hour {
		return end
	}
	next := start.Add((now.Sub(start)/every + 1) * every)
	if next.After(end) {
		return end
	}
	return next
}

// longestRead is how long a scheduled read may take at most.
const longestRead = 30 * time.Second

// count is what a register stood at.
type count struct {
	at    time.Time // the boundary
	value float64
}

// readAt reads what is due at a boundary, and has it recorded with that as the end of the interval.
func (k *Collector) readAt(ctx context.Context, boundary time.Time, reads []setting.Read, due []int, last map[int]count) {
	some := make([]setting.Read, len(due))
	limit := longestRead
	for i, n := range due {
		some[i] = reads[n]
		limit = min(limit, reads[n].Every/2)
	}
	reading, cancel := context.WithTimeout(ctx, limit)
	values := k.cfg.Read(reading, pointsOf(some))
	cancel()
	var list []meter.Reading
	var problems []string
	for i, v := range values {
		o := Outcome{Meter: some[i].Meter, Channel: some[i].Channel}
		if judge(&o, v); o.Result != Answered {
			problems = append(problems, fmt.Sprintf("%s/%d: %s: %s", o.Meter, o.Channel, o.Result, o.Reason))
			continue
		}
		r := meter.Reading{Meter: o.Meter, Channel: o.Channel, End: boundary, Value: o.Value}
		if some[i].As == setting.AsAdvance {
			before := last[due[i]]
			last[due[i]] = count{boundary, o.Value}
			// Only a register that was read at the beginning of the interval, too, says how much it advanced.
			if before.at.IsZero() || !Boundary(before.at, some[i].Every, k.cfg.Zone).Equal(boundary) || o.Value < before.value {
				continue
			}
			r.Value = o.Value - before.value
		}
		list = append(list, r)
	}
	if len(list) > 0 {
		taken, err := k.cfg.Take(ctx, "schedule", "", list)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, r := range taken.Refused {
			problems = append(problems, fmt.Sprintf("%s/%d: %s", list[r.Index].Meter, list[r.Index].Channel, r.Reason))
		}
	}
	if len(problems) > 0 && ctx.Err() == nil {
		k.cfg.Log.WarnContext(ctx, "meters were not read on schedule", slog.Time("end", boundary), slog.Int("channels", len(problems)), slog.String("first", slices.Min(problems)))
	}
}
