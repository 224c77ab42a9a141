package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/binary"
	"voltbus/meter/store/postgres/table"
	"voltbus/meter/vee"
	"voltbus/store/postgres/connection"
)

type rows = binary.Rows

func number(b []byte) int64 { return binary.Int(b) }

// change is one transaction: what it changes in memory becomes the store's when it is committed.
type change struct {
	s        *database
	ctx      context.Context //nolint:containedctx // a change lives as long as one call
	state    state
	recorded int64
	sources  []source // new ones
	sourceOf map[source]uint32
	cutter   *store.Cutter
	days     map[store.Day]*tally
	strays   map[string]int64
	stray    rows
	versions []keyed
}

// tally is what a transaction adds to a day.
type tally struct{ rows, waiting int64 }

// keyed is a version that arrives, with its day.
type keyed struct {
	day store.Day
	table.Version
}

// edit carries out f in one transaction. The caller holds write.
func (s *database) edit(ctx context.Context, op string, f func(x *change) error) error {
	x := &change{
		s: s, ctx: ctx, state: s.state, sourceOf: map[source]uint32{}, cutter: s.calendar.NewCutter(), days: map[store.Day]*tally{}, strays: map[string]int64{},
	}
	x.state.newest = max(x.state.newest, store.Moment(s.options.Now()).Unix())
	x.recorded = x.state.newest
	before := len(s.known())
	err := s.writer.Transaction(ctx, op, func() error {
		if err := f(x); err != nil {
			return err
		}
		if err := x.save(); err != nil {
			return err
		}
		x.publish() // before the commit: whoever sees a version finds its source
		return nil
	})
	if err != nil {
		s.forget(before, x.sources)
		return s.fail(op, err)
	}
	s.state = x.state
	s.mu.Lock()
	defer s.mu.Unlock()
	for origin, n := range x.strays {
		if s.strays[origin] += uint64(n); s.strays[origin] == 0 {
			delete(s.strays, origin)
		}
	}
	return nil
}

// publish makes new sources known.
func (x *change) publish() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	for _, v := range x.sources {
		x.s.sourceOf[v] = uint32(len(x.s.sources))
		x.s.sources = append(x.s.sources, v)
	}
}

// forget takes sources back that a transaction did not commit.
func (s *database) forget(before int, list []source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sources) > before {
		s.sources = slices.Clip(s.sources[:before])
	}
	for _, v := range list {
		if n, ok := s.sourceOf[v]; ok && int(n) >= before {
			delete(s.sourceOf, v)
		}
	}
}

// source returns the number of a source.
func (x *change) source(v source) uint32 {
	v.Origin.Reason, v.Origin.Who, v.Origin.Rule = connection.Stored(v.Origin.Reason), connection.Stored(v.Origin.Who), connection.Stored(v.Origin.Rule)
	if n, ok := x.sourceOf[v]; ok {
		return n
	}
	x.s.mu.Lock()
	n, ok := x.s.sourceOf[v]
	if !ok {
		n = uint32(len(x.s.sources) + len(x.sources))
	}
	x.s.mu.Unlock()
	if !ok {
		v.Origin.Who = strings.Clone(v.Origin.Who)
		x.sources = append(x.sources, v)
	}
	x.sourceOf[v] = n
	return n
}

// sender returns the number of who sent readings. There is room for so many of other nodes.
func (x *change) sender(name string) uint32 {
	v := source{Origin: meter.Origin{Who: name}}
	x.s.mu.Lock()
	_, known := x.s.sourceOf[v]
	n := len(x.s.sources) + len(x.sources)
	x.s.mu.Unlock()
	if origin := store.OriginOf(name); !known && origin != "" && n >= store.MaxSenders {
		v.Origin.Who = store.NodeSender(origin)
	}
	return x.source(v)
}

// put adds a version of a channel to what arrives.
func (x *change) put(ref directory.Ref, end int64, v table.Version) {
	day, place := x.cutter.Cut(end, ref.Channel.Interval)
	v.Channel, v.Place = ref.Number, place
	x.versions = append(x.versions, keyed{day, v})
	waiting := int64(0)
	if ref.Channel.Interval > 0 {
		waiting = 1
	}
	x.add(day, 1, waiting)
}

// add counts versions of a day.
func (x *change) add(d store.Day, rows, waiting int64) {
	t := x.days[d]
	if t == nil {
		t = &tally{}
		x.days[d] = t
	}
	t.rows, t.waiting = t.rows+rows, t.waiting+waiting
}

// putStray keeps a reading until its channel is registered.
func (x *change) putStray(key store.ChannelKey, end int64, v table.Version, origin string) {
	r := &x.stray
	r.Begin(6)
	r.Text(connection.Stored(key.Meter))
	r.Int4(int32(key.Channel))
	r.Int8(end)
	r.Float8(v.Value)
	r.Int8(v.Recorded)
	r.Int4(int32(v.Source))
	x.strays[origin]++
}

// save writes what stands beside rows that are written already.
func (x *change) save() error {
	if err := x.saveArrived(); err != nil {
		return err
	}
	if err := x.s.copyInto(x.ctx, "meter_stray", "meter, channel, ends, value, recorded, source", &x.stray); err != nil {
		return err
	}
	if err := x.saveSources(); err != nil {
		return err
	}
	if err := x.saveDays(); err != nil {
		return err
	}
	_, err := x.s.writer.Conn.Exec(x.ctx, "UPDATE meter_state SET log = $1, sequence = $2, newest = $3, exception = $4, number = $5, event_log = $6, event_sequence = $7, event = $8",
		x.state.log, int64(x.state.sequence), x.state.newest, int64(x.state.exception), x.state.number, x.state.eventLog, int64(x.state.eventSequence), int64(x.state.event))
	return err
}

// saveArrived writes what arrives in rows of neighbouring channels.
func (x *change) saveArrived() error {
	type order struct {
		key uint64 // the day, counted from the first one, and the channel
		at  int
	}
	if len(x.versions) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(x.days)))
	list := make([]order, len(x.versions))
	for i := range x.versions {
		v := &x.versions[i]
		list[i] = order{uint64(v.day-first)<<32 | uint64(v.Channel), i}
	}
	slices.SortFunc(list, func(a, b order) int {
		switch {
		case a.key < b.key, a.key == b.key && a.at < b.at:
			return -1
		}
		return 1
	})
	w := &table.Arrived{}
	var part []table.Version
	flush := func(d store.Day) {
		if len(part) > 0 {
			x.state.number++
			w.Write(int32(d), x.state.number, part)
			part = part[:0]
		}
	}
	var before *keyed
	for _, o := range list {
		v := &x.versions[o.at]
		if before != nil && (len(part) == table.Most || v.day != before.day || v.Recorded != before.Recorded || table.BucketOf(v.Channel) != table.BucketOf(before.Channel)) {
			flush(before.day)
		}
		part, before = append(part, v.Version), v
	}
	flush(before.day)
	return x.s.copyInto(x.ctx, "meter_arrived", table.ArrivedColumns, &w.Rows)
}

func (x *change) saveSources() error {
	r := &rows{}
	for i, v := range x.sources {
		flags := ""
		if v.Status != 0 {
			flags = vee.Status(v.Status).String()
		}
		r.Begin(7)
		r.Int4(int32(len(x.s.known()) + i))
		r.Int2(int16(v.Stage))
		r.Int8(int64(v.Status))
		r.Text(flags)
		r.Text(v.Origin.Reason)
		r.Text(v.Origin.Who)
		r.Text(v.Origin.Rule)
	}
	return x.s.copyInto(x.ctx, "meter_source", "number, stage, status, flags, reason, who, rule", r)
}

func (x *change) saveDays() error {
	if len(x.days) == 0 {
		return nil
	}
	var days []int32
	var start, finish []time.Time
	var counts, waiting []int64
	for _, d := range slices.Sorted(maps.Keys(x.days)) {
		b := x.s.calendar.Bounds(d)
		days, start, finish = append(days, int32(d)), append(start, time.UnixMicro(b.Start)), append(finish, time.UnixMicro(b.End))
		counts, waiting = append(counts, x.days[d].rows), append(waiting, x.days[d].waiting)
	}
	_, err := x.s.writer.Conn.Exec(x.ctx, `INSERT INTO meter_day SELECT u.day, date '1970-01-01' + u.day, u.start, u.finish, u.rows, u.waiting, false, 0
		FROM unnest($1::int[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::bigint[]) u(day, start, finish, rows, waiting)
		ON CONFLICT (day) DO UPDATE SET rows = meter_day.rows + excluded.rows, waiting = meter_day.waiting + excluded.waiting`,
		days, start, finish, counts, waiting)
	return err
}
