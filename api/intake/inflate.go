package intake

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/fault"
)

// Bounds of bodies with readings.
const (
	ingestBody    = 32 << 20 // bytes of a body, compressed and inflated
	ingestMemory  = 8 * ingestBody
	eachIngestion = ingestMemory / 2  // for one person
	messageMemory = 1 << 30           // for the decoded content of messages with meter readings, see weight
	eachMessages  = messageMemory / 2 // for one person
	firstRoom     = 64 << 10          // initial buffer for a body of unknown length
	keptRoom      = 4 << 20           // largest buffer that is reused
	zstdWindow    = 8 << 20
)

var (
	errEncoding = errors.New("the body's Content-Encoding is not known; there are gzip, zstd and identity")
	errInflate  = errors.New("the body cannot be inflated; is it complete, and compressed as Content-Encoding says?")
	errBodies   = errors.New("too many large bodies are being read; send this one again in a moment")
	errBodySize = fmt.Errorf("the body has more than %d MiB; send it in parts", ingestBody>>20)
)

// inflater reads bodies, compressed or not, into memory with a common bound.
type inflater struct {
	shares *bound.Places // in bytes
	gzips  sync.Pool     // of *gzip.Reader
	zstds  sync.Pool     // of *zstd.Decoder
	rooms  sync.Pool     // of *body
}

// body is a body in memory.
type body struct {
	data []byte
	held int64
	who  string // whose bytes they are
	from *inflater
}

// read reads the body of a caller's request. Release it after use.
func (in *inflater) read(r *http.Request, who string) (*body, error) {
	b, ok := in.rooms.Get().(*body)
	if !ok {
		b = &body{from: in}
	}
	b.data, b.who = b.data[:0], who
	err := b.grow(min(max(r.ContentLength+1, firstRoom), ingestBody+1))
	if err == nil {
		err = in.inflate(b, r)
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (in *inflater) inflate(b *body, r *http.Request) error {
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
		return b.fill(r.Body)
	case "gzip":
		z, ok := in.gzips.Get().(*gzip.Reader)
		if !ok {
			z = new(gzip.Reader)
		}
		defer in.gzips.Put(z)
		if err := z.Reset(r.Body); err != nil {
			return unreadable(err)
		}
		return b.fill(z)
	case "zstd":
		z, ok := in.zstds.Get().(*zstd.Decoder)
		if !ok {
			var err error
			z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*ingestBody), zstd.WithDecoderMaxWindow(zstdWindow))
			if err != nil {
				return fault.E("api.inflate", fault.Internal, "zstd", err)
			}
		}
		defer in.zstds.Put(z)
		if err := z.Reset(r.Body); err != nil {
			return unreadable(err)
		}
		return b.fill(z)
	}
	return exchange.Fail(http.StatusUnsupportedMediaType, errEncoding)
}

// fill reads everything.
func (b *body) fill(r io.Reader) error {
	for {
		if len(b.data) == cap(b.data) {
			if err := b.grow(2 * int64(cap(b.data))); err != nil {
				return err
			}
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case len(b.data) > ingestBody:
			return exchange.Fail(http.StatusRequestEntityTooLarge, errBodySize)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return unreadable(err)
		}
	}
}

// grow enlarges the buffer within the common bound.
func (b *body) grow(size int64) error {
	size = max(size, int64(cap(b.data)))
	more := size - b.held
	if err := b.from.shares.Add(b.who, more); fault.Is(err, fault.Unavailable) {
		return fault.E("api.inflate", fault.Unavailable, "", errBodies)
	} else if err != nil {
		return err
	}
	b.held = size
	if int64(cap(b.data)) < size {
		b.data = append(make([]byte, 0, size), b.data...)
	}
	return nil
}

func (b *body) release() {
	b.from.shares.Release(b.who, b.held)
	b.held = 0
	if cap(b.data) <= keptRoom {
		b.from.rooms.Put(b)
	}
}

// unreadable explains why a body could not be read.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return exchange.Fail(http.StatusRequestEntityTooLarge, errBodySize)
	}
	if slow, ok := errors.AsType[*exchange.StatusError](err); ok {
		return slow
	}
	return fault.E("api.inflate", fault.Invalid, "body", fmt.Errorf("%w (%w)", errInflate, err))
}
