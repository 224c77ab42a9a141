// Package mailing sends weekly reports by e-mail: each Monday at 6:00 in the time zone of the site, once to each contact. What was sent is kept in
// shared documents, so that neither a restart nor another replica sends it again; what fails is tried again, and Last says why.
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

// Options are what a mailing needs.
type Options struct {
	Documents Documents
	Reports   func(ctx context.Context) ([]analysis.Report, error)
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
	Week time.Time `json:"week"` // its Monday, at 0:00
	// Sent are the contacts that have it.
	Sent []string `json:"sent"`
	// Claimed is when a replica began to send it.
	Claimed time.Time `json:"claimed"`
	Error   string    `json:"error,omitempty"`
}

const (
	folder = "reports-sent/"
	// by is who writes what was sent.
	by = "node"
	// hour is when reports are sent, on Mondays.
	hour = 6
	// look is how often reports are looked for; a report that failed is tried again as often.
	look = 10 * time.Minute
	// abandoned is how long a replica may send before another one takes over.
	abandoned = 30 * time.Minute
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
	now := m.o.Now()
	from, to := report.Week(now, m.o.Zone)
	if now.Before(time.Date(to.Year(), to.Month(), to.Day(), hour, 0, 0, 0, m.o.Zone)) {
		return nil
	}
	list, err := m.o.Reports(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range list {
		if len(list[i].Contacts) > 0 {
			errs = append(errs, m.one(ctx, &list[i], from))
		}
	}
	return errors.Join(errs...)
}

// one sends a report to those who do not have it yet.
func (m *Mailing) one(ctx context.Context, r *analysis.Report, from time.Time) error {
	state, version, err := read(ctx, m.o.Documents, r.Name)
	if err != nil {
		return err
	}
	if !state.Week.Equal(from) {
		state = State{Week: from.UTC()}
	}
	missing := slices.DeleteFunc(slices.Clone(r.Contacts), func(c string) bool { return slices.Contains(state.Sent, c) })
	busy := state.Error == "" && m.o.Now().Sub(state.Claimed) < abandoned
	if len(missing) == 0 || busy {
		return nil
	}
	state.Claimed, state.Error = m.o.Now().UTC(), ""
	if version, err = m.save(ctx, r.Name, &state, version); fault.Is(err, fault.Conflict) {
		return nil // another replica sends it
	}
	if err != nil {
		return err
	}
	failed := m.send(ctx, r, &state, missing)
	if state.Claimed = (time.Time{}); failed != nil {
		state.Error = failed.Error()
	}
	_, err = m.save(ctx, r.Name, &state, version)
	return errors.Join(failed, err)
}

func (m *Mailing) send(ctx context.Context, r *analysis.Report, state *State, to []string) error {
	from := state.Week.In(m.o.Zone)
	data, err := m.o.Make(ctx, r, from, from.AddDate(0, 0, 7))
	if err != nil {
		return err
	}
	monday := from.Format(time.DateOnly)
	var errs []error
	for _, contact := range to {
		l := Letter{
			Contact: contact, Subject: r.Title + ", week from " + monday, File: r.Name + "-" + monday + ".pdf", Data: data,
			Text: "The report of the week from " + monday + " is attached. The node " + m.o.Node + " made it.\n",
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
