// Package parquet writes tables as files of Apache Parquet 2, which Spark, Trino, DuckDB and pandas read. It implements only the few types
// and encodings that readings need: a complete library would add 20 % to the program's size.
package parquet

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// groupRows is how many rows a group has: readers share the groups of a file among processors, and skip those whose bounds do not match.
const groupRows = 128 << 10

const magic = "PAR1"

// The numbers of the standard for what is used here.
const (
	plain      = 0
	rle        = 3
	dictionary = 8
	zstandard  = 6

	dataPage       = 0
	dictionaryPage = 2

	dataHeader       = 5 // fields of a page's header
	dictionaryHeader = 7
)

// File is a file that is being written, in memory. It is used by one goroutine.
type File struct {
	out     []byte
	columns []*Column
	rows    int // of the group
	all     int
	groups  []group
	pack    *zstd.Encoder
	scratch []byte
}

type group struct {
	rows   int
	chunks []chunk
}

type chunk struct {
	at, dictionary int // offsets of pages; dictionary 0 for none
	begin, end     int
	size           int // not compressed
	none           int
	least, most    []byte
}

// New returns a file without columns. Columns come before rows.
func New() (*File, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return &File{out: []byte(magic), pack: pack}, err
}

func (f *File) add(name string, k kind, optional bool) *Column {
	c := &Column{name: name, kind: k, optional: optional}
	if k.physical == text.physical {
		c.number = map[string]uint32{}
	}
	f.columns = append(f.columns, c)
	return c
}

// Text adds a column of texts.
func (f *File) Text(name string, optional bool) *Column { return f.add(name, text, optional) }

// Time adds a column of times in microseconds, in UTC.
func (f *File) Time(name string) *Column { return f.add(name, time, false) }

// Float adds a column of numbers.
func (f *File) Float(name string) *Column { return f.add(name, double, true) }

// Int adds a column of whole numbers.
func (f *File) Int(name string) *Column { return f.add(name, int64s, true) }

// Row ends a row: each column got one value, or none.
func (f *File) Row() {
	if f.rows++; f.rows == groupRows {
		f.flush()
	}
}

// Close returns the content of the file.
func (f *File) Close() []byte {
	f.flush()
	footer := f.footer()
	f.out = append(f.out, footer...)
	f.out = binary.LittleEndian.AppendUint32(f.out, uint32(len(footer)))
	_ = f.pack.Close()
	return append(f.out, magic...)
}

// flush writes a group.
func (f *File) flush() {
	if f.rows == 0 {
		return
	}
	g := group{rows: f.rows}
	for _, c := range f.columns {
		g.chunks = append(g.chunks, f.chunk(c))
		c.reset()
	}
	f.groups = append(f.groups, g)
	f.all += f.rows
	f.rows = 0
}

// chunk writes a column of a group.
func (f *File) chunk(c *Column) chunk {
	k := chunk{begin: len(f.out), none: c.none}
	k.least, k.most = c.bounds()
	body := c.levels(f.scratch[:0])
	encoding := plain
	if c.number != nil {
		k.dictionary = len(f.out)
		k.size += f.page(c.values, dictionaryPage, dictionaryHeader, len(c.number), plain)
		encoding = dictionary
		width := widthOf(len(c.number))
		body = appendHybrid(append(body, byte(width)), c.indexes, width)
	} else {
		body = append(body, c.values...)
	}
	k.at = len(f.out)
	k.size += f.page(body, dataPage, dataHeader, f.rows, encoding)
	f.scratch, k.end = body, len(f.out)
	return k
}

// page writes a page with a number of values, and returns its size before the compression.
func (f *File) page(body []byte, kind int, header int16, n, encoding int) int {
	packed := f.pack.EncodeAll(body, nil)
	r := &record{last: []int16{0}}
	r.int32(1, kind)
	r.int32(2, len(body))
	r.int32(3, len(packed))
	r.within(header, func() {
		r.int32(1, n)
		r.int32(2, encoding)
		if kind == dataPage {
			r.int32(3, rle)
			r.int32(4, rle)
		}
	})
	r.close()
	f.out = append(append(f.out, r.data...), packed...)
	return len(r.data) + len(body)
}
