package setting

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Most is how many rules there may be.
const Most = 256

// longestSpan is the longest time that a rule may look back.
const longestSpan = 366 * 24 * time.Hour

var (
	plainName   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)
	placeholder = regexp.MustCompile(`\{[1-9]\}`)
)

type report = func(key, format string, args ...any)

// Validate reports what is wrong with the rules, for the destinations that there are.
func (l Rules) Validate(destinations []string, r report) {
	if len(l) > Most {
		r("judge", "lists %d; at most %d are possible", len(l), Most)
	}
	names := map[string]bool{}
	for i := range l {
		at := fmt.Sprintf("judge[%d].", i)
		if names[l[i].Name] {
			r(at+"name", "%q is there already; give each rule a name of its own", l[i].Name)
		}
		names[l[i].Name] = true
		one := func(key, format string, args ...any) { r(at+key, format, args...) }
		l[i].validate(one)
		for _, to := range l[i].To {
			if !slices.Contains(destinations, to) {
				one("to", "%q is no destination; write names of sinks: %s", to, strings.Join(destinations, ", "))
			}
		}
	}
}

// reads are the keys that each check reads, beside those that all read.
var reads = map[string][]string{ //nolint:gochecknoglobals // a table
	Range: {"low", "high"}, Rate: {"change", "per"}, Stuck: {"longest", "tolerance"},
	Difference: {"low", "high", "against", "window"}, Ratio: {"low", "high", "against", "window"},
}

func (u *Rule) validate(r report) {
	if !plainName.MatchString(u.Name) {
		r("name", "%q is not a name; write up to 64 letters, digits, - and _, such as supply-range", u.Name)
	}
	keys, known := reads[u.Check]
	if !known {
		if u.Check == "" {
			r("check", "is missing; write one of range, rate, stuck, difference, ratio")
		}
		return
	}
	for key, given := range map[string]bool{
		"low": u.Low != nil, "high": u.High != nil, "change": u.Change != 0, "per": u.Per != 0, "longest": u.Longest != 0, "tolerance": u.Tolerance != 0,
		"against": u.Against != "", "window": u.Window != 0,
	} {
		if given && !slices.Contains(keys, key) {
			r(key, "is not read by the check %s, which reads %s; remove it", u.Check, strings.Join(keys, ", "))
		}
	}
	switch u.Check {
	case Rate:
		u.validateRate(r)
	case Stuck:
		u.validateStuck(r)
	default:
		u.validateBounds(r)
	}
}

func (u *Rule) validateRate(r report) {
	if !finite(u.Change) || u.Change <= 0 {
		r("change", "%v is not a change; write a number above 0, such as 2.5", u.Change)
	}
	if u.Per < 0 || u.Per > longestSpan {
		r("per", "%s is out of range; write a time such as 1m", u.Per)
	}
}

func (u *Rule) validateStuck(r report) {
	if u.Longest <= 0 || u.Longest > longestSpan {
		r("longest", "%s is out of range; write a time such as 6h", u.Longest)
	}
	if !finite(u.Tolerance) || u.Tolerance < 0 {
		r("tolerance", "%v is not a tolerance; write a number of 0 or more", u.Tolerance)
	}
}

func (u *Rule) validateBounds(r report) {
	if u.Low == nil && u.High == nil {
		r("low", "and high are missing; write at least one of them")
	}
	for key, bound := range map[string]*float64{"low": u.Low, "high": u.High} {
		if bound != nil && !finite(*bound) {
			r(key, "%v is not a bound; write a number", *bound)
		}
	}
	if u.Low != nil && u.High != nil && *u.Low > *u.High {
		r("low", "%v is above high, %v; exchange them", *u.Low, *u.High)
	}
	if u.Check == Range {
		return
	}
	switch {
	case u.Against == "":
		r("against", "is missing; write the point that readings are compared with, such as {1}/{2}/return_temp")
	case strings.ContainsAny(placeholder.ReplaceAllString(u.Against, ""), "{}*"):
		r("against", "%q has a placeholder that does not exist; write {1} to {9}", u.Against)
	}
	if u.Window < 0 || u.Window > longestSpan {
		r("window", "%s is out of range; write a time such as 5m", u.Window)
	}
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
