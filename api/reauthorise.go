package api

import (
	"time"

	"voltbus/api/exchange"
)

// A caller may lose the login or the role while a body arrives or an answer is sent. A body is checked again when it is
// complete, see request.again. Long requests are checked every Config.Look: the context ends when its sender may no longer
// ask for it, and with it streams, exports, statements and calls.

// lookAgain is the default interval between two checks.
const lookAgain = 2 * time.Second

// authoriseAgain is authorise for a caller who was admitted before. r.User is updated.
func (s *server) authoriseAgain(r *exchange.Request, rt exchange.Route) error {
	user, err := s.door.Authorise(exchange.Late(r.Request), rt)
	if err != nil {
		s.auditor.tellRefusal(r.Request, rt, user, err)
		return err
	}
	r.User = user
	return nil
}
