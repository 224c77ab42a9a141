package analysis

import (
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/analysis"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/query"
	"voltbus/report/mailing"
)

// handler carries out the operations.
type handler struct {
	*Part
	kept    *analysis.Keeper
	zone    *time.Location
	mailing *mailing.Mailing // nil for a node that sends no reports
}

// at parses a time; one that is empty is the other one.
func (d *handler) at(op, field string, text operation.Time, or time.Time) (time.Time, error) {
	if text == "" {
		return or, nil
	}
	t, err := query.ParseTime(string(text), d.Now())
	if err != nil {
		return time.Time{}, fault.E(op, fault.Invalid, field, err)
	}
	return t, nil
}

func (d *handler) annotations(ctx context.Context, _ *operation.Call, in *Time) (Annotations, error) {
	from, bad := d.at("annotation.list", "from", in.From, time.Time{})
	to, err := d.at("annotation.list", "to", in.To, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := errors.Join(bad, err); err != nil {
		return Annotations{}, err
	}
	list, err := d.kept.Annotations(ctx, from, to, in.Point)
	if err != nil {
		return Annotations{}, err
	}
	out := Annotations{Annotations: make([]Noted, len(list))}
	for i := range list {
		out.Annotations[i] = notedOf(&list[i])
	}
	return out, nil
}

func (d *handler) annotate(ctx context.Context, c *operation.Call, in *Annotation) (analysis.Annotation, error) {
	c.Did(in.ID, map[string]string{"from": string(in.From), "text": in.Text})
	from, err := d.at("annotation.put", "from", in.From, time.Time{})
	if err != nil {
		return analysis.Annotation{}, err
	}
	to, err := d.at("annotation.put", "to", in.To, from)
	if err != nil {
		return analysis.Annotation{}, err
	}
	return d.kept.Annotate(ctx, analysis.Annotation{ID: in.ID, From: from, To: to, Text: in.Text, Points: in.Points}, c.Name)
}

func (d *handler) deleteAnnotation(ctx context.Context, c *operation.Call, in *ID) (operation.None, error) {
	c.Did(in.ID, nil)
	return operation.None{}, d.kept.DeleteAnnotation(ctx, in.ID, c.Name)
}

func (d *handler) views(ctx context.Context, _ *operation.Call, _ *struct{}) (Views, error) {
	list, err := d.kept.Views(ctx)
	if err != nil {
		return Views{}, err
	}
	out := Views{Views: make([]Viewed, len(list))}
	for i := range list {
		s := &list[i]
		out.Views[i] = Viewed{Name: s.Value.Name, Link: s.Value.Link, Note: s.Value.Note, By: s.By, At: s.Time, Version: s.Version}
	}
	return out, nil
}

func (d *handler) saveView(ctx context.Context, c *operation.Call, in *View) (operation.None, error) {
	c.Did(in.Name, nil)
	return operation.None{}, d.kept.SaveView(ctx, &in.View, c.Name)
}

func (d *handler) deleteView(ctx context.Context, c *operation.Call, in *ViewName) (operation.None, error) {
	c.Did(in.View, nil)
	return operation.None{}, d.kept.DeleteView(ctx, in.View, c.Name)
}

func (d *handler) reports(ctx context.Context, _ *operation.Call, _ *struct{}) (Reports, error) {
	list, err := d.kept.Reports(ctx)
	if err != nil {
		return Reports{}, err
	}
	out := Reports{Reports: make([]Reported, len(list)), Zone: d.zone.String(), Sends: d.mailing != nil}
	for i := range list {
		last, err := mailing.Last(ctx, d.Documents, list[i].Value.Name)
		if err != nil {
			return Reports{}, err
		}
		out.Reports[i] = d.reportedOf(&list[i], &last)
	}
	return out, nil
}

func (d *handler) sendReport(ctx context.Context, c *operation.Call, in *ReportName) (LastSent, error) {
	c.Did(in.Report, nil)
	r, err := d.kept.Report(ctx, in.Report)
	if err != nil {
		return LastSent{}, err
	}
	state, err := d.mailing.Send(ctx, &r, c.Name)
	return lastOf(&state), err
}

func (d *handler) saveReport(ctx context.Context, c *operation.Call, in *Report) (operation.None, error) {
	c.Did(in.Name, map[string]string{"contacts": strings.Join(in.Contacts, ", ")})
	expect := document.AnyVersion
	if in.Expect != nil {
		expect = *in.Expect
	}
	return operation.None{}, d.kept.SaveReport(ctx, &in.Report, c.Name, expect)
}

func (d *handler) deleteReport(ctx context.Context, c *operation.Call, in *ReportName) (operation.None, error) {
	c.Did(in.Report, nil)
	return operation.None{}, d.kept.DeleteReport(ctx, in.Report, c.Name)
}
