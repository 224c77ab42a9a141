package table

import (
	"math"

	"voltbus/meter/store/postgres/binary"
)

// Bucket is what is known of the judged channels of a bucket on a day.
type Bucket struct {
	Number   uint32
	Channels []int16 // of those with intervals, counted from the first of the bucket, ascending
	Total    []float64
	Highest  []float64
	Lacking  []int32 // intervals without a raw reading: see Lack
}

// placeBits are those of the place of an interval in a Lacking.
const placeBits = 17

// Lack returns the number of an interval in a bucket.
func Lack(channel uint32, place int) int32 {
	return int32(channel&(1<<BucketBits-1))<<placeBits | int32(place)
}

// Lacks is the inverse of Lack, for a bucket with that first channel.
func Lacks(first uint32, k int32) (channel uint32, place int) {
	return first + uint32(k)>>placeBits, int(k & (1<<placeBits - 1))
}

// BucketColumns are those that Bucket.Write writes and Bucket.Read reads.
const BucketColumns = "day, bucket, channels, total, highest, lacking"

// Write writes the row.
func (b *Bucket) Write(r *binary.Rows, day int32) {
	r.Begin(6)
	r.Int4(day)
	r.Int4(int32(b.Number))
	r.Int2s(b.Channels)
	r.Float8s(b.Total)
	r.Float8s(b.Highest)
	r.Int4s(b.Lacking)
}

// Read reads a row.
func (b *Bucket) Read(columns [][]byte) error {
	*b = Bucket{Number: uint32(binary.Int(columns[1]))}
	channels, err := binary.Ints(nil, columns[2])
	if err != nil {
		return err
	}
	for _, c := range channels {
		b.Channels = append(b.Channels, int16(c))
	}
	if b.Total, err = binary.Floats(nil, columns[3]); err != nil {
		return err
	}
	if b.Highest, err = binary.Floats(nil, columns[4]); err != nil {
		return err
	}
	if len(b.Total) != len(b.Channels) || len(b.Highest) != len(b.Channels) {
		return errLength
	}
	b.Lacking, err = binary.Ints(nil, columns[5])
	return err
}

// Summing makes the row of a bucket anew, channel by channel.
type Summing struct {
	before, sum *Bucket
	first       uint32 // channel
	at, lack    int    // in before
}

// Anew begins with the row as it is; nil for none. The channels follow in ascending order.
func Anew(before *Bucket, number uint32) *Summing {
	if before == nil {
		before = &Bucket{}
	}
	return &Summing{before: before, sum: &Bucket{Number: number}, first: number << BucketBits}
}

// Bucket returns the row.
func (w *Summing) Bucket() *Bucket { return w.sum }

// Keep takes over what is known of a channel.
func (w *Summing) Keep(channel uint32) {
	w.skip(channel)
	if w.at >= len(w.before.Channels) || uint32(w.before.Channels[w.at]) != channel-w.first {
		return
	}
	w.put(channel, w.before.Total[w.at], w.before.Highest[w.at])
	for ; w.lack < len(w.before.Lacking); w.lack++ {
		if c, _ := Lacks(w.first, w.before.Lacking[w.lack]); c != channel {
			return
		}
		w.sum.Lacking = append(w.sum.Lacking, w.before.Lacking[w.lack])
	}
}

// skip leaves out what is known of the channels before one.
func (w *Summing) skip(channel uint32) {
	for w.at < len(w.before.Channels) && uint32(w.before.Channels[w.at]) < channel-w.first {
		w.at++
	}
	for ; w.lack < len(w.before.Lacking); w.lack++ {
		if c, _ := Lacks(w.first, w.before.Lacking[w.lack]); c >= channel {
			return
		}
	}
}

func (w *Summing) put(channel uint32, total, highest float64) {
	w.sum.Channels = append(w.sum.Channels, int16(channel-w.first))
	w.sum.Total, w.sum.Highest = append(w.sum.Total, total), append(w.sum.Highest, highest)
}

// Set notes a channel that was judged, with its newest raw readings, NaN where there is none.
func (w *Summing) Set(channel uint32, values []float64, total, highest float64) {
	w.put(channel, total, highest)
	for i, v := range values {
		if math.IsNaN(v) {
			w.sum.Lacking = append(w.sum.Lacking, Lack(channel, i))
		}
	}
}
