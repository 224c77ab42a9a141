package store

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
)

// Batch is raw readings in columns. The columns have equal length.
type Batch struct {
	Log      string // the log behind whose entry Sequence they stand; "" if they are of none
	Sequence uint64

	Keys    []ChannelKey // every channel of the batch, once or more
	Senders []string     // who sent readings

	Key    []uint32 // index into Keys
	Sender []uint32 // index into Senders
	End    []int64  // of the interval, Unix microseconds; what is finer than milliseconds is cut off
	Value  []float64

	// Keeps reports whether readings of a meter are taken from blocks; nil for all.
	Keeps func(meter string) bool
}

// Len returns how many readings there are.
func (b *Batch) Len() int { return len(b.Key) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	clear(b.Keys)
	*b = Batch{Keys: b.Keys[:0], Senders: b.Senders[:0], Key: b.Key[:0], Sender: b.Sender[:0], End: b.End[:0], Value: b.Value[:0]}
}

// Grow makes room for so many more channels and readings.
func (b *Batch) Grow(keys, readings int) {
	b.Keys = slices.Grow(b.Keys, keys)
	b.Key, b.Sender = slices.Grow(b.Key, readings), slices.Grow(b.Sender, readings)
	b.End, b.Value = slices.Grow(b.End, readings), slices.Grow(b.Value, readings)
}

// Add appends a reading of the key and sender that were added last.
func (b *Batch) Add(end int64, value float64) {
	b.Key = append(b.Key, uint32(len(b.Keys)-1))
	b.Sender = append(b.Sender, uint32(len(b.Senders)-1))
	b.End, b.Value = append(b.End, end), append(b.Value, value)
}

// Branch holds the points of readings in blocks of the log: meters/<meter>/<channel>.
const Branch = "meters/"

// SenderPoint is the point whose text says who sent the samples behind it in a block.
const SenderPoint point.Path = "meters/sender"

// PathOf returns the point of a channel.
func PathOf(k ChannelKey) point.Path {
	return point.Path(AppendPath(make([]byte, 0, len(Branch)+len(k.Meter)+6), k))
}

// AppendPath appends the text of PathOf to dst.
func AppendPath(dst []byte, k ChannelKey) []byte {
	dst = append(append(append(dst, Branch...), k.Meter...), '/')
	return strconv.AppendInt(dst, int64(k.Channel), 10)
}

// KeyOf is the inverse of PathOf; false for a point that is none of a channel.
func KeyOf(p point.Path) (ChannelKey, bool) {
	rest, ok := strings.CutPrefix(string(p), Branch)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at <= 0 {
		return ChannelKey{}, false
	}
	n, err := strconv.ParseUint(rest[at+1:], 10, 16)
	if err != nil || n == 0 || rest[at+1] == '0' {
		return ChannelKey{}, false
	}
	return ChannelKey{Meter: rest[:at], Channel: int(n)}, true
}

// Take adds the readings of a block of the log, and its place. Samples that are no readings are left out; their
// number is returned. Who sent readings, and the ends of their intervals, is believed of blocks whose origin is own, which were judged
// on the way in; in those of another node the sender is what that node says, and begins with its origin, and what is not Plausible is
// left out.
func (b *Batch) Take(block *point.Block, own string, now time.Time) (left int) {
	const none = ^uint32(0)
	keys := make([]uint32, len(block.Points))
	for i, p := range block.Points {
		keys[i] = none
		if k, ok := KeyOf(p); ok && (b.Keeps == nil || b.Keeps(k.Meter)) {
			keys[i] = uint32(len(b.Keys))
			b.Keys = append(b.Keys, k)
		}
	}
	from := NodeSender(block.Origin)
	b.Senders = append(b.Senders, from)
	for i, p := range block.Point {
		switch kind := block.Kind[i]; {
		case kind == point.Text && block.Points[p] == SenderPoint:
			name := block.Texts[block.Bits[i]]
			if block.Origin != own {
				name = from + "/" + name
			}
			b.Senders = append(b.Senders, name)
		case kind == point.Float && keys[p] != none && (block.Origin == own || Plausible(block.Time[i], now)):
			b.Key, b.Sender = append(b.Key, keys[p]), append(b.Sender, uint32(len(b.Senders)-1))
			b.End, b.Value = append(b.End, block.Time[i]), append(b.Value, math.Float64frombits(block.Bits[i]))
		default:
			left++
		}
	}
	b.Log, b.Sequence = block.Log, block.LogSequence
	return left
}

// PassedBy is the sender of readings that somebody sent to another member of a cluster, which passed them on: member:<name>/<sender>.
func PassedBy(member, sender string) string { return member + "/" + sender }

// MemberMark begins senders whose readings a member of a cluster passed on. No other sender begins so.
const MemberMark = "member:"

// nodeMark begins the sender of what came in a block of another node.
const nodeMark = "node:"

// OriginOf returns the origin of the block in which a sender's readings came; "" for senders of this node.
func OriginOf(sender string) string {
	rest, ok := strings.CutPrefix(sender, nodeMark)
	if !ok {
		return ""
	}
	origin, _ := point.CutMeterOrigin(rest)
	return origin
}

// NodeSender is the sender of readings of an origin of which nothing else says who sent them.
func NodeSender(origin string) string { return nodeMark + origin }

// MaxSenders is how many senders a store tells apart. Those of another node that come later are known by its origin alone.
const MaxSenders = 100_000

// The ends of intervals that can be right: from 1980 on, and not more than a year ahead.
const (
	earliest  = 315_532_800_000_000
	mostAhead = 366 * 24 * time.Hour
)

// Plausible reports whether an interval may end then, in Unix microseconds.
func Plausible(end int64, now time.Time) bool {
	return end >= earliest && end <= now.Add(mostAhead).UnixMicro()
}

// Check returns an error if the columns do not fit each other.
func (b *Batch) Check() error {
	n := b.Len()
	if len(b.Sender) != n || len(b.End) != n || len(b.Value) != n {
		return fmt.Errorf("columns of %d, %d, %d and %d readings: give as many", n, len(b.Sender), len(b.End), len(b.Value))
	}
	for i := range n {
		if int(b.Key[i]) >= len(b.Keys) || int(b.Sender[i]) >= len(b.Senders) {
			return fmt.Errorf("reading %d: refers to a channel or sender that the batch does not hold", i)
		}
	}
	return nil
}
