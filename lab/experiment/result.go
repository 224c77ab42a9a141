package experiment

import (
	"time"

	"voltbus/lab/account"
	"voltbus/lab/load"
	"voltbus/lab/machine"
)

// Format names the form of a result's JSON. It changes when a reader of the old one would err.
const Format = "voltbus-lab-result/1"

// Result is all that a run found. Its JSON form is the file result.json, which
// docs/reference/lab-result.schema.json describes.
type Result struct {
	Format     string   `json:"format"`
	Experiment string   `json:"experiment"`
	Title      string   `json:"title"`
	Question   string   `json:"question"`
	Source     string   `json:"source"`
	Method     []string `json:"method"`
	Limits     []string `json:"limits"`
	Metric     Metric   `json:"metric"`

	Started  time.Time           `json:"started"`
	Finished time.Time           `json:"finished"`
	Command  []string            `json:"command"`
	Version  string              `json:"version"`
	Commit   string              `json:"commit"`
	Seed     int64               `json:"seed"`
	Quick    bool                `json:"quick"`
	Repeats  int                 `json:"repeats"`
	Settings map[string]string   `json:"settings"`
	Machine  machine.Description `json:"machine"`

	Cases    []Measured `json:"cases"`
	Findings []Finding  `json:"findings,omitempty"` // limits and turning points that the program found
	Tables   []Table    `json:"tables,omitempty"`   // what follows from the cases, as the document has it
	Plots    []Plot     `json:"plots,omitempty"`    // the same as drawings
	Skipped  []Skipped  `json:"skipped"`            // peers that were asked for and are not here
	Notes    []string   `json:"notes"`
	Verdict  []string   `json:"verdict"` // in words
}

// Measured is what one subject reached in one case.
type Measured struct {
	Case    Case      `json:"case"`
	Subject string    `json:"subject"` // voltbus, or a peer that ran in the same run
	Values  []float64 `json:"values"`  // one a repeat, in the order of the repeats
	Median  float64   `json:"median"`
	Least   float64   `json:"least"`
	Most    float64   `json:"most"`

	Published []Figure `json:"published"`      // the document's row
	Peer      *Figure  `json:"peer,omitempty"` // the peer's figure, measured at another time
	Ratios    []Ratio  `json:"ratios"`

	Also      []Extra          `json:"also"`
	Latency   *load.Summary    `json:"latency,omitempty"`
	Account   *account.Balance `json:"account,omitempty"`
	Generator *load.HeadRoom   `json:"generator,omitempty"`
	Usage     []PartUsage      `json:"usage"` // of all repeats together
	Collected *Collections     `json:"collected,omitempty"`
	Course    []Moment         `json:"course,omitempty"` // how it went, as far as it was told; at most 240 moments

	latency *load.Histogram
}

// Ratio says how many times better a case's median is than another figure.
type Ratio struct {
	Against string  `json:"against"`
	Times   float64 `json:"times"`    // above 1: better than the other
	SameRun bool    `json:"same_run"` // the other ran side by side; else it is context
}

// Extra is a figure beside the metric.
type Extra struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"` // one a repeat
}

// PartUsage is what a part of the experiment used.
type PartUsage struct {
	Part  string        `json:"part"`
	Usage machine.Usage `json:"usage"`
}

// Skipped is a peer that did not run.
type Skipped struct {
	Peer   string `json:"peer"`
	Reason string `json:"reason"`
}

// Finding is a figure that a run found, beside those of its cases.
type Finding struct {
	Key       string  `json:"key"`  // by which programs find it, such as "mds-rate"
	Name      string  `json:"name"` // in words
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Published float64 `json:"published,omitempty"` // the document's figure; 0 for none
	Note      string  `json:"note,omitempty"`      // how it was found, in a sentence
}

// Table is figures that follow from those of the cases. The first column names the rows.
type Table struct {
	Title  string      `json:"title"`
	Head   []string    `json:"head"`
	Rows   [][]string  `json:"rows"`
	Shades [][]float64 `json:"shades,omitempty"` // of the cells behind the first of a row, 0 to 1, for a heat map
}

// measured returns the place for a subject's case, made if absent. The pointer holds until the
// next call.
func (r *Result) measured(c Case, subject string) *Measured {
	r.Cases = append(r.Cases, Measured{
		Case: c, Subject: subject, Values: []float64{}, Published: []Figure{}, Ratios: []Ratio{},
		Also: []Extra{}, Usage: []PartUsage{},
	})
	return &r.Cases[len(r.Cases)-1]
}
