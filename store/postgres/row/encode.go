package row

import (
	"encoding/binary"
	"io"
	"math"
	"strings"

	"voltbus/point"
)

// epoch is PostgreSQL's beginning of time, 2000-01-01, in microseconds since 1970.
const epoch = 946_684_800_000_000

// copyHeader begins data for COPY BINARY: its name, no flags, no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copyReader encodes rows in the form of COPY BINARY as they are read.
type copyReader struct {
	load *Load
	rows []Ref
	buf  []byte
	rest []byte // of buf, not read yet
	done bool
}

// chunk is how much is encoded at a time.
const chunk = 64 << 10

// Reader returns the rows in the form of COPY BINARY.
func (l *Load) Reader(rows []Ref) *copyReader {
	r := &copyReader{load: l, rows: rows, buf: make([]byte, 0, chunk+1024)}
	r.rest = append(r.buf, copyHeader...)
	return r
}

// Read implements io.Reader.
func (r *copyReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.done {
			return 0, io.EOF
		}
		r.fill()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *copyReader) fill() {
	b := r.buf[:0]
	for len(r.rows) > 0 && len(b) < chunk {
		b = r.row(b, &r.rows[0])
		r.rows = r.rows[1:]
	}
	if len(r.rows) == 0 {
		b = binary.BigEndian.AppendUint16(b, math.MaxUint16)
		r.done = true
	}
	r.buf, r.rest = b, b
}

var null = []byte{0xff, 0xff, 0xff, 0xff} //nolint:gochecknoglobals // the length of a value that is not there

const columns = 7

func (r *copyReader) row(b []byte, at *Ref) []byte {
	block := r.load.blocks[at.block]
	kind, bits := block.Kind[at.at], block.Bits[at.at]
	b = binary.BigEndian.AppendUint16(b, columns)
	b = appendInt64(b, at.time-epoch)
	value, exact, isExact := number(kind, bits)
	if kind == point.None || kind == point.Text {
		b = append(b, null...)
	} else {
		b = appendInt64(b, int64(math.Float64bits(value)))
	}
	b = binary.BigEndian.AppendUint32(b, 4)
	b = binary.BigEndian.AppendUint32(b, uint32(at.id))
	b = binary.BigEndian.AppendUint32(b, 2)
	b = binary.BigEndian.AppendUint16(b, uint16(kind)<<8|uint16(block.Quality[at.at]))
	if isExact {
		b = appendInt64(b, exact)
	} else {
		b = append(b, null...)
	}
	if kind != point.Text {
		b = append(b, null...)
		return append(b, null...)
	}
	return appendText(b, block.Texts[bits])
}

// number returns the number of a value as a double, and also exactly if a double rounds it.
func number(kind point.Kind, bits uint64) (value float64, exact int64, isExact bool) {
	switch kind {
	case point.Float:
		return math.Float64frombits(bits), 0, false
	case point.Int, point.Bool:
		n := int64(bits)
		return float64(n), n, n > 1<<53 || n < -1<<53
	case point.None, point.Text:
	}
	return 0, 0, false
}

// appendText appends the columns text and bytes: the second holds a text with NUL characters, which the first
// cannot hold and shows as ␀.
func appendText(b []byte, text string) []byte {
	shown := text
	if strings.Contains(text, "\x00") {
		shown = strings.ReplaceAll(text, "\x00", "␀")
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(shown)))
	b = append(b, shown...)
	if shown == text {
		return append(b, null...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	return append(b, text...)
}

func appendInt64(b []byte, v int64) []byte {
	b = binary.BigEndian.AppendUint32(b, 8)
	return binary.BigEndian.AppendUint64(b, uint64(v))
}
