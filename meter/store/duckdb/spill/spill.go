// Package spill divides the rows of a table that is larger than memory into parts, in one pass over it. The parts lie in one file
// without a name, which is gone when it is closed or the process ends.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"voltbus/meter/store/duckdb/table"
)

// The bytes of a row are its channel, which is below 2^31, shifted by one, and its value. The lowest bit is set where place, moment of recording or source is
// not that of the row before in the part: they follow the channel then.
const (
	plain   = 12
	longest = plain + 12

	mostBuffered = 32 << 20 // bytes, of all parts
	mostPiece    = 128 << 10
	leastPiece   = 1 << 10
)

// File is rows in parts. It is used by one goroutine at a time: first Put, then Read. Close must be called.
type File struct {
	file  *os.File
	parts []part
	size  int64
	piece int // bytes that are written at a time
	read  []byte
}

type part struct {
	last   table.Row // that was put; its place, moment of recording, and source hold for the next
	buffer []byte
	pieces []piece
}

type piece struct {
	at   int64
	size int
}

// New returns an empty file with so many parts in a folder, which exists.
func New(folder string, parts int) (*File, error) {
	f, err := os.CreateTemp(folder, "batch-*")
	if err != nil {
		return nil, fmt.Errorf("create a file for the rows of a day: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{file: f, parts: make([]part, parts), piece: max(leastPiece, min(mostPiece, mostBuffered/max(parts, 1)))}, nil
}

// Put adds a row to a part, behind those that were put there before.
func (f *File) Put(to int, r table.Row) error {
	p := &f.parts[to]
	if cap(p.buffer)-len(p.buffer) < longest {
		if err := f.flush(p); err != nil {
			return err
		}
	}
	b := p.buffer
	if r.Place == p.last.Place && r.Recorded == p.last.Recorded && r.Source == p.last.Source {
		b = binary.LittleEndian.AppendUint32(b, r.Channel<<1)
	} else {
		b = binary.LittleEndian.AppendUint32(b, r.Channel<<1|1)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.Place))
		b = binary.LittleEndian.AppendUint32(b, r.Recorded)
		b = binary.LittleEndian.AppendUint32(b, r.Source)
		p.last = r
	}
	p.buffer = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Value))
	return nil
}

// flush writes what a part has in memory.
func (f *File) flush(p *part) error {
	if cap(p.buffer) == 0 {
		p.buffer = make([]byte, 0, f.piece)
		return nil
	}
	n, err := f.file.WriteAt(p.buffer, f.size)
	if err != nil {
		return fmt.Errorf("write rows of a day: %w", err)
	}
	p.pieces = append(p.pieces, piece{f.size, n})
	f.size += int64(n)
	p.buffer = p.buffer[:0]
	return nil
}

// Read calls each with the rows of a part in the order in which they were put, and forgets them.
func (f *File) Read(from int, each func(table.Row)) error {
	p := &f.parts[from]
	var r table.Row
	for _, piece := range p.pieces {
		if cap(f.read) < piece.size {
			f.read = make([]byte, f.piece)
		}
		b := f.read[:piece.size]
		if _, err := f.file.ReadAt(b, piece.at); err != nil {
			return fmt.Errorf("read rows of a day: %w", err)
		}
		rows(b, &r, each)
	}
	rows(p.buffer, &r, each)
	*p = part{}
	return nil
}

// rows calls each with the rows of a piece; r is the one before.
func rows(b []byte, r *table.Row, each func(table.Row)) {
	for len(b) >= plain {
		word := binary.LittleEndian.Uint32(b)
		r.Channel = word >> 1
		if word&1 != 0 {
			r.Place, r.Recorded, r.Source = int32(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
			b = b[longest-plain:]
		}
		r.Value = math.Float64frombits(binary.LittleEndian.Uint64(b[4:]))
		b = b[plain:]
		each(*r)
	}
}

// Close gives back the room that the file takes.
func (f *File) Close() error { return f.file.Close() }
