package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

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

// deed is what a request did, for the audit log.
type deed struct {
	actor   string // "" for the user
	subject string
	detail  any  // nil for nothing
	told    bool // the audit log knows already
}

// did says what a request is about to do.
func (r *request) did(subject string, detail any) { r.deed.subject, r.deed.detail = subject, detail }

// tell writes into the audit log how a request of a route that is audited ended, before it is
// answered in full. What cannot be written does not undo what was done: the health tells.
func (s *server) tell(r *request, rt route, err error) {
	if rt.audit == "" || r.deed.told || s.cfg.Audit == nil {
		return
	}
	e := audit.Entry{Actor: ActorOf(r.user), Action: rt.audit, Subject: r.deed.subject, Outcome: Ending(err), Time: s.cfg.Now()}
	if r.deed.actor != "" {
		e.Actor = r.deed.actor
	}
	if r.deed.detail != nil {
		e.Detail, _ = json.Marshal(r.deed.detail) // texts, numbers and lists of them
	}
	if err := s.cfg.Audit.Append(context.WithoutCancel(r.Context()), e); err != nil {
		s.logProblem(r.Request, http.StatusInternalServerError, fmt.Errorf("write the audit log: %w", err))
	}
}

// tellRefusal offers the audit log that somebody known may not do something, reading excepted.
func (s *server) tellRefusal(r *http.Request, rt route, user identity.User, err error) {
	if s.cfg.Audit == nil || user.Name == "" || !fault.Is(err, fault.Refused) || (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return
	}
	detail, _ := json.Marshal(struct {
		Method string `json:"method"`
		Role   string `json:"role"`
		Needs  string `json:"needs"`
	}{r.Method, user.Role.String(), rt.role.String()}) // texts
	s.cfg.Audit.Offer(audit.Entry{
		Actor: ActorOf(user), Action: "refused", Subject: r.URL.Path, Outcome: Ending(err), Detail: detail, Time: s.cfg.Now(),
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
		Actor: "unknown", Action: "login.failed", Subject: clip(name), Outcome: Ending(err), Detail: detail, Time: s.cfg.Now(),
	})
}

// Ending says how something ended, without what is only for the log of the program.
func Ending(err error) string {
	if err == nil {
		return "ok"
	}
	p := problem(err, "")
	return p.Kind + ": " + p.Detail
}

// ActorOf is how the audit log and other nodes know a user.
func ActorOf(u identity.User) string {
	if name, ok := u.RecordName(); ok {
		return "token:" + name
	}
	if node, is := strings.CutPrefix(u.Name, identity.ChildPrefix); is { // no person's name begins so
		return "node:" + node
	}
	if strings.Contains(u.Name, "/") { // nor can it hold that: somebody of another node
		if p, err := identity.ParsePrincipal(u.Name); err == nil && p.Node != "" {
			return u.Name
		}
	}
	return "person:" + u.Name
}
