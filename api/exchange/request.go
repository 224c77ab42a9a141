// Package exchange represents one HTTP request and its response: the caller, the parameters, and how the result or an error is written.
package exchange

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

// Request is a request whose sender and parameters are known.
type Request struct {
	*http.Request
	User   identity.User // who sent it
	Params url.Values    // of the query
	Entry  Entry         // what the audit log is told
	// Again recognises the sender anew and returns why they may not call the route any more: bodies may take minutes.
	Again func() error
	// Room takes memory for a body until the request is answered, or says that there is none; nil takes none.
	Room func(octets int64) error
}

// Entry is what a request did, for the audit log.
type Entry struct {
	Actor   string // "" for the user
	Subject string
	Detail  any  // nil for nothing
	Told    bool // the audit log knows already
}

// Did says what a request is about to do.
func (r *Request) Did(subject string, detail any) { r.Entry.Subject, r.Entry.Detail = subject, detail }

// Cookie is the name of the cookie that holds a session.
const Cookie = "voltbus_session"

// letInKey marks, in a context, a request whose sender was recognised before.
type letInKey struct{}

// LetIn reports whether the sender of a request was recognised before.
func LetIn(r *http.Request) bool { return r.Context().Value(letInKey{}) != nil }

// endedError is why a request may not go on.
type endedError struct{ why error }

func (e *endedError) Error() string { return e.why.Error() }

// Late returns a request whose sender was recognised before.
func Late(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), letInKey{}, true))
}

// Shown implements operation.Login.
func (r *Request) Shown() identity.Shown {
	if header := r.Header.Get("Authorization"); header != "" {
		_, token, _ := strings.Cut(header, " ")
		return identity.Shown{Purpose: identity.Token, Secret: token}
	}
	if cookie, err := r.Cookie(Cookie); err == nil {
		return identity.Shown{Purpose: identity.Session, Secret: cookie.Value}
	}
	return identity.Shown{}
}

// Still implements operation.Login.
func (r *Request) Still() error { return r.Again() }

// Attend ends the context of a request when, looked at every so often, its sender may no longer ask for it. done must be
// called when it is answered.
func (r *Request) Attend(every time.Duration, still func(*http.Request) error) (done func()) {
	late := Late(r.Request)
	ctx, end := context.WithCancelCause(r.Context())
	r.Request = r.WithContext(ctx)
	var look *time.Timer
	started := make(chan struct{})
	look = time.AfterFunc(every, func() {
		<-started
		err := still(late)
		switch {
		case ctx.Err() != nil:
		case fault.Is(err, fault.Refused): // anything else, such as a busy disk, says nothing about rights
			end(&endedError{err})
		default:
			look.Reset(every)
		}
	})
	close(started)
	return func() {
		end(nil)
		look.Stop()
	}
}

// Ended returns why the sender of a request may no longer ask for it; nil if its context goes on, or ended otherwise.
func (r *Request) Ended() error {
	if ended, is := errors.AsType[*endedError](context.Cause(r.Context())); is {
		return ended.why
	}
	return nil
}
