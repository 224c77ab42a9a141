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

// Request is a request with its sender and parameters resolved.
type Request struct {
	*http.Request
	User   identity.User // its sender
	Params url.Values    // of the query
	Entry  Entry         // what the audit log records
	// Again authenticates the sender again and returns why they may no longer call the route: bodies may take minutes.
	Again func() error
	// Room reserves memory for a body until the request is answered, or fails if there is none; nil reserves none.
	Room func(octets int64) error
}

// Entry is what a request did, for the audit log.
type Entry struct {
	Actor   string // "" means the user
	Subject string
	Detail  any  // nil for nothing
	Told    bool // it has already been recorded
}

// Did records what a request is about to do.
func (r *Request) Did(subject string, detail any) { r.Entry.Subject, r.Entry.Detail = subject, detail }

// Cookie is the name of the cookie that holds a session.
const Cookie = "voltbus_session"

// letInKey marks, in a context, a request whose sender is already authenticated.
type letInKey struct{}

// LetIn reports whether the sender of a request is already authenticated.
func LetIn(r *http.Request) bool { return r.Context().Value(letInKey{}) != nil }

// endedError says why a request may not continue.
type endedError struct{ why error }

func (e *endedError) Error() string { return e.why.Error() }

// Late returns a request whose sender is already authenticated.
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

// Attend ends the context of a request once its sender may no longer make it, which it checks periodically. done must be
// called when the request is answered.
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
		case fault.Is(err, fault.Refused): // other errors, such as a busy disk, say nothing about rights
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

// Ended returns why the sender of a request may no longer make it; nil if its context is alive, or ended for another reason.
func (r *Request) Ended() error {
	if ended, is := errors.AsType[*endedError](context.Cause(r.Context())); is {
		return ended.why
	}
	return nil
}
