package api

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"

	"voltbus/api/exchange"
	"voltbus/internal/coding"
)

// smallest is the size from which compression pays off.
const smallest = 1 << 10

// zipper compresses JSON for clients that accept it.
type zipper struct {
	http.ResponseWriter
	accepts bool
	decided bool
	zip     *gzip.Writer
	pool    *zips
}

// zips holds gzip writers, whose tables are large, for reuse.
type zips struct{ pool sync.Pool }

func (z *zips) take(w io.Writer) *gzip.Writer {
	if kept, ok := z.pool.Get().(*gzip.Writer); ok {
		kept.Reset(w)
		return kept
	}
	made, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level exists
	return made
}

func (z *zips) put(w *gzip.Writer) {
	w.Reset(io.Discard) // drops the reference to the connection
	z.pool.Put(w)
}

func (z *zips) compress(w http.ResponseWriter, r *http.Request) *zipper {
	return &zipper{ResponseWriter: w, accepts: coding.Accepts(r.Header.Get("Accept-Encoding"), "gzip"), pool: z}
}

// decide chooses by the answer's header whether to compress.
func (z *zipper) decide() {
	if z.decided {
		return
	}
	z.decided = true
	h := z.Header()
	if h.Get("Content-Type") != exchange.JSON {
		return
	}
	h.Add("Vary", "Accept-Encoding")
	if n, err := strconv.Atoi(h.Get("Content-Length")); !z.accepts || (err == nil && n < smallest) {
		return
	}
	h.Del("Content-Length")
	h.Set("Content-Encoding", "gzip")
	z.zip = z.pool.take(z.ResponseWriter)
}

// WriteHeader implements http.ResponseWriter.
func (z *zipper) WriteHeader(status int) {
	z.decide()
	z.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (z *zipper) Write(b []byte) (int, error) {
	z.decide()
	if z.zip != nil {
		return z.zip.Write(b)
	}
	return z.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (z *zipper) Unwrap() http.ResponseWriter { return z.ResponseWriter }

func (z *zipper) close() {
	if z.zip != nil {
		_ = z.zip.Close() // an error means that the client has disconnected
		z.pool.put(z.zip)
		z.zip = nil
	}
}
