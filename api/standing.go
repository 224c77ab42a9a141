package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
)

// Who asks may lose the login or the role while a body arrives or an answer is given. A body is judged again when it is
// complete, see request.again. What lasts is looked at every Config.Look: its context ends when its sender may no longer ask
// for it, and with it streams, exports, statements and calls.

// lookAgain is the usual time between two looks.
const lookAgain = 2 * time.Second

// letInKey marks, in a context, a request whose sender was recognised before.
type letInKey struct{}

func letIn(r *http.Request) bool { return r.Context().Value(letInKey{}) != nil }

// endedError is why a request may not go on.
type endedError struct{ why error }

func (e *endedError) Error() string { return e.why.Error() }

// authoriseAgain is authorise for somebody who was let in before. r.user is who it is now.
func (s *server) authoriseAgain(r *request, rt route) error {
	user, err := s.authorise(lateOf(r.Request), rt)
	if err != nil {
		s.tellRefusal(r.Request, rt, user, err)
		return err
	}
	r.user = user
	return nil
}

func lateOf(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), letInKey{}, true))
}

// Shown implements operation.Login.
func (r *request) Shown() identity.Shown {
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
func (r *request) Still() error { return r.again() }

// attend ends the context of a request when, looked at every so often, its sender may no longer ask for it. done must be
// called when it is answered.
func (r *request) attend(every time.Duration, still func(*http.Request) error) (done func()) {
	late := lateOf(r.Request)
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

// ended returns why the sender of a request may no longer ask for it; nil if its context goes on, or ended otherwise.
func (r *request) ended() error {
	if ended, is := errors.AsType[*endedError](context.Cause(r.Context())); is {
		return ended.why
	}
	return nil
}
