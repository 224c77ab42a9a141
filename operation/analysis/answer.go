package analysis

import (
	"time"

	"voltbus/analysis"
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
}

// Reported is a weekly report with its document.
type Reported struct {
	_ struct{} `api:"schema=WeeklyReport"`

	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Points   []string  `json:"points"`
	Contacts []string  `json:"contacts"`
	By       string    `json:"by" doc:"Who wrote it"`
	At       time.Time `json:"at"`
	Version  int       `json:"version" api:"min=1"`
	Last     LastSent  `json:"last"`
}

// LastSent is what became of the newest report by e-mail.
type LastSent struct {
	_ struct{} `api:"schema=LastSent"`

	Week  time.Time `json:"week" doc:"Its Monday; 0001-01-01 if none was sent yet"`
	Sent  []string  `json:"sent" doc:"The contacts that have it"`
	Error string    `json:"error" doc:"Why others do not; it is tried again each ten minutes"`
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
