package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"voltbus/api/exchange"

	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
)

// Audit is the log of who did what. See audit.Log.
type Audit interface {
	Append(ctx context.Context, entries ...audit.Entry) error
	Offer(e audit.Entry)
	Gather(e audit.Entry)
}

// tell writes into the audit log how a request of a route that is audited ended, before it is
// answered in full. What cannot be written does not undo what was done: the health tells.
func (s *server) tell(r *exchange.Request, rt exchange.Route, err error) {
	if rt.Audit == "" || r.Entry.Told || s.cfg.Audit == nil {
		return
	}
	e := audit.Entry{Actor: exchange.ActorOf(r.User), Action: rt.Audit, Subject: r.Entry.Subject, Outcome: exchange.Ending(err), Time: s.cfg.Now()}
	if r.Entry.Actor != "" {
		e.Actor = r.Entry.Actor
	}
	if r.Entry.Detail != nil {
		e.Detail, _ = json.Marshal(r.Entry.Detail) // texts, numbers and lists of them
	}
	if err := s.cfg.Audit.Append(context.WithoutCancel(r.Context()), e); err != nil {
		s.logProblem(r.Request, http.StatusInternalServerError, fmt.Errorf("write the audit log: %w", err))
	}
}

// tellRefusal offers the audit log that somebody known may not do something, reading excepted.
func (s *server) tellRefusal(r *http.Request, rt exchange.Route, user identity.User, err error) {
	if s.cfg.Audit == nil || user.Name == "" || !fault.Is(err, fault.Refused) || (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return
	}
	detail, _ := json.Marshal(struct {
		Method string `json:"method"`
		Role   string `json:"role"`
		Needs  string `json:"needs"`
	}{r.Method, user.Role.String(), rt.Role.String()}) // texts
	s.cfg.Audit.Offer(audit.Entry{
		Actor: exchange.ActorOf(user), Action: "refused", Subject: r.URL.Path, Outcome: exchange.Ending(err), Detail: detail, Time: s.cfg.Now(),
	})
}

// tellLogin offers the audit log a secret that is not known here. The name is what somebody claims.
func (s *server) tellLogin(r *http.Request, name string, err error) {
	if s.cfg.Audit == nil {
		return
	}
	by := "token"
	if name != "" {
		by = "password"
	}
	detail, _ := json.Marshal(struct {
		Address string `json:"address"`
		By      string `json:"by"`
	}{addressOf(r.RemoteAddr), by}) // texts
	s.cfg.Audit.Offer(audit.Entry{
		Actor: "unknown", Action: "login.failed", Subject: exchange.Clip(name), Outcome: exchange.Ending(err), Detail: detail, Time: s.cfg.Now(),
	})
}

// tellReading tells the audit log that somebody reads what is not for everybody: each a minute once.
func (s *server) tellReading(r *exchange.Request, rt *exchange.Route, err error) {
	if rt.Watched == "" || s.cfg.Audit == nil {
		return
	}
	subject := r.Params.Get("node")
	if subject == "" {
		subject = s.cfg.Node
	}
	s.cfg.Audit.Gather(audit.Entry{Actor: exchange.ActorOf(r.User), Action: rt.Watched, Subject: exchange.Clip(subject), Outcome: exchange.Ending(err), Time: s.cfg.Now()})
}
