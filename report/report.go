// Package report lays out a report of points over a time as a document to print: curves, statistics, completeness, and the alarms of the time.
package report

import (
	"math"
	"time"
)

// Report is what a report says.
type Report struct {
	Title    string
	Node     string
	Zone     *time.Location // of all times and days
	From, To time.Time
	Made     time.Time
	Series   []Series
	Alarms   []Alarm
	// Opened is how many alarms opened; Alarms lists some of them.
	Opened int
	// Notes are what else the reader must know, such as points that are not known.
	Notes []string
}

// Series is a point over the time.
type Series struct {
	Point, Unit, Description string
	Steps                    []Step
	Statistics
	// Complete is the share of the expected samples that are there; negative if it is unknown.
	Complete float64
}

// Step is a step of the curve.
type Step struct {
	Start          time.Time
	Mean, Min, Max float64
}

// Statistics are figures of all samples that are not bad; NaN for those that are not known.
type Statistics struct {
	Count                           uint64
	Mean, Min, Max, P5, Median, P95 float64
	// Integral is that of a power over the hours with samples, in IntegralUnit; NaN if it means nothing.
	Integral     float64
	IntegralUnit string
	// Before is the mean of the week before.
	Before float64
}

// Nothing are the statistics of no sample.
func Nothing() Statistics {
	n := math.NaN()
	return Statistics{Mean: n, Min: n, Max: n, P5: n, Median: n, P95: n, Integral: n, Before: n}
}

// Alarm is an alarm that opened.
type Alarm struct {
	At                    time.Time
	Priority, Text, Point string
}

// Week returns the last seven whole days of a zone that are over at a time and end when a day of the week begins: from Monday to Monday for Monday.
func Week(now time.Time, zone *time.Location, day time.Weekday) (from, to time.Time) {
	local := now.In(zone)
	back := (int(local.Weekday()) - int(day) + 7) % 7
	to = time.Date(local.Year(), local.Month(), local.Day()-back, 0, 0, 0, 0, zone)
	return time.Date(to.Year(), to.Month(), to.Day()-7, 0, 0, 0, 0, zone), to
}
