// Package experiment is the contract between the lab and its experiments: a scenario with the published table that it reproduces, and the
// test bench on which it is measured.
package experiment

import (
	"context"
	"strconv"
)

// Experiment asks one question and answers it with figures. It is a value; to add one, write
// one file in lab/study and names it in the list there.
type Experiment struct {
	Name     string   // short and stable, such as "pnnl-30858-table4"
	Title    string   // one line
	Question string   // one sentence that ends with a question mark
	Source   string   // where the published figures come from, and on what they were measured; "" for none
	Method   []string // how it is measured, in sentences
	Limits   []string // what the figures do not say, in sentences
	Metric   Metric

	Published []Published // the published table; empty for a study without one
	Settings  []Setting   // what a run may change

	// Run measures every case on the bench. It returns when all is measured or ctx ends, leaves
	// no goroutine and no process, and keeps its files in the directory that the bench gives.
	Run func(ctx context.Context, b *Bench) error

	// Peers do the same work in the same run if they are asked for and can be found here.
	Peers []Peer
}

// Metric is what one figure of an experiment means.
type Metric struct {
	Name   string `json:"name"`             // such as "interval of a scrape"
	Unit   string `json:"unit"`             // such as "s" or "samples/s"
	Axis   string `json:"axis"`             // what Case.X counts, such as "devices"
	Higher bool   `json:"higher_is_better"` // whether a larger figure is the better one
}

// Case is one row of an experiment's table.
type Case struct {
	Name string  `json:"name"`           // unique in the experiment, such as "10,000 devices"
	X    float64 `json:"x"`              // its place on the metric's axis
	Line string  `json:"line,omitempty"` // the curve that it belongs to; "" if there is one
}

// Figure is a value with where it comes from.
type Figure struct {
	Label string  `json:"label"` // such as "ZeroMQ, Raspberry Pi 4"
	Value float64 `json:"value"` // in the metric's unit
}

// Published is one row of a published table.
type Published struct {
	Case    Case
	Figures []Figure // in the order of the document's columns
	Peer    *Figure  // what the peer reached on the development machine at another time; nil if unknown
}

// Setting is a number or word that a run may change with --set name=value.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"` // also its kind: a number, a duration such as 1s, true or false, or a text
	Quick   string `json:"quick"`   // the default of a quick run; "" for the same
	Doc     string `json:"doc"`     // one line, with the unit
}

// Peer is another project's program that does the same work in the same run.
type Peer struct {
	Name string // as the report shows it, such as "RabbitMQ"
	// Find returns nil if the program is here, else how to get it, in one sentence.
	Find func() error
	// Run measures the peer, as Experiment.Run does.
	Run func(ctx context.Context, b *Bench) error
}

// Own is the subject of what is measured on Voltbus itself.
const Own = "voltbus"

// Count writes a number with commas between thousands, as names of cases have it.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
