package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"voltbus/api/exchange"
	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
)

// auditor records in the audit log what requests did. Without a log it does nothing.
type auditor struct {
	log     exchange.Audit
	node    string // the name of this node
	now     func() time.Time
	problem func(r *http.Request, status int, err error)
}

// tell records in the audit log how a request of an audited route ended, before the answer is
// complete. A failure to write does not undo the action: health reports it.
func (a *auditor) tell(r *exchange.Request, rt exchange.Route, err error) {
	if rt.Audit == "" || r.Entry.Told || a.log == nil {
		return
	}
	e := audit.Entry{Actor: exchange.ActorOf(r.User), Action: rt.Audit, Subject: r.Entry.Subject, Outcome: exchange.Ending(err), Time: a.now()}
	if r.Entry.Actor != "" {
		e.Actor = r.Entry.Actor
	}
	if r.Entry.Detail != nil {
		e.Detail, _ = json.Marshal(r.Entry.Detail) // strings, numbers and lists of them cannot fail
	}
	if err := a.log.Append(context.WithoutCancel(r.Context()), e); err != nil {
		a.problem(r.Request, http.StatusInternalServerError, fmt.Errorf("write the audit log: %w", err))
	}
}

// tellRefusal offers the refusal of a known caller to the audit log, except for reads.
func (a *auditor) tellRefusal(r *http.Request, rt exchange.Route, user identity.User, err error) {
	if a.log == nil || user.Name == "" || !fault.Is(err, fault.Refused) || (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return
	}
	detail, _ := json.Marshal(struct {
		Method string `json:"method"`
		Role   string `json:"role"`
		Needs  string `json:"needs"`
	}{r.Method, user.Role.String(), rt.Role.String()}) // strings cannot fail
	a.log.Offer(audit.Entry{
		Actor: exchange.ActorOf(user), Action: "refused", Subject: r.URL.Path, Outcome: exchange.Ending(err), Detail: detail, Time: a.now(),
	})
}

// tellReading records in the audit log that a caller reads restricted data, at most once a minute per caller.
func (a *auditor) tellReading(r *exchange.Request, rt *exchange.Route, err error) {
	if rt.Watched == "" || a.log == nil {
		return
	}
	subject := r.Params.Get("node")
	if subject == "" {
		subject = a.node
	}
	a.log.Gather(audit.Entry{Actor: exchange.ActorOf(r.User), Action: rt.Watched, Subject: exchange.Clip(subject), Outcome: exchange.Ending(err), Time: a.now()})
}
