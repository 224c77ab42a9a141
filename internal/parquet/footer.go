package parquet

// footer encodes the metadata of the file: its columns, and where which group stands. The numbers are those of parquet.thrift.
func (f *File) footer() []byte {
	r := &record{last: []int16{0}}
	r.int32(1, 2)
	r.structures(2, 1+len(f.columns), func(i int) { f.element(r, i) })
	r.int64(3, f.all)
	r.structures(4, len(f.groups), func(i int) { f.group(r, &f.groups[i]) })
	r.string(6, "voltbus")
	r.structures(7, len(f.columns), func(int) { r.within(1, func() {}) }) // the order of bounds is that of the type
	r.close()
	return r.data
}

// element encodes a column of the schema; 0 is its root.
func (f *File) element(r *record, i int) {
	if i == 0 {
		r.string(4, "readings")
		r.int32(5, len(f.columns))
		return
	}
	c := f.columns[i-1]
	r.int32(1, c.kind.physical)
	repetition := 0
	if c.optional {
		repetition = 1
	}
	r.int32(3, repetition)
	r.string(4, c.name)
	if c.kind.converted >= 0 {
		r.int32(6, c.kind.converted)
	}
	if c.kind.logical != nil {
		r.within(10, func() { c.kind.logical(r) })
	}
}

func (f *File) group(r *record, g *group) {
	size, packed := 0, 0
	for i := range g.chunks {
		size += g.chunks[i].size
		packed += g.chunks[i].end - g.chunks[i].begin
	}
	r.structures(1, len(g.chunks), func(i int) {
		r.int64(2, g.chunks[i].begin)
		r.within(3, func() { f.describe(r, f.columns[i], &g.chunks[i], g.rows) })
	})
	r.int64(2, size)
	r.int64(3, g.rows)
	r.int64(5, g.chunks[0].begin)
	r.int64(6, packed)
}

// describe encodes the metadata of a column of a group.
func (f *File) describe(r *record, c *Column, k *chunk, rows int) {
	encodings := []int{plain, rle}
	if k.dictionary > 0 {
		encodings = append(encodings, dictionary)
	}
	r.int32(1, c.kind.physical)
	r.list(2, integer32, len(encodings))
	for _, e := range encodings {
		r.data = append(r.data, byte(e)<<1) // zigzag
	}
	r.list(3, binaryOf, 1)
	r.text(c.name)
	r.int32(4, zstandard)
	r.int64(5, rows)
	r.int64(6, k.size)
	r.int64(7, k.end-k.begin)
	r.int64(9, k.at)
	if k.dictionary > 0 {
		r.int64(11, k.dictionary)
	}
	r.within(12, func() {
		r.int64(3, k.none)
		if k.least != nil {
			r.bytes(5, k.most)
			r.bytes(6, k.least)
		}
	})
}
