package newest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"voltbus/point"
)

// A file begins with magic, the number of rows and the number of texts, 8 bytes each, followed by the rows and then
// the texts, each preceded by its row and its length, 4 bytes each. Numbers are little-endian.
const (
	magic      = "VBNEWST1"
	headLength = len(magic) + 16
	rowLength  = 20
	wordLength = 8
)

// The flags of a row.
const (
	isKnown = 1 << iota
	isWorded
)

var errFile = errors.New("the file does not hold newest samples, or others than it should")

// Write writes the table, and returns the XXH3 of what it wrote.
func (t *Table) Write(to io.Writer) (checksum uint64, err error) {
	sum := xxh3.New()
	w := bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<16)
	head := append(make([]byte, 0, headLength), magic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(t.rows.Len()))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(t.texts)))
	_, _ = w.Write(head) // Flush returns the error
	for n := range uint32(t.rows.Len()) {
		r := t.rows.At(n)
		_, _ = w.Write(r.append(w.AvailableBuffer()))
	}
	for n, text := range t.texts {
		b := binary.LittleEndian.AppendUint32(w.AvailableBuffer(), n)
		_, _ = w.Write(binary.LittleEndian.AppendUint32(b, uint32(len(text))))
		_, _ = w.WriteString(text)
	}
	err = w.Flush()
	return sum.Sum64(), err
}

func (r *row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.time.get())
	b = binary.LittleEndian.AppendUint64(b, r.bits.get())
	flags := byte(0)
	if r.known {
		flags |= isKnown
	}
	if r.worded {
		flags |= isWorded
	}
	return append(b, byte(r.kind), byte(r.quality), flags, 0)
}

// Read returns the table from a file of the given size and checksum. It must not have more than the given number of
// numbers.
func Read(from io.Reader, length int64, checksum uint64, most int) (*Table, error) {
	sum := xxh3.New()
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(from, length), sum), 1<<16)
	var head [headLength]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", errFile, err)
	}
	rows, texts := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	room := uint64(max(0, length-int64(headLength)))
	if string(head[:len(magic)]) != magic || rows > uint64(max(0, most)) || rows > room/rowLength || texts > rows || texts > room/wordLength {
		return nil, errFile
	}
	t := &Table{}
	t.rows.Grow(int(rows))
	for n := range uint32(rows) {
		b, err := r.Peek(rowLength)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errFile, err)
		}
		t.rows.Set(n, rowOf(b))
		_, _ = r.Discard(rowLength) // already buffered
	}
	for range texts {
		if err := t.readText(r, room); err != nil {
			return nil, fmt.Errorf("%w: %w", errFile, err)
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) || sum.Sum64() != checksum {
		return nil, errFile
	}
	return t, nil
}

func rowOf(b []byte) row {
	le := binary.LittleEndian
	return row{
		time: word64Of(le.Uint64(b)), bits: word64Of(le.Uint64(b[8:])), kind: point.Kind(b[16]), quality: point.Quality(b[17]),
		known: b[18]&isKnown != 0, worded: b[18]&isWorded != 0,
	}
}

// readText reads a text of bounded length.
func (t *Table) readText(r *bufio.Reader, most uint64) error {
	var head [wordLength]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n, length := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if int(n) >= t.rows.Len() || uint64(length) > most {
		return errFile
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	t.Say(n, string(text))
	return nil
}
