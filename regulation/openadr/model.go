// Package openadr is a client of OpenADR 3: it gets programs and events of a server (VTN), and makes courses of prices or emissions of their
// intervals.
package openadr

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Program is a program of the server, such as a tariff.
type Program struct {
	ID   string `json:"id"`
	Name string `json:"programName"`
}

// Event carries payloads in intervals.
type Event struct {
	ID        string       `json:"id"`
	ProgramID string       `json:"programID"`
	Name      string       `json:"eventName"`
	Priority  *int         `json:"priority"` // the lower, the more important; none is least important
	Changed   time.Time    `json:"modificationDateTime"`
	Describes []Descriptor `json:"payloadDescriptors"`
	Period    *Period      `json:"intervalPeriod"` // the default of the intervals
	Intervals []Interval   `json:"intervals"`
}

// Descriptor says in which unit a payload is.
type Descriptor struct {
	Payload  string `json:"payloadType"`
	Unit     string `json:"units"`
	Currency string `json:"currency"`
}

// Interval is a stretch of time with its payloads.
type Interval struct {
	ID       int       `json:"id"`
	Period   *Period   `json:"intervalPeriod"`
	Payloads []Payload `json:"payloads"`
}

// Payload is values of a type, such as PRICE or GHG.
type Payload struct {
	Type   string            `json:"type"`
	Values []json.RawMessage `json:"values"`
}

// Period is when an interval, or the first of several, starts, and how long each lasts.
type Period struct {
	Start    time.Time `json:"start"` // year 1: now
	Duration Duration  `json:"duration"`
}

// Duration is one of ISO 8601. Years have 365 days, months 30.
type Duration struct{ time.Duration }

var iso = regexp.MustCompile(`^([+-]?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// longest is what a longer duration is taken for, such as P9999Y, which stands for ever.
const longest = 200 * 365 * 24 * time.Hour

// UnmarshalJSON reads one.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil || text == "" {
		return err // null is none
	}
	parts := iso.FindStringSubmatch(text)
	if parts == nil || parts[0] == "P" {
		return fmt.Errorf("%q is no duration of ISO 8601, such as PT1H", text)
	}
	const day = 24 * time.Hour
	seconds := 0.0
	for i, unit := range []time.Duration{365 * day, 30 * day, 7 * day, day, time.Hour, time.Minute, time.Second} {
		if n, err := strconv.ParseFloat(parts[i+2], 64); err == nil {
			seconds += n * unit.Seconds()
		}
	}
	d.Duration = longest
	if seconds < longest.Seconds() {
		d.Duration = time.Duration(seconds * float64(time.Second))
	}
	if parts[1] == "-" {
		d.Duration = -d.Duration
	}
	return nil
}
