package postgres

import (
	"math"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/cells"
	"voltbus/meter/store/postgres/table"
)

// block is the channels of buckets with what is stored of them.
type block struct {
	of       span
	buckets  []uint32
	channels []*cells.Channel // by channel − of.first; nil for one of which nothing is known
	summary  map[uint32]*table.Bucket
	reads    map[uint32][]store.Read // of registers, also of meters that reach into the block
	edited   map[uint32]map[int64]bool
	err      error
}

// mostApart is how many buckets may lie between two that are read at once.
const mostApart = 4

// newBlock takes buckets from those that are due, as many as there is memory for.
func (j *judging) newBlock(due []uint32) *block {
	b := &block{summary: map[uint32]*table.Bucket{}, reads: map[uint32][]store.Read{}, edited: map[uint32]map[int64]bool{}}
	size := 0
	for i, bucket := range due {
		n := 0
		first := bucket << table.BucketBits
		for channel := first; channel < min(first+1<<table.BucketBits, j.channels); channel++ {
			_, c := j.s.dir.Key(channel)
			n += len(j.endsOf(c.Interval))
		}
		if i > 0 && (size+n > j.s.options.Cells || bucket-due[i-1] > mostApart) {
			break
		}
		size += n
		b.buckets = append(b.buckets, bucket)
	}
	b.of = span{b.buckets[0] << table.BucketBits, (b.buckets[len(b.buckets)-1]+1)<<table.BucketBits - 1}
	b.of.last = min(b.of.last, max(j.channels, 1)-1)
	b.channels = make([]*cells.Channel, b.of.last-b.of.first+1)
	return b
}

// around is the channels of the block with those of meters that reach into it.
func (b *block) around(all uint32) span {
	return span{b.of.first - min(b.of.first, directory.MaxChannels), min(b.of.last+directory.MaxChannels, all-1)}
}

// held returns a channel of the block, which it adds if need be; nil for another channel.
func (b *block) held(j *judging, channel uint32) *cells.Channel {
	if channel < b.of.first || channel > b.of.last {
		return nil
	}
	h := b.channels[channel-b.of.first]
	if h != nil {
		return h
	}
	_, model := j.s.dir.Key(channel)
	h = cells.New(channel, model, len(j.endsOf(model.Interval)))
	b.channels[channel-b.of.first] = h
	return h
}

// read gathers what is stored of the channels of the block: what was judged before, then what is new.
func (b *block) read(j *judging) error {
	wide := b.around(j.channels)
	days := []int32{int32(j.day)}
	first, last := int64(table.BucketOf(wide.first)), int64(table.BucketOf(wide.last))
	err := scan(j.ctx, j.c, "SELECT "+table.BucketColumns+" FROM meter_bucket WHERE day = $1 AND bucket BETWEEN $2 AND $3", func(c [][]byte) error {
		one := &table.Bucket{}
		err := one.Read(c)
		b.summary[one.Number] = one
		return err
	}, days[0], first, last)
	if err != nil {
		return err
	}
	if len(b.summary) > 0 {
		err := scan(j.ctx, j.c, "SELECT "+table.IntervalsColumns+" FROM meter_intervals WHERE day = $1 AND channel BETWEEN $2 AND $3", func(c [][]byte) error {
			row := &table.Intervals{}
			if err := row.Read(c); err != nil {
				return err
			}
			b.seen(j, row)
			return b.err
		}, days[0], int64(wide.first), int64(wide.last))
		if err != nil {
			return err
		}
	}
	err = arrivals(j.ctx, j.c, within{days, wide, j.upto}, func(_ store.Day, v *table.Version) { b.arrived(j, v) })
	if err != nil {
		return err
	}
	for channel := b.of.first; channel <= b.of.last; channel++ {
		if j.forced[channel] {
			b.held(j, channel)
		}
	}
	return b.err
}

// seen notes a row that is stored.
func (b *block) seen(j *judging, row *table.Intervals) {
	if h := b.held(j, row.Channel); h != nil {
		h.Row = row
		for i, v := range row.Value {
			if !math.IsNaN(v) && i < len(h.Value) {
				h.Value[i], h.State[i], h.Said[i] = v, cells.Settled, row.Verdict[i]+1
			}
		}
	}
	for i := range row.More {
		v := &row.More[i]
		of, err := j.sourceOf(v.Source)
		if err != nil {
			b.err = err
			return
		}
		b.register(j, v, of)
		if h := b.held(j, v.Channel); h != nil {
			h.Seen(v, of.Stage, of.Status)
		}
	}
}

// arrived takes in a version that is new.
func (b *block) arrived(j *judging, v *table.Version) {
	of, err := j.sourceOf(v.Source)
	if err != nil {
		b.err = err
		return
	}
	b.register(j, v, of)
	h := b.held(j, v.Channel)
	if h == nil {
		b.profiles(j, v)
		return
	}
	h.Consumed++
	raw := of.Stage == meter.Raw
	if v.Place < 0 || int(v.Place) >= len(h.Value) || !raw {
		if raw && !h.Oddly(v) {
			return
		}
		h.Rows, h.Changed = append(h.Rows, *v), true
		if raw {
			h.OffGrid++
		}
		b.profiles(j, v)
		return
	}
	h.Reading(v)
}

// profiles has the load profiles judged whose register has a read that is new: their sums are checked anew.
func (b *block) profiles(j *judging, v *table.Version) {
	if _, c := j.s.dir.Key(v.Channel); c.Interval > 0 {
		return
	}
	for _, channel := range j.s.dir.Profiles(nil, v.Channel) {
		if channel < j.channels {
			j.forced[channel] = true
		}
	}
}

// register notes a read of a register; of several at a moment the last one counts, and one that a person set before others.
func (b *block) register(j *judging, v *table.Version, of *source) {
	if v.Place >= 0 {
		return
	}
	if _, c := j.s.dir.Key(v.Channel); c.Interval > 0 {
		return
	}
	b.noteRead(v.Channel, j.s.calendar.End(j.day, 0, v.Place), v.Value, of.Stage == meter.Edited)
}

func (b *block) noteRead(channel uint32, at int64, value float64, edited bool) {
	set := b.edited[channel]
	if set[at] && !edited {
		return
	}
	if edited {
		if set == nil {
			set = map[int64]bool{}
			b.edited[channel] = set
		}
		set[at] = true
	}
	b.reads[channel] = append(b.reads[channel], store.Read{At: at, Value: value})
}
