package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"voltbus/fault"
)

const jsonType = "application/json"

func writeJSON(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fault.E("api.writeJSON", fault.Internal, "", err)
	}
	out := &output{w: w}
	out.begin(jsonType)
	out.buf = append(out.buf, b...)
	return out.end()
}

// output is an answer.
type output struct {
	w   http.ResponseWriter
	buf []byte
}

func (o *output) begin(media string) { o.w.Header().Set("Content-Type", media) }

// end sends it.
func (o *output) end() error {
	o.w.Header().Set("Content-Length", strconv.Itoa(len(o.buf)))
	if _, err := o.w.Write(o.buf); err != nil {
		return fault.E("api.write", fault.Canceled, "", err)
	}
	return nil
}

// patient gives each write its own deadline: the answer may be as long as it likes, as long as
// somebody reads it.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (s *server) patient(w http.ResponseWriter) *patient {
	return &patient{w: w, control: http.NewResponseController(w), timeout: s.cfg.WriteTimeout}
}

func (p *patient) Header() http.Header    { return p.w.Header() }
func (p *patient) WriteHeader(status int) { p.w.WriteHeader(status) }

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	p.limit()
	n, err := p.w.Write(b)
	p.rest()
	return n, err
}

// send writes and flushes. The parts have one deadline.
func (p *patient) send(parts ...[]byte) error {
	p.limit()
	var err error
	for i := 0; i < len(parts) && err == nil; i++ {
		_, err = p.w.Write(parts[i])
	}
	if err == nil {
		err = p.control.Flush()
	}
	p.rest()
	return err
}

// limit sets the deadline of what is written next. Errors say that the connection has none.
func (p *patient) limit() { _ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) }

// rest takes the deadline away: HTTP/2 ends a stream whose deadline passes even if it is idle.
func (p *patient) rest() { _ = p.control.SetWriteDeadline(time.Time{}) }

// smallest is the length from which compression pays.
const smallest = 1 << 10

// zipper compresses JSON for those who accept it.
type zipper struct {
	http.ResponseWriter
	accepts bool
	decided bool
	zip     *gzip.Writer
	pool    *zips
}

// zips keeps gzip writers, whose tables are large, for the next answer.
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
	w.Reset(io.Discard) // forgets the connection
	z.pool.Put(w)
}

func (s *server) compress(w http.ResponseWriter, r *http.Request) *zipper {
	return &zipper{ResponseWriter: w, accepts: acceptsGzip(r.Header.Get("Accept-Encoding")), pool: &s.zips}
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// decide looks at the answer's header and compresses or does not.
func (z *zipper) decide() {
	if z.decided {
		return
	}
	z.decided = true
	h := z.Header()
	if h.Get("Content-Type") != jsonType {
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
		_ = z.zip.Close() // nobody to tell if the reader has gone
		z.pool.put(z.zip)
		z.zip = nil
	}
}

// disposition says that an answer is a file.
func disposition(w http.ResponseWriter, name, media string) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Type", media)
}
