// Package analysis declares and carries out the operations on annotations, saved views and reports.
package analysis

import (
	"context"
	"log/slog"
	"time"

	"voltbus/alarm/storage"
	"voltbus/analysis"
	"voltbus/identity"
	"voltbus/mail"
	"voltbus/operation"
	"voltbus/query"
	"voltbus/report/mailing"
)

// History answers what reports ask. See query.Engine.
type History interface {
	Aggregate(ctx context.Context, req query.Request, how query.Aggregation) (query.Summaries, error)
}

// Alarms lists what became of alarms. See monitor.Monitor.
type Alarms interface {
	History(ctx context.Context, q storage.Query) ([]storage.Entry, error)
}

// The arguments.
type (
	// Time selects annotations.
	Time struct {
		From  operation.Time `json:"from" api:"query" doc:"The oldest if left out"`
		To    operation.Time `json:"to" api:"query" doc:"The newest if left out"`
		Point []string       `json:"point" api:"query,max=250" doc:"Only those about one of these points, or about all; all if left out"`
	}
	// Annotation is an annotation to write.
	Annotation struct {
		ID     string         `json:"id" api:"max=64" doc:"Of the annotation to change; left out for a new one"`
		From   operation.Time `json:"from" api:"required"`
		To     operation.Time `json:"to" doc:"From if left out, for a moment"`
		Text   string         `json:"text" api:"required,max=2000"`
		Points []string       `json:"points" api:"max=100" doc:"That it is about; all if left out"`
	}
	// ID names an annotation.
	ID struct {
		ID string `json:"id" api:"required,max=64"`
	}
	// View is a view to save.
	View struct{ analysis.View }
	// ViewName names a view.
	ViewName struct {
		View string `json:"view" api:"required,max=100"`
	}
	// Report is a report to write.
	Report struct {
		analysis.Report
		Expect *int `json:"expect" api:"min=-1" doc:"The version that it was made from, 0 for a report that is not there; whatever is there if left out"`
	}
	// ReportName names a report.
	ReportName struct {
		Report string `json:"report" api:"required,max=64"`
	}
	// Printed selects a report to make.
	Printed struct {
		Report string         `json:"report" api:"max=64" doc:"The name of a report; or else name points or a view"`
		Point  []string       `json:"point" api:"max=50" doc:"The points of a report that is not kept"`
		View   string         `json:"view" api:"max=100" doc:"The saved view whose points a report has that is not kept"`
		Title  string         `json:"title" api:"max=200" doc:"Of a report that is not kept"`
		From   operation.Time `json:"from" doc:"Seven days before the weekday of the report, or before the last Monday, if left out; in the time zone of the site"`
		To     operation.Time `json:"to" doc:"Seven days after from if left out"`
	}
)

const body = 64 << 10

// Media is what a report is sent as.
const Media = "application/pdf"

// The operations.
var (
	ListAnnotations = operation.Declare[Time, Annotations](operation.Spec{
		Name: "annotation.list", ID: "listAnnotations", HTTP: "GET /annotations", Role: identity.Viewer, Remote: true,
		Summary: "List what people noted about a time", Result: "The earliest first",
	})
	Annotate = operation.Declare[Annotation, analysis.Annotation](operation.Spec{
		Name: "annotation.put", ID: "putAnnotation", HTTP: "PUT /annotations", Role: identity.Operator, Remote: true, Audited: true, Body: body,
		Summary: "Note something about a time", Result: "The annotation with its id",
		Doc: "It is kept as the shared document annotations/<id>, with its history. A node keeps at most 2,000.",
	})
	DeleteAnnotation = operation.Declare[ID, operation.None](operation.Spec{
		Name: "annotation.delete", ID: "deleteAnnotation", HTTP: "DELETE /annotations/{id}", Role: identity.Operator, Remote: true, Audited: true,
		Summary: "Delete an annotation", Doc: "The history of its document stays.",
	})
	ListViews = operation.Declare[struct{}, Views](operation.Spec{
		Name: "view.list", ID: "listViews", HTTP: "GET /views", Role: identity.Viewer, Remote: true,
		Summary: "List the saved views of the explorer", Result: "By name",
	})
	SaveView = operation.Declare[View, operation.None](operation.Spec{
		Name: "view.put", ID: "putView", HTTP: "PUT /views", Role: identity.Operator, Remote: true, Audited: true, Body: body,
		Summary: "Save a view of the explorer", Doc: "It is kept as the shared document views/<name>, with its history.",
	})
	DeleteView = operation.Declare[ViewName, operation.None](operation.Spec{
		Name: "view.delete", ID: "deleteView", HTTP: "DELETE /views/{view}", Role: identity.Operator, Remote: true, Audited: true,
		Summary: "Delete a saved view", Doc: "The history of its document stays.",
	})
	ListReports = operation.Declare[struct{}, Reports](operation.Spec{
		Name: "report.list", ID: "listReports", HTTP: "GET /reports", Role: identity.Viewer, Remote: true,
		Summary: "List the weekly reports, and what became of the last one by e-mail", Result: "By name",
	})
	SaveReport = operation.Declare[Report, operation.None](operation.Spec{
		Name: "report.put", ID: "putReport", HTTP: "PUT /reports", Role: identity.Engineer, Remote: true, Audited: true, Body: body,
		Summary: "Write a weekly report",
		Doc: "It is kept as the shared document reports/<name>, with its history, and sent to its contacts each week, at its weekday and time in the time zone of the " +
			"site, from the first such time on. It covers the seven days before that day. 409 if expect is another version.",
	})
	DeleteReport = operation.Declare[ReportName, operation.None](operation.Spec{
		Name: "report.delete", ID: "deleteReport", HTTP: "DELETE /reports/{report}", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Delete a weekly report", Doc: "The history of its document stays.",
	})
	SendReport = operation.Declare[ReportName, LastSent](operation.Spec{
		Name: "report.send", ID: "sendReport", HTTP: "POST /reports/{report}/send", Role: identity.Operator, Remote: true, Audited: true,
		Summary: "Send a weekly report to all of its contacts now, whoever has it already", Result: "Who has it, and why others do not",
		Doc: "It covers the last seven days that end with the weekday of the report. Who could not be reached is tried again each ten minutes.",
	})
	Print = operation.Declare[Printed, operation.None](operation.Spec{
		Name: "report.pdf", ID: "downloadReport", HTTP: "GET /report", Role: identity.Viewer, Stream: operation.Exports, Formats: []string{Media},
		Summary: "Make a report of points as PDF: curves, statistics, completeness, alarms", Result: "Pages of A4",
		Doc: "Without a time it covers the last seven days that end with the weekday of the report, from Monday to Monday without one, in the time zone of the site (node.time_zone, or UTC).",
	})
)

// Part carries out the operations on what analysts write.
type Part struct {
	Documents analysis.Documents // nil for a node without documents
	History   History            // nil for a node without history
	Alarms    Alarms             // nil for a node without alarms
	Node      string
	Zone      string // of the site; UTC if empty
	// Mail sends a letter to a contact of the plan of who is told of alarms; nil for a node that sends none.
	Mail func(ctx context.Context, contact string, l mail.Letter) error
	Now  func() time.Time
	Log  *slog.Logger
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	d := p.handler()
	list := []operation.Bound{
		operation.Bind(ListAnnotations, nil, d.annotations), operation.Bind(Annotate, nil, d.annotate), operation.Bind(DeleteAnnotation, nil, d.deleteAnnotation),
		operation.Bind(ListViews, nil, d.views), operation.Bind(SaveView, nil, d.saveView), operation.Bind(DeleteView, nil, d.deleteView),
		operation.Bind(ListReports, nil, d.reports), operation.Bind(SaveReport, nil, d.saveReport), operation.Bind(DeleteReport, nil, d.deleteReport),
	}
	send := []operation.Bound{operation.Bind(SendReport, nil, d.sendReport)}
	if d.mailing = p.Reports(); d.mailing == nil {
		send = operation.Absent(send)
	}
	if p.Documents == nil {
		list = operation.Absent(list)
	}
	printed := operation.BindStream(Print, nil, d.print)
	if p.History == nil || p.Documents == nil {
		return append(append(list, send...), operation.Absent([]operation.Bound{printed})...)
	}
	return append(append(list, send...), printed)
}

// Mailing sends weekly reports by e-mail.
type Mailing = mailing.Mailing

func (p *Part) handler() *handler {
	d := &handler{Part: p, zone: zoneOf(p.Zone)}
	if p.Documents != nil {
		d.kept = analysis.New(p.Documents, p.Now)
	}
	return d
}

// Reports returns what sends weekly reports by e-mail, which does nothing at a node that cannot make or send any.
func (p *Part) Reports() *Mailing {
	if p.Documents == nil || p.History == nil || p.Mail == nil {
		return nil
	}
	d := p.handler()
	return mailing.New(mailing.Options{
		Documents: p.Documents, Make: d.Make, Node: p.Node, Zone: d.zone, Now: p.Now, Log: p.Log,
		Reports: func(ctx context.Context) ([]mailing.Planned, error) {
			list, err := d.kept.Reports(ctx)
			out := make([]mailing.Planned, len(list))
			for i := range list {
				out[i] = mailing.Planned{Report: list[i].Value, Written: list[i].Time}
			}
			return out, err
		},
		Send: func(ctx context.Context, l *mailing.Letter) error {
			return p.Mail(ctx, l.Contact, mail.Letter{Subject: l.Subject, Text: l.Text, Files: []mail.File{{Name: l.File, Media: Media, Data: l.Data}}})
		},
	})
}

// zoneOf returns a zone of the configuration, which was checked.
func zoneOf(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}
