// Package ruleset parses which validation rules apply to which meters: a list of sets, of which the first that matches a channel applies.
// A set that is wrong stops nothing else. It is pure.
package ruleset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"voltbus/meter"
	"voltbus/meter/recovery"
	"voltbus/meter/vee"
)

// Name is the name of the shared document with the sets.
const Name = "metering/rules"

// Set is the rules of a group of meters.
type Set struct {
	Name    string
	Version int // of the document; 0 for what the configuration says
	Rules   vee.Rules
	Profile *Profile // of the class; nil without one
	// Priority is that of missing readings, see recovery.
	Priority int
	Wrong    error // what is wrong: what is said of it does not count, and what it judges needs a person

	meters    []string
	commodity string
	flow      string
}

// Label names the set with its version, for the lineage of readings, such as "households 3".
func (s *Set) Label() string { return fmt.Sprintf("%s %d", s.Name, max(s.Version, 1)) }

// Profile is what a class uses in each hour of a day, by the type of the day.
type Profile struct {
	Working  []float64 `json:"working"`
	Saturday []float64 `json:"saturday"` // as working if it is left out
	Sunday   []float64 `json:"sunday"`   // as saturday if it is left out
}

// At returns what passes in an interval that begins at a local time.
func (p *Profile) At(begin time.Time, length time.Duration) float64 {
	hours := p.Working
	switch day := begin.Weekday(); {
	case day == time.Sunday && len(p.Sunday) > 0:
		hours = p.Sunday
	case (day == time.Saturday || day == time.Sunday) && len(p.Saturday) > 0:
		hours = p.Saturday
	}
	if length <= time.Hour {
		return hours[begin.Hour()] * length.Hours()
	}
	sum := 0.0
	for h := range int(math.Ceil(length.Hours())) {
		sum += hours[(begin.Hour()+h)%len(hours)]
	}
	return sum
}

// hoursOfDay is how many values a profile has.
const hoursOfDay = 24

func (p *Profile) check() error {
	for name, hours := range map[string][]float64{"working": p.Working, "saturday": p.Saturday, "sunday": p.Sunday} {
		if len(hours) != hoursOfDay && (name == "working" || len(hours) > 0) {
			return fmt.Errorf("profile.%s: %d values: write 24, one for each hour", name, len(hours))
		}
		for i, v := range hours {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("profile.%s[%d]: %v: write a number of 0 or more", name, i, v)
			}
		}
	}
	return nil
}

// Sets is the sets in order, with the one of the configuration behind them.
type Sets struct {
	list     []*Set
	standard *Set
	wrong    error // of the document as a whole
}

// Standard returns the sets of a node without the document: one for all meters.
func Standard(rules vee.Rules) *Sets {
	return &Sets{standard: &Set{Name: "standard", Rules: rules, Priority: recovery.Default}}
}

// Unreadable returns the sets of a node whose document cannot be read.
func Unreadable(err error, rules vee.Rules) *Sets {
	out := Standard(rules)
	out.wrong = fmt.Errorf("%s: %w", Name, err)
	return out
}

// entry is a set as it is written.
type entry struct {
	Name       string   `json:"name"`
	Meters     []string `json:"meters"`
	Commodity  string   `json:"commodity"`
	Flow       string   `json:"flow"`
	Negative   *bool    `json:"negative"`
	Spike      *float64 `json:"spike"`
	SpikeFloor *float64 `json:"spike_floor"`
	High       *float64 `json:"high"`
	Low        *float64 `json:"low"`
	Stuck      *int     `json:"stuck"`
	Sum        *float64 `json:"sum"`
	Change     *float64 `json:"change"`
	Maximum    *float64 `json:"maximum"`
	Profile    *Profile `json:"profile"`
	Priority   *int     `json:"priority"`
}

// Parse reads a document as JSON. What it does not say of a set is as in the rules of the configuration. A document that
// cannot be read at all leaves those for all meters; Problems says so.
func Parse(text json.RawMessage, version int, rules vee.Rules) *Sets {
	out := Standard(rules)
	var document struct {
		Rules []json.RawMessage `json:"rules"`
	}
	if err := strict(text, &document); err != nil {
		out.wrong = fmt.Errorf("%s: %w; write rules: with a list", Name, err)
		return out
	}
	seen := map[string]bool{}
	for i, one := range document.Rules {
		s := read(one, rules)
		s.Version = version
		if s.Name == "" {
			s.Name = fmt.Sprintf("rules[%d]", i)
			s.Wrong = errors.Join(errors.New("name: missing"), s.Wrong)
		}
		if seen[s.Name] {
			s.Wrong = errors.Join(fmt.Errorf("name: %s is given twice", s.Name), s.Wrong)
		}
		seen[s.Name] = true
		if s.Wrong != nil {
			s.Rules, s.Priority = rules, recovery.Default
		}
		out.list = append(out.list, s)
	}
	return out
}

func strict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// read reads one set. What is wrong with it is noted in the set.
func read(text json.RawMessage, rules vee.Rules) *Set {
	var e entry
	err := strict(text, &e)
	if err != nil {
		_ = json.Unmarshal(text, &e) // whom it is for, as far as that can be read
	}
	s := &Set{Name: e.Name, Rules: e.rules(rules), Profile: e.Profile, Priority: recovery.Default, Wrong: err, meters: e.Meters, commodity: e.Commodity, flow: e.Flow}
	for _, pattern := range e.Meters {
		if _, err := path.Match(pattern, ""); err != nil {
			s.Wrong = errors.Join(s.Wrong, fmt.Errorf("meters: %q is no pattern: write such as 1EMH*", pattern))
		}
	}
	if _, err := meter.ParseCommodity(e.Commodity); err != nil && e.Commodity != "" {
		s.Wrong = errors.Join(s.Wrong, err)
	}
	if _, ok := flowNames[e.Flow]; !ok && e.Flow != "" {
		s.Wrong = errors.Join(s.Wrong, fmt.Errorf("flow %q: write forward, reverse or net", e.Flow))
	}
	if err := s.Rules.Validate(); err != nil {
		s.Wrong = errors.Join(s.Wrong, errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	if e.Priority != nil {
		s.Priority = *e.Priority
		s.Wrong = errors.Join(s.Wrong, recovery.CheckPriority(*e.Priority))
	}
	if e.Profile != nil {
		if err := e.Profile.check(); err != nil {
			s.Wrong, s.Profile = errors.Join(s.Wrong, err), nil
		}
	}
	return s
}

var flowNames = map[string]int16{"forward": meter.FlowForward, "reverse": meter.FlowReverse, "net": meter.FlowNet}

// rules are those of the configuration with what the set says instead.
func (e *entry) rules(r vee.Rules) vee.Rules {
	for _, n := range []struct {
		from *float64
		to   *float64
	}{
		{e.Spike, &r.SpikeRatio},
		{e.SpikeFloor, &r.SpikeFloor},
		{e.High, &r.HighRatio},
		{e.Low, &r.LowRatio},
		{e.Sum, &r.SumTolerance},
		{e.Change, &r.DemandTolerance},
		{e.Maximum, &r.MaxRatio},
	} {
		if n.from != nil {
			*n.to = *n.from
		}
	}
	if e.Negative != nil {
		r.Negative = *e.Negative
	}
	if e.Stuck != nil {
		r.StuckCount = *e.Stuck
	}
	return r
}

// Ranks reports whether a set has another priority than the default.
func (s *Sets) Ranks() bool {
	return slices.ContainsFunc(s.list, func(one *Set) bool { return one.Priority != recovery.Default })
}

// Of returns the set of a channel of a meter: the first one that matches, or that of the configuration.
func (s *Sets) Of(id string, of meter.Commodity, c *meter.Channel) *Set {
	for _, one := range s.list {
		if one.matches(id, of, c) {
			return one
		}
	}
	return s.standard
}

func (s *Set) matches(id string, of meter.Commodity, c *meter.Channel) bool {
	if s.commodity != "" && of.String() != s.commodity {
		return false
	}
	if s.flow != "" && flowNames[s.flow] != c.ReadingType[meter.FlowDirection] {
		return false
	}
	return len(s.meters) == 0 || slices.ContainsFunc(s.meters, func(pattern string) bool {
		ok, _ := path.Match(pattern, id)
		return ok
	})
}

// Problems lists what is wrong, and with which set.
func (s *Sets) Problems() []string {
	var out []string
	if s.wrong != nil {
		out = append(out, s.wrong.Error())
	}
	for _, one := range s.list {
		if one.Wrong != nil {
			out = append(out, fmt.Sprintf("%s, %s: %s", Name, one.Name, strings.ReplaceAll(one.Wrong.Error(), "\n", "; ")))
		}
	}
	return out
}
