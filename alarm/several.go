package alarm

import (
	"maps"
	"slices"
	"strings"

	"voltbus/alarm/expression"
	"voltbus/point"
)

// own is the name of the rule's point in an expression.
const own = "value"

const mostInputs = 20

// checkExpression checks the expression of a rule, and that each of its names is an input.
func (r *Rule) checkExpression() error {
	e, err := expression.Parse(r.Expression)
	if err != nil {
		return err
	}
	names := e.Names()
	if len(names) == 0 || len(names) > mostInputs || len(r.Inputs) > mostInputs {
		return wrong("expression", "it uses %d points; write 1 to %d", len(names), mostInputs)
	}
	for _, name := range names {
		if _, is := r.inputPath(name); !is {
			return wrong("inputs", "%.80q in the expression is not an input; write inputs such as {%q: \"b1/ahu1/supply_temp\"}, or the path between { and }", name, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		if path := r.Inputs[name]; !slices.Contains(names, name) || name == own || path == "" || len(path) > maxText {
			return wrong("inputs", "%.80q is not in the expression, is %s, or has no path; take it out", name, own)
		}
	}
	return nil
}

// inputPath returns the path, as a template, of a name in the expression, other than that of the rule's point; "" for that.
func (r *Rule) inputPath(name string) (path string, is bool) {
	if name == own {
		return "", true
	}
	if inside, is := strings.CutPrefix(name, "{"); is {
		return strings.TrimSuffix(inside, "}"), true
	}
	path, is = r.Inputs[name]
	return path, is
}

// connect has an instance look at the points of its expression.
func (e *Engine) connect(i *instance) {
	i.inputs = map[string]*watched{}
	for _, name := range i.rule.condition.Names() {
		template, _ := i.rule.inputPath(name)
		switch {
		case template == "":
			i.inputs[name] = i.at
		case name[0] == '{':
			i.inputs[name] = e.partner(point.Path(template), i)
		default:
			i.inputs[name] = e.partner(point.Path(filled(template, i.at.path)), i)
		}
	}
}

// uses reports whether a point is in the expression.
func (i *instance) uses(w *watched) bool {
	for _, in := range i.inputs {
		if in == w {
			return true
		}
	}
	return false
}

// old reports whether the newest usable reading is too old to judge by.
func (w *watched) old(longest, now int64) bool {
	if longest == 0 {
		longest = staleIntervals * w.interval
	}
	return longest > 0 && now-w.time > longest
}

// input is the value in an expression; unknown if it is not usable.
func (w *watched) input(longest, now int64) expression.Value {
	if !w.known || w.bad || w.old(longest, now) {
		return expression.Value{}
	}
	if w.value.Kind() == point.Bool {
		return expression.TruthOf(w.value.Bool())
	}
	if n, is := w.value.Number(); is {
		return expression.NumberOf(n)
	}
	return expression.TextOf(w.value.Text())
}

// inputWords are the values of the points of an expression.
func (i *instance) inputWords() string {
	var list []string
	for _, name := range i.rule.condition.Names() {
		value := "unknown"
		if w := i.inputs[name]; w.known {
			value = w.value.String()
		}
		list = append(list, strings.Trim(name, "{}")+" "+value)
	}
	return strings.Join(list, ", ")
}
