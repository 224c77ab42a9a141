package api

import (
	"time"

	"voltbus/api/exchange"
)

// Who asks may lose the login or the role while a body arrives or an answer is given. A body is checked again when it is
// complete, see request.again. What lasts is looked at every Config.Look: its context ends when its sender may no longer ask
// for it, and with it streams, exports, statements and calls.

// lookAgain is the usual time between two looks.
const lookAgain = 2 * time.Second

// authoriseAgain is authorise for a caller who was admitted before. r.User is their present state.
func (s *server) authoriseAgain(r *exchange.Request, rt exchange.Route) error {
	user, err := s.door.Authorise(exchange.Late(r.Request), rt)
	if err != nil {
		s.auditor.tellRefusal(r.Request, rt, user, err)
		return err
	}
	r.User = user
	return nil
}
