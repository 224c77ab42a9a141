// Package setting defines the section "judge" of the configuration: which readings are looked at before they are passed on, and what becomes
// of those that a rule does not believe. The comments of the fields are the reference documentation.
package setting

import (
	"slices"
	"time"

	"voltbus/point"
)

// Rule is an entry of "judge".
type Rule struct {
	// Name identifies the rule in lists and counts.
	Name string `yaml:"name" example:"supply-range"`
	// Check is what is looked at. range: the value is from low to high. rate: it changes by no more than change in the time per. stuck: it does not
	// stay within tolerance for longer than longest. difference: the value less that of the point against is from low to high. ratio: the same for the quotient.
	// function: a function in Python decides. residual: the value less what the model expects is within some standard deviations of what it usually is.
	Check string `yaml:"check" enum:"range,rate,stuck,difference,ratio,residual,function"`
	// Points are patterns of the points whose readings are judged. Default: all.
	Points []string `yaml:"points" example:"[\"**/supply_temp\"]"`
	// Except are patterns of points, of those selected by points, whose readings are not judged.
	Except []string `yaml:"except" example:"[\"lab/**\"]"`
	// To names the destinations for which the rule holds: names of sinks, and parent for the parent of this node. Default: all sinks.
	To []string `yaml:"to" example:"[cloud, parent]"`
	// Verdict is what becomes of a reading that fails the check. withhold: it is kept here, until a person releases or discards it. mark: it is sent with
	// the quality uncertain(range) for range, else uncertain. Default: withhold. A function decides that by itself.
	Verdict string `yaml:"verdict" enum:"withhold,mark"`
	// Low is the smallest value, difference or quotient that passes.
	Low *float64 `yaml:"low" example:"-20"`
	// High is the largest value, difference or quotient that passes.
	High *float64 `yaml:"high" example:"60"`
	// Change is how far a value may be from the last one that passed, for each per between them.
	Change float64 `yaml:"change" example:"2.5"`
	// Per is the time in which a value may change by change. Default: 1m.
	Per time.Duration `yaml:"per" example:"1m"`
	// Longest is how long a value may stay within tolerance of where it was.
	Longest time.Duration `yaml:"longest" example:"6h"`
	// Tolerance is how far from where it was a value still counts as the same; for residual, a distance from the usual one that always passes. Default: 0.
	Tolerance float64 `yaml:"tolerance" example:"0.05"`
	// Against is the point that a reading is compared with: {1} to {9} stand for the segments of the reading's path.
	Against string `yaml:"against" example:"{1}/{2}/return_temp"`
	// Window is how far apart the times of the two readings may be. A reading with no other one that near passes. Default: 1m.
	Window time.Duration `yaml:"window" example:"5m"`
	// Model are the points that a value depends on, each with its factor: the model expects the sum of their last values times the factors. {1} to {9} stand for
	// the segments of the reading's path. A constant difference is learnt, and need not be given. Without a model, the running mean of the point itself is its forecast.
	Model map[string]float64 `yaml:"model" example:"{\"{1}/{2}/return_temp\": 1}"`
	// Sigmas is how many standard deviations a residual may be from the mean one. Default: 4.
	Sigmas float64 `yaml:"sigmas" example:"4"`
	// Readings is how many readings are learnt from, with all passing, before residuals are judged; later, the mean and the deviation follow about as many. As many
	// that fail one after another are believed to be a new normal, which is learnt anew. Default: 100.
	Readings int `yaml:"readings" example:"100"`
	// File is the file in Python with the function that judges, relative to the configuration file. It runs in a process of its own, for each destination, without
	// the network and without other files. When it changes, the process is started anew.
	File string `yaml:"file" example:"rules/plausible.py"`
	// Function is the name of the function. Default: the only one in the file that is marked with rule or each, of the module voltbus.rule.
	Function string `yaml:"function" example:"plausible"`
	// Python is the interpreter, such as that of a virtual environment with what the file imports. Default: that of agents.python.
	Python string `yaml:"python" example:"/opt/rules/bin/python"`
	// Timeout is how long the function may take for up to 5,000 readings, from 100ms to 1m. Default: 5s.
	Timeout time.Duration `yaml:"timeout" example:"5s"`
	// MemoryMiB is how much memory the process may use, in MiB. Default: 256.
	MemoryMiB int `yaml:"memory_mib" example:"256"`
	// Failure is what becomes of readings while the function raises, takes too long, needs too much memory or cannot be started. mark: they are sent
	// with the quality uncertain. withhold: they are kept here. Default: mark.
	Failure string `yaml:"failure" enum:"mark,withhold"`
}

// The checks.
const (
	Range      = "range"
	Rate       = "rate"
	Stuck      = "stuck"
	Difference = "difference"
	Ratio      = "ratio"
	Residual   = "residual"
	Function   = "function"
)

// The verdicts.
const (
	Withhold = "withhold"
	Mark     = "mark"
)

// Parent is the name by which rules call the parent of the node.
const Parent = "parent"

// Rules is the section "judge". The first rule that withholds a reading ends its judgement.
type Rules []Rule

// Completed returns the rule with what was left out.
func (u Rule) Completed() Rule {
	if u.Verdict == "" {
		u.Verdict = Withhold
	}
	if u.Per == 0 {
		u.Per = time.Minute
	}
	if u.Window == 0 {
		u.Window = time.Minute
	}
	if len(u.Points) == 0 {
		u.Points = []string{"**"}
	}
	if u.Sigmas == 0 {
		u.Sigmas = 4
	}
	if u.Readings == 0 {
		u.Readings = 100
	}
	if u.Timeout == 0 {
		u.Timeout = 5 * time.Second
	}
	if u.MemoryMiB == 0 {
		u.MemoryMiB = 256
	}
	if u.Failure == "" {
		u.Failure = Mark
	}
	return u
}

// Concerns reports whether readings of a point are judged by the rule, which is completed.
func (u *Rule) Concerns(path point.Path) bool {
	match := func(pattern string) bool { return point.Pattern(pattern).Match(path) }
	return slices.ContainsFunc(u.Points, match) && !slices.ContainsFunc(u.Except, match)
}

// For returns the rules that hold for a destination. For the parent, only those that name it: what goes up the tree is not withheld by the way.
func (l Rules) For(to string) (list Rules) {
	for _, r := range l {
		if (len(r.To) == 0 && to != Parent) || slices.Contains(r.To, to) {
			list = append(list, r.Completed())
		}
	}
	return list
}
