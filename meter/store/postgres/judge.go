package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres/binary"
	"voltbus/meter/store/postgres/table"
)

const opJudge = "metering.Judge"

// Judge implements store.Judged. Buckets of channels are read in blocks, judged without a lock, and written in slices: the
// transaction of a slice takes what arrived of its buckets away, and writes the rows of their channels. So a call that ends
// early leaves the other buckets as they were.
func (s *Store) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (out store.Judgement, err error) {
	s.judging.Lock()
	defer s.judging.Unlock()
	if err := s.begin(ctx, opJudge); err != nil {
		return out, err
	}
	upto := s.state.number
	s.write.Unlock()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return out, s.fail(opJudge, err)
	}
	defer c.Release()
	j := &judging{ctx: ctx, s: s, c: c, judge: judge, day: d, out: &out, upto: upto, ends: map[time.Duration][]int64{}, exists: map[store.Day]bool{}}
	err = j.run() //nolint:contextcheck // it has the context
	return out, s.fail(opJudge, err)
}

// judging is one call.
type judging struct {
	ctx   context.Context //nolint:containedctx // it lives as long as the call
	s     *Store
	c     *pgxpool.Conn
	judge func(*store.ChannelDay) error
	day   store.Day
	out   *store.Judgement
	upto  int64 // number of the newest row of what arrived that is judged

	channels uint32 // that there were
	forced   []bool // channels that are judged whether readings of them arrived or not
	buckets  []uint32
	exists   map[store.Day]bool // days that have readings
	ends     map[time.Duration][]int64
	near     nearby
	sources  []source // as far as they were needed
}

func (j *judging) run() error {
	_, n := j.s.dir.Len()
	j.channels = uint32(n)
	j.sources = j.s.known()
	if err := j.findDue(); err != nil || len(j.buckets) == 0 {
		return err
	}
	group, ctx := errgroup.WithContext(j.ctx)
	parts := make(chan *slice, 1)
	group.Go(func() error {
		defer close(parts)
		for due := j.buckets; len(due) > 0; {
			b := j.newBlock(due)
			due = due[len(b.buckets):]
			if err := j.block(ctx, b, parts); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for p := range parts {
			if err := j.write(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return j.finish()
}

// findDue lists the buckets with channels that are to be judged.
func (j *judging) findDue() error {
	j.forced = make([]bool, j.channels)
	of := map[uint32]bool{}
	force := func(channel uint32) {
		if channel < j.channels {
			j.forced[channel], of[table.BucketOf(channel)] = true, true
		}
	}
	err := scan(j.ctx, j.c, "SELECT DISTINCT bucket FROM meter_arrived WHERE day = $1 AND number <= $2", func(c [][]byte) error {
		b := uint32(number(c[0]))
		of[b] = true
		if b > 0 && j.sameMeter(b<<table.BucketBits) { // a register may count what a channel there reads
			of[b-1] = true
		}
		if j.sameMeter((b + 1) << table.BucketBits) {
			of[b+1] = true
		}
		return nil
	}, int64(j.day), j.upto)
	if err != nil {
		return err
	}
	if err := j.findNeverJudged(force); err != nil {
		return err
	}
	if err := scan(j.ctx, j.c, "SELECT channel FROM meter_redo WHERE day = $1", func(c [][]byte) error {
		force(uint32(number(c[0])))
		return nil
	}, int64(j.day)); err != nil {
		return err
	}
	for b := range of {
		j.buckets = append(j.buckets, b)
	}
	slices.Sort(j.buckets)
	return scan(j.ctx, j.c, "SELECT day FROM meter_day WHERE day BETWEEN $1 AND $2", func(c [][]byte) error {
		j.exists[store.Day(number(c[0]))] = true
		return nil
	}, int64(j.day-store.PastDays), int64(j.day+1))
}

// sameMeter reports whether a channel is of the same meter as the one before it.
func (j *judging) sameMeter(channel uint32) bool {
	if channel >= j.channels {
		return false
	}
	a, _ := j.s.dir.Key(channel - 1)
	b, _ := j.s.dir.Key(channel)
	return a.Meter == b.Meter
}

// findNeverJudged tells of the channels that are expected and were never judged.
func (j *judging) findNeverJudged(force func(uint32)) error {
	var judged bool
	var bound int64
	err := j.c.QueryRow(j.ctx, "SELECT judged, bound FROM meter_day WHERE day = $1", int64(j.day)).Scan(&judged, &bound)
	if err != nil && err != pgx.ErrNoRows { //nolint:errorlint // it comes as it is
		return err
	}
	if judged && bound >= int64(j.channels) {
		return nil
	}
	was := make([]bool, j.channels)
	err = scan(j.ctx, j.c, "SELECT bucket, channels FROM meter_bucket WHERE day = $1", func(c [][]byte) error {
		list, err := binary.Ints(nil, c[1])
		for _, k := range list {
			if channel := uint32(number(c[0]))<<table.BucketBits + uint32(k); channel < j.channels {
				was[channel] = true
			}
		}
		return err
	}, int64(j.day))
	if err != nil {
		return err
	}
	j.s.dir.Expected(j.day, 0, func(_, channel uint32, _ *meter.Channel) bool {
		if channel < j.channels && !was[channel] {
			force(channel)
		}
		return true
	})
	return nil
}

// endsOf returns the ends of the day's intervals of a length; nil for a register.
func (j *judging) endsOf(length time.Duration) []int64 {
	if length == 0 {
		return nil
	}
	ends, ok := j.ends[length]
	if !ok {
		ends = j.s.calendar.Ends(nil, j.day, length)
		j.ends[length] = ends
	}
	return ends
}

// sourceOf returns what a number stands for.
func (j *judging) sourceOf(n uint32) (*source, error) {
	if int(n) >= len(j.sources) {
		j.sources = j.s.known()
	}
	return sourceAt(j.sources, n)
}

// block reads a block, judges its channels and hands them on in slices, which end with a bucket.
func (j *judging) block(ctx context.Context, b *block, parts chan<- *slice) error {
	if err := b.read(j); err != nil {
		return err
	}
	if err := j.near.load(j, b); err != nil {
		return err
	}
	of := &store.ChannelDay{Day: j.day}
	p := j.newSlice()
	for i, bucket := range b.buckets {
		if err := p.bucket(of, b, bucket); err != nil {
			return err
		}
		last := i+1 == len(b.buckets)
		if p.cells < j.s.options.Slice && !last {
			continue
		}
		select {
		case parts <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
		p = j.newSlice()
	}
	return nil
}

// judgeOne has one channel judged.
func (j *judging) judgeOne(of *store.ChannelDay) error {
	if err := j.judge(of); err != nil {
		return fault.E(opJudge, fault.KindOf(err), of.Key.Meter, err)
	}
	return j.near.err
}

// finish notes that all channels were judged.
func (j *judging) finish() error {
	s := j.s
	if err := s.begin(j.ctx, opJudge); err != nil {
		return err
	}
	defer s.write.Unlock()
	return s.edit(j.ctx, opJudge, func(x *change) error {
		x.add(j.day, 0, 0)
		if err := x.saveDays(); err != nil {
			return err
		}
		clear(x.days)
		_, err := s.writer.Conn.Exec(j.ctx, "UPDATE meter_day SET judged = true, bound = greatest(bound, $2) WHERE day = $1", int64(j.day), int64(j.channels))
		return err
	})
}
