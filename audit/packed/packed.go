// Package packed reads and writes compressed files of JSON lines, with their checksums.
package packed

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// Unfinished is the prefix of files being written.
const Unfinished = "unfinished-"

// Sum is the SHA-256 of a file.
type Sum = [sha256.Size]byte

// Writer writes a file. One goroutine at a time may use it; call Finish or Abandon.
type Writer struct {
	file   *os.File
	sum    hash.Hash
	packed *gzip.Writer
	encode *json.Encoder
}

// Create begins a file in a folder, which is created if absent, with its first line.
func Create(dir string, first any) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, Unfinished+"*")
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, sum: sha256.New()}
	w.packed = gzip.NewWriter(io.MultiWriter(file, w.sum))
	w.encode = json.NewEncoder(w.packed)
	w.encode.SetEscapeHTML(false) // strings stay as they are
	if err := w.encode.Encode(first); err != nil {
		return nil, errors.Join(err, w.Abandon())
	}
	return w, nil
}

// Add writes a line.
func (w *Writer) Add(line any) error { return w.encode.Encode(line) }

// Finish puts the file on disk under its name in the folder, and returns its sum and its size in bytes.
func (w *Writer) Finish(name string) (sum Sum, size int64, err error) {
	err = errors.Join(w.packed.Close(), w.file.Sync())
	info, statErr := w.file.Stat()
	if err = errors.Join(err, statErr); err != nil {
		return sum, 0, errors.Join(err, w.Abandon())
	}
	w.sum.Sum(sum[:0])
	dir := filepath.Dir(w.file.Name())
	err = errors.Join(w.file.Close(), os.Rename(w.file.Name(), filepath.Join(dir, name)))
	if err == nil {
		err = syncFolder(dir)
	}
	return sum, info.Size(), err
}

// Abandon removes the unfinished file.
func (w *Writer) Abandon() error {
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read passes on the lines of a file after the first one, which it passes to begin, and returns the sum of the
// file, even of one that cannot be read to its end. It stops when a function fails.
func Read[T any](ctx context.Context, file string, begin func(decode *json.Decoder) error, emit func(*T) error) (sum Sum, err error) {
	f, err := os.Open(file)
	if err != nil {
		return Sum{}, err
	}
	defer f.Close()
	digest := sha256.New()
	in := io.TeeReader(bufio.NewReaderSize(f, 1<<16), digest)
	err = decodeLines(ctx, in, begin, emit)
	if _, rest := io.Copy(io.Discard, in); rest != nil && err == nil {
		err = rest
	}
	digest.Sum(sum[:0])
	return sum, err
}

func decodeLines[T any](ctx context.Context, in io.Reader, begin func(decode *json.Decoder) error, emit func(*T) error) error {
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("the archive cannot be unpacked: %w", err)
	}
	decode := json.NewDecoder(unpacked)
	if err := begin(decode); err != nil {
		return err
	}
	for ctx.Err() == nil {
		var line T
		if err := decode.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("the archive cannot be read to its end: %w", err)
		}
		if err := emit(&line); err != nil {
			return err
		}
	}
	return ctx.Err()
}
