package alarm

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Check is what a rule looks at.
type Check string

// The checks.
const (
	High        Check = "high"        // the value is above Limit
	Low         Check = "low"         // the value is below Limit
	Rate        Check = "rate"        // the value changes by more than Change within Per
	Stuck       Check = "stuck"       // readings stay within Tolerance for Longest
	Stale       Check = "stale"       // no usable reading arrives for Longest
	Is          Check = "state"       // the value is one of Values
	Discrepancy Check = "discrepancy" // the value differs from that of the point Feedback by more than Tolerance
	Condition   Check = "expression"  // the condition Expression on several points holds
)

// Checks lists the checks.
func Checks() []Check { return []Check{High, Low, Rate, Stuck, Stale, Is, Discrepancy, Condition} }

// Priority is the priority of an alarm: how soon an operator must act (ISA-18.2, 6.5).
type Priority string

// The priorities.
const (
	PriorityLow    Priority = "low"
	PriorityMedium Priority = "medium" // the default
	PriorityHigh   Priority = "high"
	Critical       Priority = "critical"
)

// Rank orders priorities: 3 for critical, 0 for low.
func (p Priority) Rank() int {
	return max(0, slices.Index([]Priority{PriorityLow, PriorityMedium, PriorityHigh, Critical}, p))
}

// Rule says when points are in alarm. Durations are in seconds.
type Rule struct {
	_ struct{} `api:"schema=AlarmRule" doc:"A rule, which has one alarm for each point that it selects"`

	Name   string            `json:"name" api:"required,max=64" doc:"Small letters, digits, dots, hyphens and underscores"`
	Points []string          `json:"points" api:"required,max=100" doc:"Patterns of points; each point has an alarm of its own"`
	Except []string          `json:"except,omitempty" api:"max=100" doc:"Patterns of points that have none"`
	Tags   map[string]string `json:"tags,omitempty" doc:"Tags that the points must have, too"`
	Check  Check             `json:"check" api:"required,one-of=high|low|rate|stuck|stale|state|discrepancy|expression" doc:"What it looks at. high, low: the value is above or below limit. rate: it changes by more than change within per. stuck: it stays within tolerance for longest. stale: no usable reading arrives for longest. state: it is one of values. discrepancy: it differs from feedback by more than tolerance. expression: a condition on several points holds"`

	Limit     *float64 `json:"limit,omitempty" doc:"Of high and low, which need it, in the unit of the point"`
	Deadband  float64  `json:"deadband,omitempty" doc:"Of high, low and rate: how far the value must be back for the alarm to return to normal"`
	OnDelay   float64  `json:"on_delay,omitempty" doc:"Seconds that the condition must last before the alarm opens"`
	OffDelay  float64  `json:"off_delay,omitempty" doc:"Seconds that it must be over before the alarm returns to normal"`
	Change    float64  `json:"change,omitempty" doc:"Of rate"`
	Per       float64  `json:"per,omitempty" doc:"Of rate, in seconds; 60 if left out"`
	Longest   float64  `json:"longest,omitempty" doc:"Of stuck, stale and expression, in seconds; stale: three times the interval of the point if left out; expression: the same of each input"`
	Tolerance float64  `json:"tolerance,omitempty" doc:"Of stuck and discrepancy"`
	Values    []string `json:"values,omitempty" api:"max=100" doc:"Of state: the values that are an alarm, as text"`
	Feedback  string   `json:"feedback,omitempty" api:"max=1024" doc:"Of discrepancy: the point to compare with; {1} to {9} stand for the segments of the path of the rule's point"`

	// Expression is as in expression.Parse.
	Expression string            `json:"expression,omitempty" api:"max=4096" doc:"Of expression: a condition such as supply - return < 2 and pump == 1, with or, not, + - * /, abs, min, max and parentheses. A name is that of an input, value is the rule's point, and {path} a point. With an input that has no usable reading, or none for longest or three of its intervals, the rule cannot be judged: no alarm opens or returns to normal"`
	Inputs     map[string]string `json:"inputs,omitempty" doc:"Of expression: the points by name; {1} to {9} as in feedback"`

	Priority       Priority `json:"priority,omitempty" api:"one-of=low|medium|high|critical" doc:"medium if left out"`
	Latching       bool     `json:"latching,omitempty" doc:"Whether the alarm stays until an operator resets it"`
	Group          string   `json:"group,omitempty" api:"max=1024" doc:"In a group the alarm that opens first is marked; {1} to {9} as in feedback"`
	SuppressPoint  string   `json:"suppress_point,omitempty" api:"max=1024" doc:"While this point has one of suppress_values, the alarm is suppressed by design; {1} to {9} as in feedback"`
	SuppressValues []string `json:"suppress_values,omitempty" api:"max=100"`

	Message     string `json:"message,omitempty" api:"max=1024" doc:"What is wrong, for the operator; made of the check if left out"`
	Consequence string `json:"consequence,omitempty" api:"max=1024" doc:"What happens if nobody acts"`
	Response    string `json:"response,omitempty" api:"max=1024" doc:"What the operator does"`
}

// Bounds of a rule.
const (
	maxPatterns = 100
	maxValues   = 100
	maxText     = 1024
	maxSeconds  = 366 * 24 * 3600
)

var ruleName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Completed returns the rule with what was left out.
func (r Rule) Completed() Rule {
	if r.Priority == "" {
		r.Priority = PriorityMedium
	}
	if r.Per == 0 {
		r.Per = 60
	}
	return r
}

// Validate returns what is wrong with a rule.
func (r *Rule) Validate() error {
	for _, check := range []func() error{r.checkNames, r.checkPoints, r.checkNumbers, r.checkOwn, r.checkTexts} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func wrong(field, format string, args ...any) error {
	return fault.E("alarm.Rule", fault.Invalid, field, fmt.Errorf(format, args...))
}

func (r *Rule) checkNames() error {
	switch {
	case !ruleName.MatchString(r.Name):
		return wrong("name", "%.80q is not the name of a rule; write 1 to 64 small letters, digits, dots, hyphens and underscores, such as supply-high", r.Name)
	case !slices.Contains(Checks(), r.Check):
		return wrong("check", "%.40q is not a check; write one of %v", r.Check, Checks())
	case !slices.Contains([]Priority{"", PriorityLow, PriorityMedium, PriorityHigh, Critical}, r.Priority):
		return wrong("priority", "%.40q is not a priority; write low, medium, high or critical", r.Priority)
	}
	return nil
}

func (r *Rule) checkPoints() error {
	if len(r.Points) == 0 || len(r.Points) > maxPatterns || len(r.Except) > maxPatterns || len(r.Tags) > maxPatterns {
		return wrong("points", "write 1 to %d patterns of points, such as b1/*/supply_temp; as many tags and exceptions at most", maxPatterns)
	}
	for _, p := range slices.Concat(r.Points, r.Except) {
		if p == "" || len(p) > maxText || strings.ContainsFunc(p, func(c rune) bool { return c < ' ' }) {
			return wrong("points", "%.80q is not a pattern of points; write ** for all", p)
		}
	}
	return nil
}

func (r *Rule) checkNumbers() error {
	for _, f := range []struct {
		name   string
		value  float64
		lowest float64
	}{
		{"limit", r.limit(), math.Inf(-1)},
		{"deadband", r.Deadband, 0},
		{"change", r.Change, 0},
		{"tolerance", r.Tolerance, 0},
	} {
		if !(f.value >= f.lowest) || math.IsInf(f.value, 0) {
			return wrong(f.name, "%v is not possible; write a number, not below 0 unless it is a limit", f.value)
		}
	}
	for name, seconds := range map[string]float64{"on_delay": r.OnDelay, "off_delay": r.OffDelay, "per": r.Per, "longest": r.Longest} {
		if !(seconds >= 0 && seconds <= maxSeconds) {
			return wrong(name, "%v s is not possible; write 0 to %d seconds", seconds, maxSeconds)
		}
	}
	return nil
}

// checkOwn checks what each check needs.
func (r *Rule) checkOwn() error {
	switch r.Check {
	case High, Low:
		if r.Limit == nil {
			return wrong("limit", "missing; write the limit, such as 80")
		}
	case Rate:
		if r.Change == 0 {
			return wrong("change", "missing; write by how much the value may change")
		}
	case Stuck:
		if r.Longest == 0 {
			return wrong("longest", "missing; write how many seconds the value may stay the same")
		}
	case Is:
		if len(r.Values) == 0 || len(r.Values) > maxValues {
			return wrong("values", "write 1 to %d values that are an alarm, such as true or fault", maxValues)
		}
	case Discrepancy:
		if r.Feedback == "" {
			return wrong("feedback", "missing; write the point that reports what the command should have done, such as {1}/{2}/status")
		}
	case Condition:
		if err := r.checkExpression(); err != nil {
			return err
		}
	case Stale:
	}
	if (r.SuppressPoint == "") != (len(r.SuppressValues) == 0) || len(r.SuppressValues) > maxValues {
		return wrong("suppress_values", "write a suppress_point and 1 to %d of its values, or neither", maxValues)
	}
	return nil
}

func (r *Rule) checkTexts() error {
	for name, text := range map[string]string{
		"message": r.Message, "consequence": r.Consequence, "response": r.Response, "group": r.Group, "feedback": r.Feedback, "suppress_point": r.SuppressPoint,
	} {
		if len(text) > maxText || strings.ContainsRune(text, 0) {
			return wrong(name, "it has more than %d bytes; write less", maxText)
		}
	}
	return nil
}

// Selects reports whether the rule has an alarm for a point.
func (r *Rule) Selects(info *point.Info) bool {
	match := func(pattern string) bool { return point.Pattern(pattern).Match(info.Path) }
	if !slices.ContainsFunc(r.Points, match) || slices.ContainsFunc(r.Except, match) {
		return false
	}
	for name, value := range r.Tags {
		if has, is := info.Tags[name]; !is || has != value {
			return false
		}
	}
	return true
}

// limit returns the limit of high and low, which Validate demands; 0 for other checks.
func (r *Rule) limit() float64 {
	if r.Limit == nil {
		return 0
	}
	return *r.Limit
}

// filled replaces {1} to {9} by the segments of a path.
func filled(template string, path point.Path) string {
	if !strings.Contains(template, "{") {
		return template
	}
	segments := strings.Split(string(path), "/")
	for i := range 9 {
		text := ""
		if i < len(segments) {
			text = segments[i]
		}
		template = strings.ReplaceAll(template, fmt.Sprintf("{%d}", i+1), text)
	}
	return template
}

func micros(seconds float64) int64 { return int64(seconds * float64(time.Second/time.Microsecond)) }

// words says what the rule looks for.
func (r *Rule) words() string {
	switch r.Check {
	case High:
		return fmt.Sprintf("is above %v", r.limit())
	case Low:
		return fmt.Sprintf("is below %v", r.limit())
	case Rate:
		return fmt.Sprintf("changes by more than %v within %v", r.Change, span(r.Per))
	case Stuck:
		return fmt.Sprintf("has been the same for %v", span(r.Longest))
	case Stale:
		return "has no new value"
	case Is:
		return "is " + strings.Join(r.Values, " or ")
	case Discrepancy:
		return "differs from its feedback " + r.Feedback
	case Condition:
		return "fulfils " + r.Expression
	}
	return string(r.Check)
}

func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
