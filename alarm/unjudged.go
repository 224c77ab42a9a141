package alarm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"voltbus/point"
)

// doubts are the instances of which it is not known whether their conditions hold. Those of expressions depend on the time, too, and are looked at
// when somebody asks.
type doubts struct {
	conditions []*instance
	others     map[*instance]struct{}
	missing    []Unjudged // as of when known is set
	known      bool
}

// add has an instance looked at.
func (d *doubts) add(i *instance) {
	d.known = false
	if i.rule.condition != nil {
		d.conditions = append(d.conditions, i)
	}
	d.look(i)
}

// look notes whether it is known if the condition holds.
func (d *doubts) look(i *instance) {
	is := i.doubts()
	switch {
	case is == i.doubtful:
		return
	case is && d.others == nil:
		d.others = map[*instance]struct{}{}
	}
	if i.doubtful = is; is {
		d.others[i] = struct{}{}
	} else {
		delete(d.others, i)
	}
}

// doubts reports whether it is not known if the condition holds, but for expressions.
func (i *instance) doubts() bool {
	switch i.rule.Check {
	case Condition:
		return false
	case Stale:
		_, interval := i.stale()
		return !interval
	case Is:
		return !i.at.known
	case Discrepancy:
		return !i.at.known || !i.feedback.known
	case High, Low, Rate, Stuck:
	}
	n, is := i.at.value.Number()
	return !i.at.known || !is || math.IsNaN(n)
}

// unjudged says why it is not known whether the condition of the rule holds; "" if it is known.
func (i *instance) unjudged(now int64) string {
	switch {
	case i.rule.condition != nil:
		return i.unknownInputs(now)
	case !i.doubts():
		return ""
	case i.rule.Check == Stale:
		return fmt.Sprintf("the interval of %s is not known; write longest into the rule", i.at.path)
	case !i.at.known:
		return unread(i.at)
	case i.rule.Check == Discrepancy:
		return unread(i.feedback)
	}
	return fmt.Sprintf("%s is %.40q, not a number", i.at.path, i.at.value.String())
}

func unread(w *watched) string { return fmt.Sprintf("%s has no usable reading", w.path) }

// unknownInputs says why it is not known whether the condition of an expression holds.
func (i *instance) unknownInputs(now int64) string {
	if _, known := i.holds(now); known {
		return ""
	}
	var list []string
	for _, name := range i.rule.condition.Names() {
		switch w := i.inputs[name]; {
		case !w.known:
			list = append(list, unread(w))
		case w.bad:
			list = append(list, fmt.Sprintf("the newest reading of %s is not usable", w.path))
		case w.old(i.rule.longest, now):
			list = append(list, fmt.Sprintf("%s has no reading since %s", w.path, moment(w.time).Format("2006-01-02 15:04:05 UTC")))
		}
	}
	if len(list) == 0 {
		return "the values do not fit the expression: a text where a number is needed, or a division by 0"
	}
	return strings.Join(list, "; ")
}

// Unjudged is an alarm of which it is not known whether its condition holds, or what a rule selects and is not there.
type Unjudged struct {
	Alarm ID // "" for what is not there
	Rule  string
	Why   string
}

// Unjudged lists the rules that select what is not there, and then the alarms of which it is not known now whether their conditions hold, by name.
// What is there are the points that the engine has looked at.
func (e *Engine) Unjudged() []Unjudged {
	var list []Unjudged
	e.doubts.each(e.now, func(i *instance) {
		list = append(list, Unjudged{IDOf(i.rule.Name, i.at.path), i.rule.Name, i.unjudged(e.now)})
	})
	slices.SortFunc(list, func(a, b Unjudged) int { return strings.Compare(string(a.Alarm), string(b.Alarm)) })
	return append(slices.Clone(e.doubts.absent(e)), list...)
}

// each calls tell with each instance of which it is not known whether its condition holds.
func (d *doubts) each(now int64, tell func(*instance)) {
	for i := range d.others {
		tell(i)
	}
	for _, i := range d.conditions {
		if _, known := i.holds(now); !known {
			tell(i)
		}
	}
}

// absent lists the rules that select a point which is not there, or no point at all, by name.
func (d *doubts) absent(e *Engine) []Unjudged {
	if !d.known {
		d.missing, d.known = missing(e), true
	}
	return d.missing
}

func missing(e *Engine) (list []Unjudged) {
	found := make(map[string]*finds, len(e.rules))
	for name, c := range e.rules {
		found[name] = findsOf(c)
	}
	for _, w := range e.points {
		if w == nil {
			continue
		}
		for _, i := range w.own {
			found[i.rule.Name].add(w.path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if f := found[name]; !f.any {
			list = append(list, Unjudged{Rule: name, Why: "there is no point that it selects: " + strings.Join(e.rules[name].Points, ", ")})
		} else if len(f.missing) > 0 {
			list = append(list, Unjudged{Rule: name, Why: "there is no point " + strings.Join(f.missing, ", ")})
		}
	}
	return list
}

// finds is what was found of the points of a rule.
type finds struct {
	any     bool
	missing []string // points that the rule names, and that were not found
}

func findsOf(c *compiled) *finds {
	f := &finds{}
	for _, p := range c.Points {
		if p != "" && !strings.Contains(p, "*") {
			f.missing = append(f.missing, p)
		}
	}
	return f
}

func (f *finds) add(path point.Path) {
	f.any = true
	f.missing = slices.DeleteFunc(f.missing, func(p string) bool { return point.Pattern(p).Match(path) })
}

// Doubt is why a rule cannot be judged.
type Doubt struct {
	Rule string
	Why  string // what is missing, else of the first point by path
	More int    // points of which it is not known, either
}

// Doubts says which rules cannot be judged, by name.
func (e *Engine) Doubts() (list []Doubt) {
	type doubt struct {
		first *instance
		n     int
	}
	rules := map[string]*doubt{}
	e.doubts.each(e.now, func(i *instance) {
		d := rules[i.rule.Name]
		if d == nil {
			d = &doubt{first: i}
			rules[i.rule.Name] = d
		}
		if d.n++; i.at.path < d.first.at.path {
			d.first = i
		}
	})
	for _, m := range e.doubts.absent(e) {
		more := 0
		if d := rules[m.Rule]; d != nil {
			more = d.n
			delete(rules, m.Rule)
		}
		list = append(list, Doubt{m.Rule, m.Why, more})
	}
	for name, d := range rules {
		list = append(list, Doubt{name, d.first.unjudged(e.now), d.n - 1})
	}
	slices.SortFunc(list, func(a, b Doubt) int { return strings.Compare(a.Rule, b.Rule) })
	return list
}
