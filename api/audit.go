package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Audit is the log of who did what. See audit.Log.
type Audit interface {
	Append(ctx context.Context, entries ...audit.Entry) error
	Offer(e audit.Entry)
	Gather(e audit.Entry)
	List(ctx context.Context, f audit.Filter) (entries []audit.Entry, next uint64, err error)
	Export(ctx context.Context, f audit.Filter, emit func(*audit.Entry) error) error
	Absent(f audit.Filter) []audit.Archive
	Verify(ctx context.Context, kept *audit.Head) (audit.Report, error)
	Accept(ctx context.Context, actor, reason string) error
}

const noAudit = "audit log"

func auditRoutes() []route {
	const engineer = identity.Engineer
	filter := []string{"from", "to", "actor", "action", "subject", "text"}
	return []route{
		{
			method: "GET", path: prefix + "/audit", role: engineer, serve: (*server).audit,
			params: append([]string{"limit", "before"}, filter...),
		},
		{method: "GET", path: prefix + "/audit/export", role: engineer, stream: true, serve: (*server).exportAudit, params: filter},
		{method: "GET", path: prefix + "/audit/verify", role: engineer, serve: (*server).verifyAudit, params: []string{"expect"}},
		{method: "POST", path: prefix + "/audit/accept", role: identity.Administrator, body: loginBody, serve: (*server).acceptAudit, audit: audit.Accepted},
	}
}

func (r *reading) auditFilter() audit.Filter {
	var f audit.Filter
	for name, to := range map[string]*time.Time{"from": &f.From, "to": &f.To} {
		if text, ok := r.text(name); ok && text != "" {
			*to = r.time(name)
		}
	}
	for name, to := range map[string]*point.Pattern{"actor": &f.Actor, "action": &f.Action, "subject": &f.Subject} {
		text, _ := r.text(name)
		*to = point.Pattern(text)
	}
	f.Text, _ = r.text("text")
	return f
}

func (s *server) audit(w http.ResponseWriter, r *request) error {
	if s.cfg.Audit == nil {
		return absent(noAudit)
	}
	in := s.read(r)
	f := in.auditFilter()
	f.Limit = in.number("limit", 100, 1, maxPagePoints)
	f.Before = uint64(in.number("before", 0, 0, 1<<53))
	if in.err != nil {
		return in.err
	}
	entries, next, err := s.cfg.Audit.List(r.Context(), f)
	if err != nil {
		return err
	}
	out := answer.Audit{Entries: make([]answer.AuditEntry, len(entries)), Next: next}
	if next == 0 {
		out.Absent = auditArchives(s.cfg.Audit.Absent(f))
	}
	for i := range entries {
		out.Entries[i] = auditEntry(&entries[i])
	}
	return writeJSON(w, out)
}

func auditEntry(e *audit.Entry) answer.AuditEntry {
	return answer.AuditEntry{
		Seq: e.Seq, Segment: e.Segment, Time: e.Time, Actor: e.Actor, Action: e.Action, Subject: e.Subject,
		Outcome: e.Outcome, Detail: e.Detail, Hash: e.Hash.String(),
	}
}

// exportAudit sends entries as lines of JSON, the oldest first.
func (s *server) exportAudit(w http.ResponseWriter, r *request) error {
	if s.cfg.Audit == nil {
		return absent(noAudit)
	}
	in := s.read(r)
	f := in.auditFilter()
	if in.err != nil {
		return in.err
	}
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	disposition(w, "voltbus-audit.jsonl", "application/jsonl")
	out := &output{w: p}
	var line bytes.Buffer
	encode := json.NewEncoder(&line)
	encode.SetEscapeHTML(false) // details stay as they are in the log
	err := s.cfg.Audit.Export(r.Context(), f, func(e *audit.Entry) error {
		line.Reset()
		if err := encode.Encode(auditEntry(e)); err != nil {
			return fault.E("api.exportAudit", fault.Internal, "", err)
		}
		out.buf = append(out.buf, line.Bytes()...)
		return out.spill()
	})
	if err != nil {
		return err
	}
	return out.flush()
}

func (s *server) verifyAudit(w http.ResponseWriter, r *request) error {
	if s.cfg.Audit == nil {
		return absent(noAudit)
	}
	in := s.read(r)
	text, given := in.text("expect")
	if in.err != nil {
		return in.err
	}
	var kept *audit.Head
	if given && text != "" {
		head, err := audit.ParseHead(text)
		if err != nil {
			return err
		}
		kept = &head
	}
	found, err := s.cfg.Audit.Verify(r.Context(), kept)
	if err != nil {
		return err
	}
	return writeJSON(w, AuditReport(&found))
}

// acceptAudit accepts the damage that the audit log has now.
func (s *server) acceptAudit(w http.ResponseWriter, r *request) error {
	if s.cfg.Audit == nil {
		return absent(noAudit)
	}
	var body struct {
		Reason string `json:"reason"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if err := s.cfg.Audit.Accept(r.Context(), ActorOf(r.user), body.Reason); err != nil {
		return err
	}
	r.deed.told = true
	found, err := s.cfg.Audit.Verify(r.Context(), nil)
	if err != nil {
		return err
	}
	return writeJSON(w, AuditReport(&found))
}

func auditArchives(list []audit.Archive) []answer.AuditArchive {
	out := make([]answer.AuditArchive, len(list))
	for i, a := range list {
		out[i] = answer.AuditArchive{
			File: a.File, First: a.First, Last: a.Last, From: a.From, To: a.To, SHA256: a.Sum.String(), Octets: a.Octets, Here: a.Here, Removed: a.Removed,
		}
	}
	return out
}

// AuditReport shows what following the audit log has found.
func AuditReport(found *audit.Report) answer.AuditReport {
	out := answer.AuditReport{
		Whole: found.Whole(), Entries: found.Entries, First: found.First, Segments: found.Segments,
		Head: found.Head.String(), Problems: make([]answer.AuditProblem, len(found.Problems)), More: found.More,
		Archives: auditArchives(found.Archives),
	}
	for i, p := range found.Problems {
		out.Problems[i] = answer.AuditProblem{Seq: p.Seq, Detail: p.Text, Accepted: p.Accepted}
	}
	return out
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
