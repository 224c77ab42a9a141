// Package mailing sends weekly reports by e-mail: at their day and time in the time zone of the site, once to each contact, and whenever somebody asks for it.
// What was sent is kept in shared documents, so that neither a restart nor another replica sends it again; what fails is tried again, and Last says why.
package mailing

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"voltbus/analysis"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/report"
)

// Documents keep what was sent. See document.Store.
type Documents interface {
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
}

// Letter is a report that a contact gets.
type Letter struct {
	Contact, Subject, Text, File string
	Data                         []byte
}

// Planned is a report with when its newest version was written.
type Planned struct {
	analysis.Report
	Written time.Time
}

// Options are what a mailing needs.
type Options struct {
	Documents Documents
	Reports   func(ctx context.Context) ([]Planned, error)
	// Make makes a report as PDF.
	Make func(ctx context.Context, r *analysis.Report, from, to time.Time) ([]byte, error)
	Send func(ctx context.Context, l *Letter) error
	Node string
	Zone *time.Location
	Now  func() time.Time
	Log  *slog.Logger
}

// State is what became of the report of a week.
type State struct {
	Week time.Time `json:"week"` // when it begins, at 0:00
	// Sent are the contacts that have it.
	Sent []string `json:"sent"`
	// Claimed is when a replica began to send it.
	Claimed time.Time `json:"claimed"`
	Error   string    `json:"error,omitempty"`
	// At is when somebody was last sent to, or when that failed; By is who asked for it, empty for the plan.
	At time.Time `json:"at"`
	By string    `json:"by,omitempty"`
}

const (
	folder = "reports-sent/"
	// by is who writes what was sent.
	by = "node"
	// look is how often reports are looked for; a report that failed is tried again as often.
	look = 10 * time.Minute
	// abandoned is how long a replica may send before another one takes over.
	abandoned = 30 * time.Minute
)

var (
	errNobody = errors.New("has no contacts; name some in the report first")
	errBusy   = errors.New("is being sent; look again in a minute")
)

// Mailing sends weekly reports.
type Mailing struct{ o Options }

// New returns a mailing.
func New(o Options) *Mailing { return &Mailing{o} }

// Run sends reports until ctx ends.
func (m *Mailing) Run(ctx context.Context) error {
	for {
		if err := m.Look(ctx); err != nil && ctx.Err() == nil {
			m.o.Log.WarnContext(ctx, "a weekly report was not sent; it is tried again", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(look):
		}
	}
}

// Look sends what is due.
func (m *Mailing) Look(ctx context.Context) error {
	list, err := m.o.Reports(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range list {
		if len(list[i].Contacts) > 0 {
			errs = append(errs, m.one(ctx, &list[i]))
		}
	}
	return errors.Join(errs...)
}

// due returns when a report was last due, and the beginning of its week.
func due(r *analysis.Report, now time.Time, zone *time.Location) (at, from time.Time) {
	from, to := report.Week(now, zone, r.Day())
	if at = r.Due(to); now.Before(at) {
		from, to = report.Week(to.Add(-time.Nanosecond), zone, r.Day())
		at = r.Due(to)
	}
	return at, from
}

// Next returns when a report is due after a time.
func Next(r *analysis.Report, now time.Time, zone *time.Location) time.Time {
	at, _ := due(r, now, zone)
	at = at.In(zone)
	return r.Due(time.Date(at.Year(), at.Month(), at.Day()+7, 0, 0, 0, 0, zone))
}

// one sends a report to those who do not have it yet.
func (m *Mailing) one(ctx context.Context, r *Planned) error {
	at, from := due(&r.Report, m.o.Now(), m.o.Zone)
	state, version, err := read(ctx, m.o.Documents, r.Name)
	if err != nil {
		return err
	}
	if state.Week.Before(from) {
		if at.Before(r.Written) {
			return nil // it was not planned yet, or otherwise
		}
		state = State{Week: from.UTC()}
	}
	missing := slices.DeleteFunc(slices.Clone(r.Contacts), func(c string) bool { return slices.Contains(state.Sent, c) })
	if len(missing) == 0 || m.busy(&state) {
		return nil
	}
	_, err = m.claim(ctx, &r.Report, state, version, missing)
	if errors.Is(err, errBusy) {
		return nil // another replica sends it
	}
	return err
}

// busy reports whether somebody sends the report, and has not been at it for too long.
func (m *Mailing) busy(s *State) bool {
	return s.Error == "" && m.o.Now().Sub(s.Claimed) < abandoned
}

// Send sends a report of the last whole week to all of its contacts now, whoever has it already. What fails is part of the state, and is tried again.
func (m *Mailing) Send(ctx context.Context, r *analysis.Report, person string) (State, error) {
	const op = "report.send"
	if len(r.Contacts) == 0 {
		return State{}, fault.E(op, fault.Invalid, r.Name, errNobody)
	}
	state, version, err := read(ctx, m.o.Documents, r.Name)
	if err != nil {
		return State{}, err
	}
	if m.busy(&state) {
		return State{}, fault.E(op, fault.Conflict, r.Name, errBusy)
	}
	from, _ := report.Week(m.o.Now(), m.o.Zone, r.Day())
	state, err = m.claim(ctx, r, State{Week: from.UTC(), By: person}, version, r.Contacts)
	if errors.Is(err, errBusy) {
		return State{}, fault.E(op, fault.Conflict, r.Name, errBusy)
	}
	if state.Error != "" {
		return state, nil
	}
	return state, err
}

// claim tells other replicas that this one sends a report, sends it, and keeps what became of it. It fails with errBusy if another one was faster.
func (m *Mailing) claim(ctx context.Context, r *analysis.Report, state State, version int, to []string) (State, error) {
	state.Claimed, state.Error = m.o.Now().UTC(), ""
	version, err := m.save(ctx, r.Name, &state, version)
	if fault.Is(err, fault.Conflict) {
		return state, errBusy
	}
	if err != nil {
		return state, err
	}
	failed := m.send(ctx, r, &state, to)
	state.Claimed, state.At = time.Time{}, m.o.Now().UTC()
	if failed != nil {
		state.Error = failed.Error()
	}
	_, err = m.save(context.WithoutCancel(ctx), r.Name, &state, version)
	return state, errors.Join(failed, err)
}

func (m *Mailing) send(ctx context.Context, r *analysis.Report, state *State, to []string) error {
	from := state.Week.In(m.o.Zone)
	data, err := m.o.Make(ctx, r, from, from.AddDate(0, 0, 7))
	if err != nil {
		return err
	}
	first := from.Format(time.DateOnly)
	var errs []error
	for _, contact := range to {
		l := Letter{
			Contact: contact, Subject: r.Title + ", week from " + first, File: r.Name + "-" + first + ".pdf", Data: data,
			Text: "The report of the week from " + first + " is attached. The node " + m.o.Node + " made it.\n",
		}
		if err := m.o.Send(ctx, &l); err != nil {
			errs = append(errs, err)
			continue
		}
		state.Sent = append(state.Sent, contact)
	}
	return errors.Join(errs...)
}

func key(name string) document.Key { return document.Key{Owner: document.Shared, Name: folder + name} }

// read reads what was sent of a report, with the version of its document, 0 for none.
func read(ctx context.Context, from Documents, name string) (s State, version int, err error) {
	d, err := from.Get(ctx, key(name), 0)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && d.Deleted:
		return State{}, 0, nil
	case err != nil:
		return State{}, 0, err
	}
	if bad := json.Unmarshal([]byte(d.Text), &s); bad != nil { // somebody wrote something else: it is sent anew
		s = State{}
	}
	return s, d.Version, nil
}

func (m *Mailing) save(ctx context.Context, name string, s *State, expect int) (int, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	d, err := m.o.Documents.Set(ctx, document.Document{Key: key(name), Type: document.JSON, Text: string(text), By: by}, expect)
	return d.Version, err
}

// Last returns what became of the newest report of a name; the zero State if there was none.
func Last(ctx context.Context, from Documents, name string) (State, error) {
	s, _, err := read(ctx, from, name)
	return s, err
}
