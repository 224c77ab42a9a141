package sender

import (
	"time"

	"voltbus/point"
)

// maxText is how many bytes of strings a frame collects: it must fit into a bus message.
const maxText = 1 << 20

// batch merges consecutive blocks of one origin into one.
type batch struct {
	block    point.Block
	index    map[point.Path]uint32
	text     int
	log      uint64    // log position of its first block
	previous uint64    // sequence number up to which the origin was sent before it
	since    time.Time // when it was begun
}

// begin makes the batch empty, for blocks from the given one on.
func (b *batch) begin(from *point.Block, log uint64, lost string) {
	b.block.Reset()
	if b.index == nil {
		b.index = map[point.Path]uint32{}
	}
	clear(b.index)
	b.text, b.log, b.since = 0, log, time.Now()
	b.block.Origin, b.block.First, b.block.Before, b.block.Lost = from.Origin, from.FirstSequence(), from.Before, lost
}

// fits reports whether a block may come into the same frame: it follows, and there is room.
func (b *batch) fits(next *point.Block, most, text int) bool {
	return next.FirstSequence() == b.block.Sequence+1 && next.Lost == "" && next.Before == b.block.End() &&
		b.block.Len()+next.Len() <= most && b.text+textOf(next) <= text
}

func textOf(b *point.Block) int {
	n := 0
	for _, t := range b.Texts {
		n += len(t)
	}
	return n
}

// add appends the selected samples of a block, and counts the others.
func (b *batch) add(from *point.Block, names *paths) {
	out := &b.block
	out.Sequence, out.Refused, out.Created = from.Sequence, from.Refused, from.Created
	out.Left += from.Left
	places := make([]int32, len(from.Points))
	for i, path := range from.Points {
		if point.IsMeterOrigin(from.Origin) { // readings name meters, not places: they have the same path in all systems
			places[i] = b.place(names.unnamed(path))
			continue
		}
		places[i] = b.place(names.of(path))
	}
	texts := uint64(len(out.Texts))
	out.Texts = append(out.Texts, from.Texts...)
	b.text += textOf(from)
	for i, p := range from.Point {
		at := places[p]
		if at < 0 {
			out.Left++
			continue
		}
		bits := from.Bits[i]
		if from.Kind[i] == point.Text {
			bits += texts
		}
		out.Point = append(out.Point, uint32(at))
		out.Time = append(out.Time, from.Time[i])
		out.Kind = append(out.Kind, from.Kind[i])
		out.Quality = append(out.Quality, from.Quality[i])
		out.Bits = append(out.Bits, bits)
	}
}

// place returns the index of a path in the dictionary; -1 for one that is left out.
func (b *batch) place(path point.Path) int32 {
	if path == "" {
		return -1
	}
	at, ok := b.index[path]
	if !ok {
		at = uint32(len(b.block.Points))
		b.block.Points = append(b.block.Points, path)
		b.index[path] = at
	}
	return int32(at)
}

// close completes the block. Strings of points that are left out must not be sent.
func (b *batch) close() *point.Block {
	out := &b.block
	if out.First == out.Sequence {
		out.First = 0
	}
	used := 0
	for _, k := range out.Kind {
		if k == point.Text {
			used++
		}
	}
	if used == len(out.Texts) {
		return out
	}
	texts := make([]string, 0, used)
	for i, k := range out.Kind {
		if k == point.Text {
			texts = append(texts, out.Texts[out.Bits[i]])
			out.Bits[i] = uint64(len(texts) - 1)
		}
	}
	out.Texts = texts
	return out
}
