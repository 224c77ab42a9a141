package mailing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/analysis"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/report/mailing"
)

// shelf keeps documents in memory, by the rules of document.Store for versions.
type shelf struct {
	mu    sync.Mutex
	texts map[string]document.Document
}

func (s *shelf) Get(_ context.Context, k document.Key, _ int) (document.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, is := s.texts[k.Name]
	if !is {
		return d, fault.E("document.Get", fault.NotFound, k.Name, errors.New("is not there"))
	}
	return d, nil
}

func (s *shelf) Set(_ context.Context, d document.Document, expect int) (document.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[d.Name].Version != expect {
		return d, fault.E("document.Set", fault.Conflict, d.Name, errors.New("is another version"))
	}
	d.Version = expect + 1
	s.texts[d.Name] = d
	return d, nil
}

// post is a site with a report, its clock, and what was sent.
type post struct {
	now  time.Time
	docs *shelf
	sent []string
	away map[string]bool // contacts that cannot be reached
	made int
	at   string // when the report is sent
	day  string
	// written is when the report was written.
	written time.Time
}

func (p *post) report() analysis.Report {
	return analysis.Report{Name: "week", Title: "Plant", Contacts: []string{"ada", "ben"}, At: p.at, Weekday: p.day}
}

func (p *post) mailing(t *testing.T) *mailing.Mailing {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return mailing.New(mailing.Options{
		Documents: p.docs, Node: "plant-1", Zone: zone, Now: func() time.Time { return p.now }, Log: slog.New(slog.DiscardHandler),
		Reports: func(context.Context) ([]mailing.Planned, error) {
			return []mailing.Planned{{Report: p.report(), Written: p.written}, {Report: analysis.Report{Name: "nobody"}}}, nil
		},
		Make: func(_ context.Context, _ *analysis.Report, from, to time.Time) ([]byte, error) {
			p.made++
			return fmt.Appendf(nil, "%s/%s", from.Format(time.DateOnly), to.Format(time.DateOnly)), nil
		},
		Send: func(_ context.Context, l *mailing.Letter) error {
			if p.away[l.Contact] {
				return errors.New(l.Contact + " is away")
			}
			p.sent = append(p.sent, l.Contact+" "+l.File+" "+string(l.Data))
			return nil
		},
	})
}

func (p *post) got() string {
	defer func() { p.sent = nil }()
	return strings.Join(p.sent, "; ")
}

func TestAReportGoesOutOnceEachMonday(t *testing.T) {
	p := &post{docs: &shelf{texts: map[string]document.Document{}}, now: time.Date(2026, 3, 30, 3, 59, 0, 0, time.UTC)} // 5:59 in summer time
	p.written = p.now.Add(-time.Hour)
	look := func() {
		t.Helper()
		if err := p.mailing(t).Look(t.Context()); err != nil { // each time as after a restart
			t.Fatal(err)
		}
	}
	look()
	if got := p.got(); got != "" {
		t.Errorf("before six there is %q", got)
	}
	p.now = p.now.Add(time.Minute)
	look()
	if got := p.got(); got != "ada week-2026-03-23.pdf 2026-03-23/2026-03-30; ben week-2026-03-23.pdf 2026-03-23/2026-03-30" {
		t.Errorf("at six there is %q", got)
	}
	p.now = p.now.AddDate(0, 0, 6)
	look()
	if got := p.got(); got != "" {
		t.Errorf("in the same week there is %q again", got)
	}
	// A node that was off on Monday sends on Thursday
	p.now = time.Date(2026, 4, 9, 12, 0, 0, 0, time.UTC)
	look()
	if got := p.got(); strings.Count(got, "2026-03-30/2026-04-06") != 2 {
		t.Errorf("on Thursday there is %q", got)
	}
}

func TestWhoIsAwayIsTriedAgainAndNobodyElseGetsItTwice(t *testing.T) {
	p := &post{docs: &shelf{texts: map[string]document.Document{}}, now: time.Date(2026, 3, 30, 5, 0, 0, 0, time.UTC), away: map[string]bool{"ada": true}}
	m := p.mailing(t)
	if err := m.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "ada is away") {
		t.Errorf("who is away gives %v", err)
	}
	if got := p.got(); !strings.HasPrefix(got, "ben ") || strings.Contains(got, ";") {
		t.Errorf("sent %q", got)
	}
	if s, err := mailing.Last(t.Context(), p.docs, "week"); err != nil || s.Error != "ada is away" || len(s.Sent) != 1 {
		t.Errorf("the state is %+v, %v", s, err)
	}
	p.away = nil
	if err := p.mailing(t).Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.got(); !strings.HasPrefix(got, "ada ") || strings.Contains(got, ";") {
		t.Errorf("then sent %q", got)
	}
}

// TestReplicasSendOnce has two replicas look at once: one of them claims the report.
func TestReplicasSendOnce(t *testing.T) {
	p := &post{docs: &shelf{texts: map[string]document.Document{}}, now: time.Date(2026, 3, 30, 5, 0, 0, 0, time.UTC)}
	first, second := p.mailing(t), p.mailing(t)
	// The first has claimed it and is about to send when the second looks
	claimed := `{"week":"2026-03-22T23:00:00Z","sent":null,"claimed":"2026-03-30T04:50:00Z"}`
	p.docs.texts["reports-sent/week"] = document.Document{Key: document.Key{Owner: document.Shared, Name: "reports-sent/week"}, Version: 1, Text: claimed}
	if err := second.Look(t.Context()); err != nil || p.got() != "" {
		t.Errorf("the second sends as well: %v", err)
	}
	p.now = p.now.Add(21 * time.Minute) // the first crashed
	if err := first.Look(t.Context()); err != nil || strings.Count(p.got(), ".pdf") != 2 {
		t.Errorf("nobody takes over: %v", err)
	}
}

func TestAReportHasItsDayAndTime(t *testing.T) {
	// A Friday in summer time; the clock of the site says 15:29
	p := &post{docs: &shelf{texts: map[string]document.Document{}}, now: time.Date(2026, 4, 3, 13, 29, 0, 0, time.UTC), day: "friday", at: "15:30"}
	m := p.mailing(t)
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	r := p.report()
	if got := mailing.Next(&r, p.now, zone).UTC().Format(time.RFC3339); got != "2026-04-03T13:30:00Z" {
		t.Errorf("next is %s", got)
	}
	p.written = p.now // it was planned just now: the Friday before is no matter of it
	if err := m.Look(t.Context()); err != nil || p.got() != "" {
		t.Errorf("a report is sent that nobody had planned: %v", err)
	}
	p.now = p.now.Add(time.Minute)
	if got := mailing.Next(&r, p.now, zone).UTC().Format(time.RFC3339); got != "2026-04-10T13:30:00Z" {
		t.Errorf("next is %s", got)
	}
	if err := m.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.got(); strings.Count(got, "2026-03-27/2026-04-03") != 2 {
		t.Errorf("at 15:30 there is %q", got)
	}
}

func TestAReportIsSentWhenSomebodyAsks(t *testing.T) {
	p := &post{docs: &shelf{texts: map[string]document.Document{}}, now: time.Date(2026, 3, 30, 3, 0, 0, 0, time.UTC), away: map[string]bool{"ben": true}} // Monday, 5:00
	m := p.mailing(t)
	r := p.report()
	s, err := m.Send(t.Context(), &r, "person:ada")
	if err != nil || s.Error != "ben is away" || s.By != "person:ada" || !s.At.Equal(p.now) || p.got() != "ada week-2026-03-23.pdf 2026-03-23/2026-03-30" {
		t.Errorf("%+v, %v", s, err)
	}
	// Neither a week before comes after it, nor the same one again
	p.away = nil
	if err := m.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.got(); got != "ben week-2026-03-23.pdf 2026-03-23/2026-03-30" {
		t.Errorf("then %q is sent", got)
	}
	p.now = p.now.Add(time.Hour)
	if err := m.Look(t.Context()); err != nil || p.got() != "" {
		t.Errorf("at six it is sent again: %v", err)
	}
	if s, err := m.Send(t.Context(), &r, "person:ada"); err != nil || len(s.Sent) != 2 || s.Error != "" {
		t.Errorf("%+v, %v", s, err)
	}
	r.Contacts = nil
	if _, err := m.Send(t.Context(), &r, "person:ada"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a report for nobody: %v", err)
	}
	p.docs.texts["reports-sent/week"] = document.Document{Key: document.Key{Owner: document.Shared, Name: "reports-sent/week"}, Version: 1, Text: `{"claimed":"2026-03-30T03:59:00Z"}`}
	r = p.report()
	if _, err := m.Send(t.Context(), &r, "person:ada"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a report that is being sent: %v", err)
	}
}
