package metering

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/vee"
	"voltbus/operation"
	"voltbus/point"
)

// instant parses a time of an argument.
func instant(op, field, text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fault.E(op, fault.Invalid, field, fmt.Errorf("%q: write such as 2026-03-01T00:15:00Z", text))
	}
	return t, nil
}

// invalid returns an error about a field of an argument.
func invalid(op, field string, err error) error { return fault.E(op, fault.Invalid, field, err) }

func (p *Part) register(ctx context.Context, c *operation.Call, in *Registration) (answer.MeterRegistered, error) {
	c.Did(strconv.Itoa(len(in.Meters))+" meters", nil)
	out := answer.MeterRegistered{Refused: []answer.MeterRefusal{}}
	var list []store.Registration
	var index []int
	for i := range in.Meters {
		r, err := registration(&in.Meters[i])
		if err != nil {
			out.Refused = append(out.Refused, answer.MeterRefusal{Index: i, Reason: err.Error()})
			continue
		}
		list, index = append(list, r), append(index, i)
	}
	done, err := p.Store.Register(ctx, list)
	if err != nil {
		return answer.MeterRegistered{}, err
	}
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, answer.MeterRefusal{Index: index[r.Index], Reason: r.Reason})
	}
	out.Added, out.Known, out.Adopted = done.Added, done.Known, done.Adopted
	return out, nil
}

// registration parses a meter in the form that people write.
func registration(e *answer.MeterEntry) (store.Registration, error) {
	r := store.Registration{Meter: meter.Meter{ID: e.ID}, ServicePoint: e.ServicePoint, Premises: e.Premises}
	if e.From != nil {
		r.From = *e.From
	}
	var err error
	if r.Meter.Commodity, err = meter.ParseCommodity(e.Commodity); err != nil {
		return r, err
	}
	for i := range e.Channels {
		c, err := channel(&e.Channels[i])
		if err != nil {
			return r, fmt.Errorf("channels[%d]: %w", i, err)
		}
		r.Meter.Channels = append(r.Meter.Channels, c)
	}
	return r, nil
}

func channel(e *answer.MeterChannel) (c meter.Channel, err error) {
	c = meter.Channel{
		Number: e.Number, Interval: time.Duration(e.Interval * float64(time.Second)), Multiplier: e.Multiplier,
		Register: meter.Register{Digits: e.Digits, Decimals: e.Decimals},
	}
	if c.Multiplier == 0 {
		c.Multiplier = 1
	}
	if c.ReadingType, err = meter.ParseReadingType(e.ReadingType); err != nil {
		return c, err
	}
	if e.OBIS != "" {
		c.OBIS, err = meter.ParseOBIS(e.OBIS)
	}
	return c, err
}

// shown is the inverse of registration, without the place.
func shown(m *meter.Meter) answer.MeterEntry {
	out := answer.MeterEntry{ID: m.ID, Commodity: m.Commodity.String(), Channels: []answer.MeterChannel{}}
	for i := range m.Channels {
		c := &m.Channels[i]
		e := answer.MeterChannel{
			Number: c.Number, ReadingType: c.ReadingType.String(), Unit: c.Unit(), Interval: c.Interval.Seconds(), Multiplier: c.Multiplier,
			Digits: c.Register.Digits, Decimals: c.Register.Decimals,
		}
		if !c.OBIS.IsZero() {
			e.OBIS = c.OBIS.String()
		}
		out.Channels = append(out.Channels, e)
	}
	return out
}

func (p *Part) list(ctx context.Context, _ *operation.Call, in *Page) (answer.Meters, error) {
	out := answer.Meters{Meters: []answer.MeterEntry{}}
	meant := meant(ctx, p.Cluster)
	for after := in.After; ; {
		list, err := p.Store.Meters(ctx, after, in.Limit)
		if err != nil {
			return out, err
		}
		for i := range list {
			if after = list[i].ID; meant == nil || meant(after) {
				out.Meters = append(out.Meters, shown(&list[i]))
			}
		}
		if len(list) < in.Limit || len(out.Meters) >= in.Limit {
			out.Meters = out.Meters[:min(len(out.Meters), in.Limit)]
			return out, nil
		}
	}
}

func (p *Part) get(ctx context.Context, _ *operation.Call, in *ID) (answer.MeterEntry, error) {
	m, err := p.Store.Meter(ctx, in.Meter)
	if err != nil {
		return answer.MeterEntry{}, err
	}
	return shown(&m), nil
}

// record accepts readings. Those that cannot be parsed are refused individually, too.
func (p *Part) record(ctx context.Context, c *operation.Call, in *Bulk) (answer.MeterTaken, error) {
	out := answer.MeterTaken{Refused: []answer.MeterRefusal{}}
	list := make([]meter.Reading, 0, len(in.Readings))
	index := make([]int, 0, len(in.Readings))
	for i := range in.Readings {
		r, err := reading(&in.Readings[i])
		if err != nil {
			out.Refused = append(out.Refused, answer.MeterRefusal{Index: i, Reason: err.Error()})
			continue
		}
		list, index = append(list, r), append(index, i)
	}
	done, err := p.Gate.Take(ctx, c.Name, c.Under, list)
	if err != nil {
		return answer.MeterTaken{}, err
	}
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, answer.MeterRefusal{Index: index[r.Index], Reason: r.Reason})
	}
	out.Accepted = done.Accepted
	return out, nil
}

func reading(e *answer.MeterReadingIn) (r meter.Reading, err error) {
	r = meter.Reading{Meter: e.Meter, Channel: e.Channel}
	if e.Value == nil {
		return r, errors.New("value: missing")
	}
	r.Value = *e.Value
	if r.End, err = time.Parse(time.RFC3339Nano, e.End); err != nil {
		return r, fmt.Errorf("end: %.40q: write such as 2026-03-01T00:15:00Z", e.End)
	}
	if e.Channel == 0 {
		r.Type, err = meter.ParseReadingType(e.ReadingType)
	}
	return r, err
}

// mayReadChannel checks an agent's grants: a channel is read as the point meters/<meter>/<channel>.
func mayReadChannel(_ context.Context, c *operation.Call, in *Span) error {
	path := store.PathOf(store.ChannelKey{Meter: in.Meter, Channel: in.Channel})
	_, keep, err := c.Reads(point.Pattern(path))
	if err == nil && keep != nil && !keep(path) {
		err = fault.E("meter.readings", fault.Refused, string(path), &identity.Missing{Capability: "read " + string(path)})
	}
	return err
}

func (p *Part) readings(ctx context.Context, _ *operation.Call, in *Span) (answer.MeterReadings, error) {
	const op = "meter.readings"
	from, err := instant(op, "from", in.From)
	if err != nil {
		return answer.MeterReadings{}, err
	}
	to, err := instant(op, "to", in.To)
	if err != nil {
		return answer.MeterReadings{}, err
	}
	known := p.Now().Add(time.Hour) // times of recording are rounded up
	if in.KnownAt != "" {
		if known, err = instant(op, "knownAt", in.KnownAt); err != nil {
			return answer.MeterReadings{}, err
		}
	}
	m, err := p.Store.Meter(ctx, in.Meter)
	if err != nil {
		return answer.MeterReadings{}, err
	}
	h, err := p.Store.History(ctx, store.ChannelKey{Meter: in.Meter, Channel: in.Channel}, from, to)
	if err != nil {
		return answer.MeterReadings{}, err
	}
	out := answer.MeterReadings{Meter: in.Meter, Channel: in.Channel, Readings: []answer.MeterVersion{}}
	for i := range m.Channels {
		if m.Channels[i].Number == in.Channel {
			out.Unit = m.Channels[i].Unit()
		}
	}
	versions := h.AsKnown(nil, from, to, known)
	if in.Versions {
		versions = h.Versions(nil, from, to)
	}
	for i := range versions {
		if v := &versions[i]; !v.Recorded.After(known) {
			out.Readings = append(out.Readings, version(v))
		}
	}
	return out, nil
}

func version(v *meter.Version) answer.MeterVersion {
	out := answer.MeterVersion{
		End: v.End, Value: v.Value, Stage: v.Stage.String(), Recorded: v.Recorded, Who: v.Origin.Who, Rule: v.Origin.Rule, Reason: v.Origin.Reason,
	}
	if v.Status != 0 {
		out.Status = vee.Status(v.Status).String()
	}
	return out
}

func day(op, text string) (store.Day, error) {
	d, err := store.ParseDay(text)
	if err != nil {
		return d, fault.E(op, fault.Invalid, "day", err)
	}
	return d, nil
}

func (p *Part) missing(ctx context.Context, _ *operation.Call, in *Lacking) (answer.MeterMissing, error) {
	d, err := day("meter.missing", in.Day)
	if err != nil {
		return answer.MeterMissing{}, err
	}
	m, err := p.Store.Missing(ctx, store.MissingQuery{Day: d, After: in.After, Limit: in.Limit, Meant: meant(ctx, p.Cluster)})
	if err != nil {
		return answer.MeterMissing{}, err
	}
	out := answer.MeterMissing{Day: d.String(), Expected: m.Expected, Received: m.Received, Channels: m.Channels, More: m.More, List: []answer.MeterMissingEntry{}}
	for _, c := range m.List {
		out.List = append(out.List, answer.MeterMissingEntry{Meter: c.Meter, Channel: c.Channel, Ends: c.Ends})
	}
	return out, nil
}

func (p *Part) exceptions(ctx context.Context, _ *operation.Call, in *Waiting) (answer.MeterExceptions, error) {
	list, err := p.Store.Exceptions(ctx, store.ExceptionQuery{Meter: in.Meter, Limit: in.Limit, Meant: meant(ctx, p.Cluster)})
	out := answer.MeterExceptions{Exceptions: []answer.MeterException{}}
	for _, e := range list {
		out.Exceptions = append(out.Exceptions, answer.MeterException{
			Number: e.Number, Meter: e.Key.Meter, Channel: e.Key.Channel, Day: e.Day.String(), Status: vee.Status(e.Status).String(), Intervals: e.Count, Noticed: e.Noticed,
		})
	}
	return out, err
}

func (p *Part) settle(ctx context.Context, c *operation.Call, in *Settlement) (operation.None, error) {
	c.Did(strconv.Itoa(in.Number), map[string]string{"why": in.Why})
	return operation.None{}, p.Store.Settle(ctx, uint64(in.Number), c.Name, in.Why)
}

func (p *Part) edit(ctx context.Context, c *operation.Call, in *Edit) (operation.None, error) {
	c.Did(in.Meter, map[string]any{"channel": in.Channel, "end": in.End, "value": in.Value, "reason": in.Reason})
	end, err := instant("meter.edit", "end", in.End)
	if err != nil {
		return operation.None{}, err
	}
	v := meter.Version{End: end, Value: *in.Value, Stage: meter.Edited, Origin: meter.Origin{Reason: in.Reason, Who: c.Name}}
	return operation.None{}, p.Store.Revise(ctx, store.ChannelKey{Meter: in.Meter, Channel: in.Channel}, []meter.Version{v})
}

func (p *Part) exchange(ctx context.Context, c *operation.Call, in *Replacement) (operation.None, error) {
	c.Did(in.ServicePoint, map[string]string{"meter": in.Meter, "at": in.At})
	at, err := instant("meter.exchange", "at", in.At)
	if err != nil {
		return operation.None{}, err
	}
	return operation.None{}, p.Store.Exchange(ctx, in.ServicePoint, in.Meter, at)
}

func (p *Part) validate(ctx context.Context, c *operation.Call, in *Validation) (answer.MeterJudgement, error) {
	c.Did(in.Day, nil)
	d, err := day("meter.validate", in.Day)
	if err != nil {
		return answer.MeterJudgement{}, err
	}
	j, err := p.Validator.Validate(ctx, d)
	return answer.MeterJudgement{Channels: j.Channels, Validated: j.Validated, Doubted: j.Doubted, Estimated: j.Estimated, Exceptions: j.Exceptions}, err
}
