// Package auditlog declares and carries out the operations on the audit log.
package auditlog

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"voltbus/api/answer"
	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
)

// Log holds the audit entries, as audit.Log does.
type Log interface {
	List(ctx context.Context, f audit.Filter) (entries []audit.Entry, next uint64, err error)
	Export(ctx context.Context, f audit.Filter, emit func(*audit.Entry) error) error
	Absent(f audit.Filter) []audit.Archive
	Verify(ctx context.Context, kept *audit.Head) (audit.Report, error)
	Accept(ctx context.Context, actor, reason string) error
}

// The arguments.
type (
	// Filter selects entries. Actor, action and subject are patterns.
	Filter struct {
		From    operation.Time `json:"from" api:"max=1024" doc:"First time; from the beginning if left out"`
		To      operation.Time `json:"to" api:"max=1024" doc:"Time behind the last; to the end if left out"`
		Actor   string         `json:"actor" api:"max=1024"`
		Action  string         `json:"action" api:"max=1024"`
		Subject string         `json:"subject" api:"max=1024"`
		Search  string         `json:"text" api:"max=1024" doc:"Anywhere in the entry, without regard to case"`
	}
	// Page selects a page of entries.
	Page struct {
		Filter
		Limit  int `json:"limit" api:"min=1,max=10000,default=100"`
		Before int `json:"before" api:"max=9007199254740992" doc:"The next of the page before"`
	}
	// Kept is a part of the log of which the caller has a copy.
	Kept struct {
		Expect string `json:"expect" api:"max=1024" doc:"A head that was kept: the log must still hold it"`
	}
	// Reason is why damage is accepted.
	Reason struct {
		Reason string `json:"reason" api:"required,max=1000"`
	}
)

// The operations.
var (
	List = operation.Declare[Page, answer.Audit](operation.Spec{
		Name: "audit.list", ID: "listAudit", HTTP: "GET /audit", Role: identity.Engineer,
		Summary: "List who did what, the newest first", Result: "A page",
		Doc: "Actor, action and subject are patterns: `person:*`, `config.*`, `campus/b1`. Entries are never changed.",
	})
	Export = operation.Declare[Filter, operation.None](operation.Spec{
		Name: "audit.export", ID: "exportAudit", HTTP: "GET /audit/export", Role: identity.Engineer,
		Stream: operation.Exports, Formats: []string{"application/jsonl"},
		Summary: "Read who did what as lines of JSON, the oldest first", Result: "An AuditEntry on each line",
	})
	Verify = operation.Declare[Kept, answer.AuditReport](operation.Spec{
		Name: "audit.verify", ID: "verifyAudit", HTTP: "GET /audit/verify", Role: identity.Engineer,
		Summary: "Tell whether the audit log is whole, followed from its first entry", Result: "What was found, also if the log is damaged",
	})
	Accept = operation.Declare[Reason, answer.AuditReport](operation.Spec{
		Name: audit.Accepted, ID: "acceptAuditDamage", HTTP: "POST /audit/accept", Role: identity.Administrator, Audited: true, Body: 4 << 10,
		Summary: "Accept the damage that the audit log has now", Result: "What was found, with what is accepted",
		Doc: "An entry says what was accepted, by whom and why. Health does not tell of it any more; verify does. Damage that is found later is told as before.",
	})
)

// Part carries out the operations on the audit log.
type Part struct {
	Log Log // nil if there is none
	Now func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.BindStream(Export, nil, p.export), operation.Bind(Verify, nil, p.verify), operation.Bind(Accept, nil, p.accept),
	}
	if p.Log == nil {
		return operation.Absent(list)
	}
	return list
}

// filter returns the requested filter of entries.
func (f *Filter) filter(now time.Time) (audit.Filter, error) {
	out := audit.Filter{
		Actor: point.Pattern(f.Actor), Action: point.Pattern(f.Action), Subject: point.Pattern(f.Subject), Text: f.Search,
	}
	for _, t := range []struct {
		name, text string
		to         *time.Time
	}{{"from", string(f.From), &out.From}, {"to", string(f.To), &out.To}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.to, err = query.ParseTime(t.text, now); err != nil {
			return out, fault.E("auditlog", fault.Invalid, t.name, err)
		}
	}
	return out, nil
}

func (p *Part) list(ctx context.Context, _ *operation.Call, in *Page) (answer.Audit, error) {
	f, err := in.filter(p.Now())
	if err != nil {
		return answer.Audit{}, err
	}
	f.Limit, f.Before = in.Limit, uint64(in.Before) //nolint:gosec // it is not negative
	entries, next, err := p.Log.List(ctx, f)
	if err != nil {
		return answer.Audit{}, err
	}
	out := answer.Audit{Entries: make([]answer.AuditEntry, len(entries)), Next: next}
	if next == 0 {
		out.Absent = archives(p.Log.Absent(f))
	}
	for i := range entries {
		out.Entries[i] = shown(&entries[i])
	}
	return out, nil
}

func shown(e *audit.Entry) answer.AuditEntry {
	return answer.AuditEntry{
		Seq: e.Seq, Segment: e.Segment, Time: e.Time, Actor: e.Actor, Action: e.Action, Subject: e.Subject,
		Outcome: e.Outcome, Detail: e.Detail, Hash: e.Hash.String(),
	}
}

// export sends entries as lines of JSON, oldest first.
func (p *Part) export(ctx context.Context, _ *operation.Call, in *Filter, to operation.Stream) error {
	f, err := in.filter(p.Now())
	if err != nil {
		return err
	}
	to.Begin(operation.Head{Media: Export.Formats[0], File: "voltbus-audit.jsonl"})
	out := operation.NewOutput(to)
	var line bytes.Buffer
	encode := json.NewEncoder(&line)
	encode.SetEscapeHTML(false) // details stay as in the log
	err = p.Log.Export(ctx, f, func(e *audit.Entry) error {
		line.Reset()
		if err := encode.Encode(shown(e)); err != nil {
			return fault.E("auditlog.export", fault.Internal, "", err)
		}
		out.Buf = append(out.Buf, line.Bytes()...)
		return out.Spill()
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func (p *Part) verify(ctx context.Context, _ *operation.Call, in *Kept) (answer.AuditReport, error) {
	var kept *audit.Head
	if in.Expect != "" {
		head, err := audit.ParseHead(in.Expect)
		if err != nil {
			return answer.AuditReport{}, err
		}
		kept = &head
	}
	found, err := p.Log.Verify(ctx, kept)
	if err != nil {
		return answer.AuditReport{}, err
	}
	return Report(&found), nil
}

// accept accepts the current damage of the audit log.
func (p *Part) accept(ctx context.Context, c *operation.Call, in *Reason) (answer.AuditReport, error) {
	if err := p.Log.Accept(ctx, c.Name, in.Reason); err != nil {
		return answer.AuditReport{}, err
	}
	c.MarkAudited() // together with the accepted damage
	return p.verify(ctx, c, &Kept{})
}

func archives(list []audit.Archive) []answer.AuditArchive {
	out := make([]answer.AuditArchive, len(list))
	for i, a := range list {
		out[i] = answer.AuditArchive{
			File: a.File, First: a.First, Last: a.Last, From: a.From, To: a.To, SHA256: a.Sum.String(), Bytes: a.Bytes, Here: a.Here, Removed: a.Removed,
		}
	}
	return out
}

// Report reports what verifying the audit log found.
func Report(found *audit.Report) answer.AuditReport {
	out := answer.AuditReport{
		Whole: found.Whole(), Entries: found.Entries, First: found.First, Segments: found.Segments,
		Head: found.Head.String(), Problems: make([]answer.AuditProblem, len(found.Problems)), More: found.More,
		Archives: archives(found.Archives),
	}
	for i, p := range found.Problems {
		out.Problems[i] = answer.AuditProblem{Seq: p.Seq, Detail: p.Text, Accepted: p.Accepted}
	}
	return out
}
