package parquet

import "encoding/binary"

// record encodes structures in Thrift's compact protocol, as far as the metadata of a file needs it.
type record struct {
	data []byte
	last []int16 // number of the last field, for each open structure
}

// The types of the compact protocol.
const (
	yes       = 1
	integer32 = 5
	integer64 = 6
	binaryOf  = 8
	listOf    = 9
	structure = 12
)

// field begins a field: its number is written as the distance to the one before it.
func (r *record) field(id int16, kind byte) {
	top := &r.last[len(r.last)-1]
	r.data = append(r.data, byte(id-*top)<<4|kind) //nolint:mnd // numbers of fields of these structures are less than 16 apart
	*top = id
}

func (r *record) open() { r.last = append(r.last, 0) }

func (r *record) close() {
	r.data = append(r.data, 0)
	r.last = r.last[:len(r.last)-1]
}

// within writes a field that is a structure.
func (r *record) within(id int16, write func()) {
	r.field(id, structure)
	r.open()
	write()
	r.close()
}

func (r *record) int32(id int16, v int) {
	r.field(id, integer32)
	r.data = binary.AppendVarint(r.data, int64(v))
}

func (r *record) int64(id int16, v int) {
	r.field(id, integer64)
	r.data = binary.AppendVarint(r.data, int64(v))
}

func (r *record) truth(id int16) { r.field(id, yes) }

func (r *record) bytes(id int16, v []byte) {
	r.field(id, binaryOf)
	r.text(string(v))
}

func (r *record) string(id int16, v string) {
	r.field(id, binaryOf)
	r.text(v)
}

func (r *record) text(v string) {
	r.data = binary.AppendUvarint(r.data, uint64(len(v)))
	r.data = append(r.data, v...)
}

// list begins a field that is a list of n elements.
func (r *record) list(id int16, kind byte, n int) {
	const short = 15
	r.field(id, listOf)
	if n < short {
		r.data = append(r.data, byte(n)<<4|kind)
		return
	}
	r.data = append(r.data, short<<4|kind)
	r.data = binary.AppendUvarint(r.data, uint64(n))
}

// structures writes a field that is a list of structures.
func (r *record) structures(id int16, n int, write func(i int)) {
	r.list(id, structure, n)
	for i := range n {
		r.open()
		write(i)
		r.close()
	}
}
