package chunk

import (
	"bytes"
	"io"

	"voltbus/ingest"
)

// ahead is how far beyond the size of a chunk a text is read, so that the end of its last record does not
// depend on what is in memory: a line or cell is at most half of it.
const ahead = 2 * ingest.MaxLine

// lines splits line protocol between two lines.
func (s *Splitter) lines() (Chunk, error) {
	if err := s.fill(s.size + ahead); err != nil {
		return Chunk{}, err
	}
	if len(s.rest) == 0 {
		return Chunk{}, io.EOF
	}
	end := 0
	for end < min(s.size, len(s.rest)) {
		_, behind := ingest.CutLine(s.rest[end:])
		end = len(s.rest) - len(behind)
	}
	return s.text(end), nil
}

// text takes a chunk that ends after a line feed.
func (s *Splitter) text(end int) Chunk {
	p := Chunk{Offset: s.offset, First: s.next, Body: s.take(end)}
	s.next += bytes.Count(p.Body, []byte{'\n'})
	return p
}

// table splits CSV between two records and puts the first line before each chunk.
type table struct {
	*Splitter
	header []byte // everything up to the first record after the column names
	lines  int    // in header
	comma  byte
	begun  bool
	body   []byte
}

func (t *table) cut() (Chunk, error) {
	if err := t.fill(t.size + ahead); err != nil {
		return Chunk{}, err
	}
	first := !t.begun
	if first {
		if len(t.rest) == 0 {
			return Chunk{}, io.EOF
		}
		t.readHeader()
	}
	if len(t.rest) == 0 && !first { // a table without records is sent so that its errors are reported
		return Chunk{}, io.EOF
	}
	end := 0
	for end < min(t.size, len(t.rest)) {
		end = len(t.rest) - len(ingest.CutRecord(t.rest[end:], t.comma))
	}
	p := t.text(end)
	t.body = append(append(t.body[:0], t.header...), p.Body...)
	p.Body, p.Repeated = t.body, t.lines
	return p, nil
}

func (t *table) readHeader() {
	behind, comma := ingest.CutHeader(t.rest)
	t.begun, t.comma = true, comma
	t.header = bytes.Clone(t.take(len(t.rest) - len(behind)))
	if n := len(t.header); n > 0 && t.header[n-1] != '\n' {
		t.header = append(t.header, '\n')
	}
	t.lines = bytes.Count(t.header, []byte{'\n'})
	t.next += t.lines
}
