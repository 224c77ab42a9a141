package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"voltbus/api/exchange"
)

// How fast a body must arrive: bodyRate bytes a second on average, after bodyGrace. The unread rest of a body
// gets bodyRest once its request is answered.
const (
	bodyGrace = 30 * time.Second
	bodyRate  = 16 << 10
	bodyRest  = 2 * time.Second
)

var errSlowBody = fmt.Errorf("the body arrives too slowly: after %v it must have come with %d kB a second; send it in smaller parts, or find what holds up the network",
	bodyGrace, bodyRate>>10)

// arrival is a request body as it arrives. It ends a request whose sender stops sending, but not one that merely takes long.
type arrival struct {
	io.ReadCloser
	control *http.ResponseController
	grace   time.Duration
	began   time.Time
	until   time.Time // the deadline of the next bytes
	octets  int64
	ended   bool
}

// arrive puts a deadline on the body of a request. done must be called when the request is answered.
func arrive(w http.ResponseWriter, r *http.Request, grace time.Duration) (done func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	a := &arrival{ReadCloser: r.Body, control: http.NewResponseController(w), grace: grace, began: time.Now()}
	a.extend()
	r.Body = a
	return a.done
}

// Read implements io.Reader.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.octets += int64(n)
	switch {
	case err == nil:
		a.extend()
	case errors.Is(err, io.EOF):
		a.ended = true
		_ = a.control.SetReadDeadline(time.Time{}) // from now on only the end of the connection is awaited
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, exchange.Fail(http.StatusRequestTimeout, errSlowBody)
	}
	return n, err
}

// extend sets the deadline to the time at which the bytes received so far would have arrived at bodyRate, plus the grace period.
func (a *arrival) extend() {
	until := a.began.Add(a.grace + time.Duration(float64(a.octets)/bodyRate*float64(time.Second)))
	if until.Sub(a.until) >= time.Second/4 {
		a.until = until
		_ = a.control.SetReadDeadline(until) // a connection without deadlines has none
	}
}

// done lets the server read the rest of a body, for a moment.
func (a *arrival) done() {
	if !a.ended {
		_ = a.control.SetReadDeadline(time.Now().Add(bodyRest))
	}
}
