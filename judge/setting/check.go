package setting

import (
	"fmt"
	"maps"
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
	pythonName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,99}$`)
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
			if to != Parent && !slices.Contains(destinations, to) {
				one("to", "%q is no destination; write parent, or names of sinks: %s", to, strings.Join(destinations, ", "))
			}
		}
	}
}

// reads are the keys that each check reads, beside those that all read.
var reads = map[string][]string{ //nolint:gochecknoglobals // a table
	Range: {"low", "high"}, Rate: {"change", "per"}, Stuck: {"longest", "tolerance"},
	Difference: {"low", "high", "against", "window"}, Ratio: {"low", "high", "against", "window"},
	Function: {"file", "function", "python", "timeout", "memory_mib", "failure"}, Residual: {"model", "sigmas", "readings", "tolerance", "window"},
}

func (u *Rule) validate(r report) {
	if !plainName.MatchString(u.Name) {
		r("name", "%q is not a name; write up to 64 letters, digits, - and _, such as supply-range", u.Name)
	}
	keys, known := reads[u.Check]
	if !known {
		if u.Check == "" {
			r("check", "is missing; write one of range, rate, stuck, difference, ratio, residual, function")
		}
		return
	}
	for key, given := range u.given() {
		if given && !slices.Contains(keys, key) {
			r(key, "is not read by the check %s, which reads %s; remove it", u.Check, strings.Join(keys, ", "))
		}
	}
	switch u.Check {
	case Rate:
		u.validateRate(r)
	case Stuck:
		u.validateStuck(r)
	case Residual:
		u.validateResidual(r)
	case Function:
		u.validateFunction(r)
	default:
		u.validateBounds(r)
	}
}

// given tells which of the keys that not all checks read are there.
func (u *Rule) given() map[string]bool {
	return map[string]bool{
		"low": u.Low != nil, "high": u.High != nil, "change": u.Change != 0, "per": u.Per != 0, "longest": u.Longest != 0, "tolerance": u.Tolerance != 0,
		"against": u.Against != "", "window": u.Window != 0, "model": len(u.Model) > 0, "sigmas": u.Sigmas != 0, "readings": u.Readings != 0,
		"file": u.File != "", "function": u.Function != "", "python": u.Python != "", "timeout": u.Timeout != 0, "memory_mib": u.MemoryMiB != 0, "failure": u.Failure != "",
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
	u.validateTolerance(r)
}

func (u *Rule) validateTolerance(r report) {
	if !finite(u.Tolerance) || u.Tolerance < 0 {
		r("tolerance", "%v is not a tolerance; write a number of 0 or more", u.Tolerance)
	}
}

// The bounds of a model.
const (
	mostTerms     = 16
	leastReadings = 10
	mostReadings  = 1_000_000
)

func (u *Rule) validateResidual(r report) {
	u.validateTolerance(r)
	u.validateWindow(r)
	if !finite(u.Sigmas) || u.Sigmas < 0 {
		r("sigmas", "%v is not a number of deviations; write a number above 0, such as 4", u.Sigmas)
	}
	if u.Readings != 0 && (u.Readings < leastReadings || u.Readings > mostReadings) {
		r("readings", "%d is out of range; write a number from %d to %d, such as 100", u.Readings, leastReadings, mostReadings)
	}
	if len(u.Model) > mostTerms {
		r("model", "lists %d points; at most %d are possible", len(u.Model), mostTerms)
	}
	for _, path := range slices.Sorted(maps.Keys(u.Model)) {
		if !placed(path) {
			r("model", "%q has a placeholder that does not exist; write {1} to {9}", path)
		}
		if factor := u.Model[path]; !finite(factor) || factor == 0 {
			r("model", "%v is not the factor of %s; write a number other than 0", factor, path)
		}
	}
}

// The bounds of a function.
const (
	leastTimeout = 100 * time.Millisecond
	mostTimeout  = time.Minute
	leastMemory  = 32
	mostMemory   = 64 << 10
)

func (u *Rule) validateFunction(r report) {
	if u.File == "" {
		r("file", "is missing; write the name of a file in Python, such as rules/plausible.py")
	}
	if u.Verdict != "" {
		r("verdict", "is not read by the check function, which decides by itself; remove it")
	}
	if u.Function != "" && !pythonName.MatchString(u.Function) {
		r("function", "%q is not the name of a function; write one such as plausible", u.Function)
	}
	if u.Timeout != 0 && (u.Timeout < leastTimeout || u.Timeout > mostTimeout) {
		r("timeout", "%s is out of range; write a time from %s to %s, such as 5s", u.Timeout, leastTimeout, mostTimeout)
	}
	if u.MemoryMiB != 0 && (u.MemoryMiB < leastMemory || u.MemoryMiB > mostMemory) {
		r("memory_mib", "%d is out of range; write a number from %d to %d, such as 256", u.MemoryMiB, leastMemory, mostMemory)
	}
}

// placed reports whether a path has no other placeholders than those of segments.
func placed(path string) bool {
	return !strings.ContainsAny(placeholder.ReplaceAllString(path, ""), "{}*")
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
	case !placed(u.Against):
		r("against", "%q has a placeholder that does not exist; write {1} to {9}", u.Against)
	}
	u.validateWindow(r)
}

func (u *Rule) validateWindow(r report) {
	if u.Window < 0 || u.Window > longestSpan {
		r("window", "%s is out of range; write a time such as 5m", u.Window)
	}
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
