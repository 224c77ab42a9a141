package gate

import (
	"voltbus/meter/store"
	"voltbus/point"
)

// paths are the points of a block while it is filled: texts behind one another, which become one string.
type paths struct {
	text []byte
	ends []int // of each
}

// add takes the text with a path appended to it.
func (p *paths) add(text []byte) {
	p.text, p.ends = text, append(p.ends, len(text))
}

// last is the number of the newest path.
func (p *paths) last() uint32 { return uint32(len(p.ends) - 1) }

// cut moves the paths to a block.
func (p *paths) cut(block *point.Block) {
	all, from := string(p.text), 0
	for _, to := range p.ends {
		block.Points = append(block.Points, point.Path(all[from:to]))
		from = to
	}
	p.text, p.ends = p.text[:0], p.ends[:0]
}

// appendPath appends the point of a reading to dst.
func (b *bulk) appendPath(dst []byte, i int) []byte {
	if k := b.keys[i]; k.Channel != 0 {
		return store.AppendPath(dst, k)
	}
	return append(dst, store.PathOfType(b.keys[i].Meter, b.types[i])...)
}
