// Package chunk splits a file with readings into request bodies that a node accepts one after another. It holds one of them in memory,
// however long the file is, and splits the same file at the same positions each time, so that a chunk that is sent again is
// recognised.
package chunk

import (
	"errors"
	"fmt"
	"io"

	"voltbus/fault"
	"voltbus/ingest"
)

// DefaultSize is the size of a chunk in bytes by default: some ten thousand readings.
const DefaultSize = 4 << 20

// maxSize bounds a single record, such as one series of JSON: a node accepts at most 32 MiB.
const maxSize = 30 << 20

// Chunk is a part of a file in the file's format.
type Chunk struct {
	Body   []byte // valid until the next call of Next
	Offset int64  // of its own first byte in the file
	// First is where its own content begins: the line of a text, or the number of the reading
	// in JSON and of the record in SenML, from 1.
	First int
	// Repeated is how many lines or records at the beginning of Body are repeated because the following ones
	// need them: the first line of a table, the base fields of SenML.
	Repeated int
}

// Line returns the position in the file of line or reading n of the body.
func (p *Chunk) Line(n int) int {
	if n <= p.Repeated {
		return max(1, n)
	}
	return p.First + n - p.Repeated - 1
}

// Splitter splits one file. It is not safe for concurrent use.
type Splitter struct {
	window
	cut  func() (Chunk, error)
	next int // line or number after the last chunk
}

var errLarge = fmt.Errorf("has more than %d MiB, which cannot be cut; write it as several records", maxSize>>20)

// New returns a splitter for r, with chunks of about size bytes; 0 for DefaultSize.
func New(r io.Reader, f ingest.Format, size int) (*Splitter, error) {
	if size <= 0 {
		size = DefaultSize
	}
	s := &Splitter{window: window{from: r, size: min(size, maxSize)}, next: 1}
	switch f {
	case ingest.Line:
		s.cut = s.lines
	case ingest.CSV:
		s.cut = (&table{Splitter: s}).cut
	case ingest.JSON:
		s.cut = (&array{Splitter: s}).cut
	case ingest.SenML:
		s.cut = (&array{Splitter: s, senml: true}).cut
	case ingest.SenMLCBOR:
		s.cut = s.whole
	default:
		return nil, fault.E("chunk.New", fault.Internal, "", fmt.Errorf("there is no format %d", f))
	}
	return s, nil
}

// Next returns the next chunk, and io.EOF after the last. Other errors are fault.Invalid for a file that
// cannot be split, and those of reading.
func (s *Splitter) Next() (Chunk, error) { return s.cut() }

// whole returns all of a file that is not split.
func (s *Splitter) whole() (Chunk, error) {
	if s.next > 1 {
		return Chunk{}, io.EOF
	}
	if err := s.fill(maxSize); err != nil {
		return Chunk{}, err
	}
	if !s.ended {
		return Chunk{}, wrong("", errLarge)
	}
	s.next++
	return Chunk{Body: s.take(len(s.rest)), First: 1}, nil
}

// window is the part of the file that is in memory.
type window struct {
	from   io.Reader
	size   int // of a chunk
	buf    []byte
	rest   []byte // of buf: the part not taken yet
	offset int64  // of rest in the file
	ended  bool   // rest is the end of the file
}

// fill reads until rest has n bytes, or is the end of the file.
func (w *window) fill(n int) error {
	if w.ended || len(w.rest) >= n {
		return nil
	}
	if cap(w.buf) < n {
		w.buf = make([]byte, 0, n)
		w.buf = append(w.buf, w.rest...)
	} else {
		w.buf = w.buf[:copy(w.buf[:cap(w.buf)], w.rest)]
	}
	have := len(w.buf)
	got, err := io.ReadFull(w.from, w.buf[have:n])
	w.buf = w.buf[:have+got]
	w.rest = w.buf
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		w.ended = true
		return nil
	}
	if err != nil {
		return fault.E("chunk.Next", fault.Unavailable, "", fmt.Errorf("read the file: %w", err))
	}
	return nil
}

// take consumes n bytes and returns them; they are valid until the next fill.
func (w *window) take(n int) []byte {
	taken := w.rest[:n]
	w.rest, w.offset = w.rest[n:], w.offset+int64(n)
	return taken
}

func wrong(subject string, err error) error {
	return fault.E("chunk.Next", fault.Invalid, subject, err)
}
