package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"voltbus/fault"
)

// JSON is the media type of most answers.
const JSON = "application/json"

// WriteJSON writes a value as the answer.
func WriteJSON(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fault.E("api.writeJSON", fault.Internal, "", err)
	}
	out := NewOutput(w, nil)
	out.Begin(JSON)
	out.Buf = append(out.Buf, b...)
	return out.End()
}

// Output is an answer.
type Output struct {
	w   http.ResponseWriter
	Buf []byte
}

// NewOutput begins an answer with its first content.
func NewOutput(w http.ResponseWriter, content []byte) *Output { return &Output{w, content} }

// Begin sets the media type.
func (o *Output) Begin(media string) { o.w.Header().Set("Content-Type", media) }

// End sends it.
func (o *Output) End() error {
	o.w.Header().Set("Content-Length", strconv.Itoa(len(o.Buf)))
	if _, err := o.w.Write(o.Buf); err != nil {
		return fault.E("api.write", fault.Canceled, "", err)
	}
	return nil
}

// Patient gives each write its own deadline: an answer may last as long as the client keeps reading.
type Patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// NewPatient returns a writer each of whose writes may take this long.
func NewPatient(w http.ResponseWriter, timeout time.Duration) *Patient {
	return &Patient{w: w, control: http.NewResponseController(w), timeout: timeout}
}

// Header implements http.ResponseWriter.
func (p *Patient) Header() http.Header { return p.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (p *Patient) WriteHeader(status int) { p.w.WriteHeader(status) }

// Write implements io.Writer.
func (p *Patient) Write(b []byte) (int, error) {
	p.Limit()
	n, err := p.w.Write(b)
	p.Rest()
	return n, err
}

// Send writes and flushes. The parts share one deadline.
func (p *Patient) Send(parts ...[]byte) error {
	p.Limit()
	var err error
	for i := 0; i < len(parts) && err == nil; i++ {
		_, err = p.w.Write(parts[i])
	}
	if err == nil {
		err = p.control.Flush()
	}
	p.Rest()
	return err
}

// Limit sets the deadline of the next writes. An error means that the connection has none.
func (p *Patient) Limit() { _ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) }

// Rest removes the deadline: HTTP/2 ends a stream whose deadline passes even if it is idle.
func (p *Patient) Rest() { _ = p.control.SetWriteDeadline(time.Time{}) }

// Disposition marks an answer as a file.
func Disposition(w http.ResponseWriter, name, media string) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Type", media)
}

// NotNil turns a nil list into an empty one, so that JSON has [] and not null.
func NotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// EventFrame is the most that AppendEvent adds to the name and data of an event, in bytes.
const EventFrame = len("event: \ndata: \n\n") + len(notJSON)

const notJSON = ": a message that is not JSON was left out\n\n"

// AppendEvent appends an event whose data is JSON. Line breaks between its tokens are removed: they would end the data.
func AppendEvent(dst []byte, event string, data json.RawMessage) []byte {
	if bytes.ContainsAny(data, "\r\n") {
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return append(dst, notJSON...)
		}
		data = compact.Bytes()
	}
	return fmt.Appendf(dst, "event: %s\ndata: %s\n\n", event, data)
}
