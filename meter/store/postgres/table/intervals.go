package table

import (
	"errors"
	"math"

	"voltbus/meter/store/postgres/binary"
)

var errLength = errors.New("columns of a row of readings do not have the same length")

// Intervals is a day of a channel: by interval one raw reading with what validation said of it, and further versions.
type Intervals struct {
	Channel uint32
	Step    int32 // seconds of an interval; 0 for a register
	Judged  int64 // when the verdicts were recorded, in Unix seconds

	// Of each interval, NaN where no raw reading stands here.
	Value    []float64
	Recorded []int64
	Source   []uint32
	Verdict  []uint32

	More []Version // further versions, the oldest of an interval first
}

// Versions returns how many versions the row stands for; a raw reading counts once.
func (t *Intervals) Versions() int {
	n := len(t.More)
	for _, v := range t.Value {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// IntervalsColumns are those that Intervals.Write writes and ReadIntervals reads.
const IntervalsColumns = "day, channel, judged, base, step, source, verdict, sources, verdicts, delay, delays, more, scale, small, medium, large"

// Write writes the row.
func (t *Intervals) Write(r *binary.Rows, day int32) {
	base, step, widest := t.delays()
	r.Begin(12 + binary.NumberColumns)
	r.Int4(day)
	r.Int4(int32(t.Channel))
	r.Int8(t.Judged)
	r.Int8(base)
	r.Int4(step)
	sources, verdicts := t.either(t.Source), t.either(t.Verdict)
	t.scalar(r, sources, t.Source)
	t.scalar(r, verdicts, t.Verdict)
	t.array(r, sources, t.Source)
	t.array(r, verdicts, t.Verdict)
	t.writeDelays(r, base, step, widest)
	t.writeMore(r)
	r.Numbers(t.Value)
}

// either returns the index of an interval whose number all others have; −1 if they differ, or there is none.
func (t *Intervals) either(list []uint32) int {
	at := -1
	for i, v := range t.Value {
		switch {
		case math.IsNaN(v):
		case at < 0:
			at = i
		case list[i] != list[at]:
			return -1
		}
	}
	return at
}

func (t *Intervals) scalar(r *binary.Rows, at int, list []uint32) {
	if at < 0 {
		r.Null()
		return
	}
	r.Int4(int32(list[at]))
}

func (t *Intervals) array(r *binary.Rows, at int, list []uint32) {
	if at >= 0 || len(list) == 0 {
		r.Null()
		return
	}
	out := make([]int32, len(list))
	for i, v := range list {
		out[i] = int32(v)
	}
	r.Int4s(out)
}

// delays says how the moments of recording are told: those of the intervals are base, plus step for each interval up to
// theirs, plus up to widest seconds.
func (t *Intervals) delays() (base int64, step int32, widest int64) {
	type span struct{ low, high int64 }
	plain, follow := span{math.MaxInt64, math.MinInt64}, span{math.MaxInt64, math.MinInt64}
	for i, v := range t.Value {
		if math.IsNaN(v) {
			continue
		}
		at := t.Recorded[i]
		plain = span{min(plain.low, at), max(plain.high, at)}
		at -= int64(t.Step) * int64(i+1)
		follow = span{min(follow.low, at), max(follow.high, at)}
	}
	switch {
	case plain.low > plain.high:
		return 0, 0, 0
	case follow.high-follow.low < plain.high-plain.low:
		return follow.low, t.Step, follow.high - follow.low
	}
	return plain.low, 0, plain.high - plain.low
}

func (t *Intervals) writeDelays(r *binary.Rows, base int64, step int32, widest int64) {
	if widest == 0 {
		r.Null()
		r.Null()
		return
	}
	short := make([]byte, len(t.Value))
	long := make([]int32, len(t.Value))
	for i, v := range t.Value {
		if !math.IsNaN(v) {
			d := t.Recorded[i] - base - int64(step)*int64(i+1)
			short[i], long[i] = byte(d), int32(d)
		}
	}
	if widest <= math.MaxUint8 {
		r.Bytes(short)
		r.Null()
		return
	}
	r.Null()
	r.Int4s(long)
}

// width is how many numbers stand for a further version: its place, value, moment and source.
const width = 4

func (t *Intervals) writeMore(r *binary.Rows) {
	if len(t.More) == 0 {
		r.Null()
		return
	}
	list := make([]float64, 0, width*len(t.More))
	for i := range t.More {
		v := &t.More[i]
		list = append(list, float64(v.Place), v.Value, float64(v.Recorded), float64(v.Source))
	}
	r.Float8s(list)
}

// Read reads a row.
func (t *Intervals) Read(columns [][]byte) (err error) {
	*t = Intervals{Channel: uint32(binary.Int(columns[1])), Judged: binary.Int(columns[2]), Value: t.Value[:0], Recorded: t.Recorded[:0], Source: t.Source[:0], Verdict: t.Verdict[:0]}
	if t.Value, err = binary.ReadNumbers(t.Value, columns[12:]); err != nil {
		return err
	}
	n := len(t.Value)
	if t.Source, err = numbers(t.Source, n, columns[5], columns[7]); err != nil {
		return err
	}
	if t.Verdict, err = numbers(t.Verdict, n, columns[6], columns[8]); err != nil {
		return err
	}
	if err := t.readRecorded(binary.Int(columns[3]), binary.Int(columns[4]), columns[9], columns[10]); err != nil {
		return err
	}
	return t.readMore(columns[11])
}

// numbers reads n numbers: one for all, or one each.
func numbers(dst []uint32, n int, one, each []byte) ([]uint32, error) {
	if each == nil {
		for range n {
			dst = append(dst, uint32(binary.Int(one)))
		}
		return dst, nil
	}
	list, err := binary.Ints(nil, each)
	if err == nil && len(list) != n {
		err = errLength
	}
	for _, v := range list {
		dst = append(dst, uint32(v))
	}
	return dst, err
}

func (t *Intervals) readRecorded(base, step int64, short, long []byte) error {
	var each []int32
	var err error
	if long != nil {
		if each, err = binary.Ints(nil, long); err != nil {
			return err
		}
	}
	if (short != nil && len(short) != len(t.Value)) || (long != nil && len(each) != len(t.Value)) {
		return errLength
	}
	for i := range t.Value {
		at := base + step*int64(i+1)
		switch {
		case short != nil:
			at += int64(short[i])
		case long != nil:
			at += int64(each[i])
		}
		t.Recorded = append(t.Recorded, at)
	}
	return nil
}

func (t *Intervals) readMore(column []byte) error {
	list, err := binary.Floats(nil, column)
	if err != nil {
		return err
	}
	if len(list)%width != 0 {
		return errLength
	}
	for ; len(list) > 0; list = list[width:] {
		t.More = append(t.More, Version{Channel: t.Channel, Place: int32(list[0]), Value: list[1], Recorded: int64(list[2]), Source: uint32(list[3])})
	}
	return nil
}

// Each calls f with all versions of the row, the oldest of an interval first.
func (t *Intervals) Each(f func(*Version)) {
	for i, value := range t.Value {
		if math.IsNaN(value) {
			continue
		}
		f(&Version{Channel: t.Channel, Place: int32(i), Source: t.Source[i], Value: value, Recorded: t.Recorded[i]})
		f(&Version{Channel: t.Channel, Place: int32(i), Source: t.Verdict[i], Value: value, Recorded: t.Judged})
	}
	for i := range t.More {
		f(&t.More[i])
	}
}
