package query

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones for machines without any

	"voltbus/fault"
)

// Step is the length of a bucket: a duration, or a number of calendar days or months, whose length
// in hours varies. Exactly one of the fields is above 0.
type Step struct {
	Duration time.Duration
	Days     int
	Months   int
}

var (
	errStep = errors.New("is not a step; write a number with a unit, such as 10s, 15m, 1h, 1d, 1w, 1mo, 1q or 1y")
	errZone = errors.New("is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC")
)

// unit is a unit of steps.
type unit struct {
	Step
	most int // of them; more than any history has
}

func units() map[string]unit {
	return map[string]unit{
		"ms": {Step{Duration: time.Millisecond}, 1_000_000_000},
		"s":  {Step{Duration: time.Second}, 1_000_000_000},
		"m":  {Step{Duration: time.Minute}, 1_000_000},
		"h":  {Step{Duration: time.Hour}, 1_000_000},
		"d":  {Step{Days: 1}, 100_000},
		"w":  {Step{Days: 7}, 10_000},
		"mo": {Step{Months: 1}, 12_000},
		"q":  {Step{Months: 3}, 4_000},
		"y":  {Step{Months: 12}, 1_000},
	}
}

// ParseStep parses a step: a number with the unit ms, s, m, h, d, w, mo, q or y. Units from d on are calendar
// units.
func ParseStep(s string) (Step, error) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	u, ok := units()[s[digits:]]
	n, err := strconv.Atoi(s[:digits])
	if err != nil || !ok || n < 1 || n > u.most {
		return Step{}, fault.E("query.ParseStep", fault.Invalid, "step", errStep)
	}
	return Step{Duration: time.Duration(n) * u.Duration, Days: n * u.Days, Months: n * u.Months}, nil
}

// String returns the step in the form of ParseStep.
func (s Step) String() string {
	switch {
	case s.Months > 0 && s.Months%12 == 0:
		return strconv.Itoa(s.Months/12) + "y"
	case s.Months > 0:
		return strconv.Itoa(s.Months) + "mo"
	case s.Days > 0 && s.Days%7 == 0:
		return strconv.Itoa(s.Days/7) + "w"
	case s.Days > 0:
		return strconv.Itoa(s.Days) + "d"
	}
	for _, u := range []struct {
		name string
		long time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if s.Duration%u.long == 0 {
			return strconv.FormatInt(int64(s.Duration/u.long), 10) + u.name
		}
	}
	return strconv.FormatInt(s.Duration.Milliseconds(), 10) + "ms"
}

// Length returns the length of the step, on average for calendar steps.
func (s Step) Length() time.Duration {
	const day = 24 * time.Hour
	const month = 2_629_746 * time.Second // a twelfth of the Gregorian year
	return cmp.Or(s.Duration, time.Duration(s.Days)*day, time.Duration(s.Months)*month)
}

// ParseZone returns a time zone of the IANA database.
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" || len(name) > 64 {
		return nil, fault.E("query.ParseZone", fault.Invalid, "zone", errZone)
	}
	return zone, nil
}

// check reports an unusable step; with a zone also one that does not divide a day into equal parts.
func (s Step) check(zone *time.Location) error {
	const day = 24 * time.Hour
	switch {
	case s.Length() < time.Millisecond:
		return fmt.Errorf("the step %v is too short; it must be at least 1ms", s.Length())
	case zone != nil && s.Duration > 0 && day%s.Duration != 0:
		return fmt.Errorf("the step %v does not divide a day; with a zone ask for one that does, such as 15m, 1h or 6h, or for days", s)
	}
	return nil
}
