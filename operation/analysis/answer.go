package analysis

import (
	"strings"
	"time"

	"voltbus/analysis"
	"voltbus/report/mailing"
)

// Annotations are what people noted.
type Annotations struct {
	_ struct{} `api:"schema=Annotations"`

	Annotations []Noted `json:"annotations"`
}

// Noted is an annotation with its document.
type Noted struct {
	_ struct{} `api:"schema=NotedAnnotation"`

	ID      string    `json:"id"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Text    string    `json:"text"`
	Points  []string  `json:"points" doc:"That it is about; empty for all"`
	By      string    `json:"by" doc:"Who wrote it"`
	At      time.Time `json:"at" doc:"When it was written"`
	Version int       `json:"version" api:"min=1"`
}

// Views are saved views.
type Views struct {
	_ struct{} `api:"schema=SavedViews"`

	Views []Viewed `json:"views"`
}

// Viewed is a saved view with its document.
type Viewed struct {
	_ struct{} `api:"schema=SavedView"`

	Name    string    `json:"name"`
	Link    string    `json:"link"`
	Note    string    `json:"note"`
	By      string    `json:"by" doc:"Who saved it"`
	At      time.Time `json:"at"`
	Version int       `json:"version" api:"min=1"`
}

// Reports are weekly reports.
type Reports struct {
	_ struct{} `api:"schema=WeeklyReports"`

	Reports []Reported `json:"reports"`
	Zone    string     `json:"zone" doc:"Of the times at which they are sent, which is that of the site"`
	Sends   bool       `json:"sends" doc:"Whether the node can send reports"`
}

// Reported is a weekly report with its document.
type Reported struct {
	_ struct{} `api:"schema=WeeklyReport"`

	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Points   []string  `json:"points"`
	View     string    `json:"view" doc:"The saved view whose points it has; empty if it names them"`
	Contacts []string  `json:"contacts"`
	Weekday  string    `json:"weekday" doc:"On which it is sent, such as monday"`
	Time     string    `json:"time" doc:"At which it is sent, such as 06:00"`
	Next     time.Time `json:"next" doc:"When it is sent next"`
	By       string    `json:"by" doc:"Who wrote it"`
	At       time.Time `json:"at"`
	Version  int       `json:"version" api:"min=1"`
	Last     LastSent  `json:"last"`
}

// LastSent is what became of the newest report by e-mail.
type LastSent struct {
	_ struct{} `api:"schema=LastSent"`

	Week  time.Time `json:"week" doc:"When its seven days begin; 0001-01-01 if none was sent yet"`
	Sent  []string  `json:"sent" doc:"The contacts that have it"`
	Error string    `json:"error" doc:"Why others do not; it is tried again each ten minutes"`
	At    time.Time `json:"at" doc:"When it was last sent to somebody, or when that failed"`
	By    string    `json:"by" doc:"Who asked for it; empty for the plan"`
	Busy  bool      `json:"busy" doc:"Whether it is being sent"`
}

func lastOf(s *mailing.State) LastSent {
	return LastSent{Week: s.Week, Sent: filled(s.Sent), Error: s.Error, At: s.At, By: s.By, Busy: !s.Claimed.IsZero()}
}

func (d *handler) reportedOf(s *analysis.Saved[analysis.Report], last *mailing.State) Reported {
	r := &s.Value
	return Reported{
		Name: r.Name, Title: r.Title, Points: filled(r.Points), View: r.View, Contacts: filled(r.Contacts), Last: lastOf(last),
		Weekday: strings.ToLower(r.Day().String()), Time: r.Clock(), Next: mailing.Next(r, d.Now(), d.zone).UTC(),
		By: s.By, At: s.Time, Version: s.Version,
	}
}

func notedOf(s *analysis.Saved[analysis.Annotation]) Noted {
	a := &s.Value
	return Noted{ID: a.ID, From: a.From, To: a.To, Text: a.Text, Points: filled(a.Points), By: s.By, At: s.Time, Version: s.Version}
}

func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
