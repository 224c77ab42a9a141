package api

import (
	"context"
	"errors"
	"net/http"
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

// attend ends the context of a request when its sender may no longer ask for it. done must be called when it is answered.
func (s *server) attend(r *request, rt route) (done func()) {
	if rt.role == identity.Nobody || r.user.Visitor {
		return func() {} // everybody may, or another node judges who asks
	}
	late := lateOf(r.Request)
	ctx, end := context.WithCancelCause(r.Context())
	r.Request = r.WithContext(ctx)
	var look *time.Timer
	started := make(chan struct{})
	look = time.AfterFunc(s.cfg.Look, func() {
		<-started
		_, err := s.authorise(late, rt)
		switch {
		case ctx.Err() != nil:
		case fault.Is(err, fault.Refused): // anything else, such as a busy disk, says nothing about rights
			end(&endedError{err})
		default:
			look.Reset(s.cfg.Look)
		}
	})
	close(started)
	return func() {
		end(nil)
		look.Stop()
	}
}

// ending returns the error of a request that ended because its sender may no longer ask for it, and err for all others.
func (s *server) ending(r *request, rt *route, err error) error {
	ended, is := errors.AsType[*endedError](context.Cause(r.Context()))
	if err == nil || !is {
		return err
	}
	s.tellRefusal(r.Request, *rt, r.user, ended.why)
	return ended.why
}

// leave ends a stream whose context has ended: its reader has gone, or is told that they may no longer read.
func (s *server) leave(w *patient, r *request) error {
	if ended, is := errors.AsType[*endedError](context.Cause(r.Context())); is {
		return s.lastEvent(w, r, ended.why)
	}
	return nil
}
