package monitor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"voltbus/alarm"
	"voltbus/catalog"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/point"
)

// Folder is where the documents of the rules are among the shared ones.
const Folder = "alarms/"

// kept is a rule with the version of its document.
type kept struct {
	rule    alarm.Rule
	wrong   error // it is not looked at
	version int
	by      string
}

// Rule is a rule, with what is wrong with its document.
type Rule struct {
	alarm.Rule

	Version int
	By      string // who wrote it
	Wrong   error
	// Unjudged are the alarms of which it is not known whether their conditions hold, and what is not there that the rule selects.
	Unjudged []alarm.Unjudged
}

func keyOf(name string) document.Key {
	return document.Key{Owner: document.Shared, Name: Folder + name}
}

// Changed has the rules read again if the document is one of them.
func (m *Monitor) Changed(c document.Change) {
	if m != nil && c.Owner == document.Shared && (isPlan(c.Name) || strings.HasPrefix(strings.ToLower(c.Name), Folder)) {
		m.signal()
	}
}

// Rules lists the rules by name, also those whose documents are wrong.
func (m *Monitor) Rules() []Rule {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Rule, 0, len(m.rules))
	unjudged := map[string][]alarm.Unjudged{}
	if looked(m) {
		for _, u := range m.engine.Unjudged() {
			unjudged[u.Rule] = append(unjudged[u.Rule], u)
		}
	}
	for _, k := range m.rules {
		list = append(list, Rule{k.rule, k.version, k.by, k.wrong, unjudged[k.rule.Name]})
	}
	slices.SortFunc(list, func(a, b Rule) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// doubts says which rules cannot be judged, and why.
func (m *Monitor) doubts() []alarm.Doubt {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []alarm.Doubt
	if looked(m) {
		list = m.engine.Doubts()
	}
	for name, k := range m.rules {
		if k.wrong != nil {
			list = append(list, alarm.Doubt{Rule: name, Why: "its document is wrong and not used: " + k.wrong.Error()})
		}
	}
	slices.SortFunc(list, func(a, b alarm.Doubt) int { return cmp.Compare(a.Rule, b.Rule) })
	return list
}

// looked reports whether the points of all rules were looked for: until then nothing is said of what is missing. The caller holds mu.
func looked(m *Monitor) bool { return m.found && m.at.Sequence >= m.target }

// Put writes a rule as a new version of its document.
func (m *Monitor) Put(ctx context.Context, r alarm.Rule, by, note string, expect int) (Rule, error) {
	if err := r.Validate(); err != nil {
		return Rule{}, err
	}
	text, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return Rule{}, fault.E("alarms.Put", fault.Internal, r.Name, err)
	}
	d := document.Document{Key: keyOf(r.Name), Type: document.JSON, Text: string(text) + "\n", By: by, Note: note}
	if d, err = m.o.Documents.Set(ctx, d, expect); err != nil {
		return Rule{}, err
	}
	return Rule{Rule: r, Version: d.Version, By: d.By}, m.load(ctx)
}

// Delete removes a rule; its alarms end.
func (m *Monitor) Delete(ctx context.Context, name, by, note string) error {
	if err := m.o.Documents.Delete(ctx, keyOf(name), by, note, document.AnyVersion); err != nil {
		return err
	}
	return m.load(ctx)
}

// load reads the rules that have changed.
func (m *Monitor) load(ctx context.Context) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	list, err := m.o.Documents.List(ctx, document.Shared)
	if err != nil {
		return err
	}
	m.mu.Lock()
	known := m.rules
	m.mu.Unlock()
	rules, changed := make(map[string]*kept, len(known)), false
	for i := range list {
		name, is := strings.CutPrefix(strings.ToLower(list[i].Name), Folder)
		if !is {
			continue
		}
		if k := known[name]; k != nil && k.version == list[i].Version {
			rules[name] = k
			continue
		}
		d, err := m.o.Documents.Get(ctx, list[i].Key, 0)
		if err != nil {
			return err
		}
		rules[name], changed = read(name, &d), true
	}
	if !changed && len(rules) == len(known) {
		return nil
	}
	m.use(ctx, rules)
	return m.find(ctx)
}

// use has the engine look at the rules that are right.
func (m *Monitor) use(ctx context.Context, rules map[string]*kept) {
	var right []alarm.Rule
	for _, k := range rules {
		if k.wrong == nil {
			right = append(right, k.rule)
		}
	}
	slices.SortFunc(right, func(a, b alarm.Rule) int { return cmp.Compare(a.Name, b.Name) })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules, m.found = rules, false
	m.engine.SetRules(m.now(), right)
	m.commit(ctx, false)
}

// read reads the document of a rule.
func read(name string, d *document.Document) *kept {
	k := &kept{version: d.Version, by: d.By}
	if d.Type != document.JSON {
		k.wrong = fmt.Errorf("%s: a rule is a document of type json", name)
	} else if err := Parse([]byte(d.Text), &k.rule); err != nil {
		k.wrong = err
	} else if k.rule.Name != name {
		k.wrong = fmt.Errorf("name: %q is in the document %s%s; they must be the same", k.rule.Name, Folder, name)
	} else {
		k.wrong = k.rule.Validate()
	}
	k.rule.Name = name
	return k
}

var errMore = errors.New("there is more behind the rule; write one JSON object")

// Parse reads a rule, in which nothing unknown may stand.
func Parse(text []byte, r *alarm.Rule) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}

// mostPoints is how many points of a rule are looked for.
const mostPoints = 100_000

// pointsOf lists the points that a rule selects and that exist.
func (m *keeper) pointsOf(ctx context.Context, r *alarm.Rule) (list []point.Path, err error) {
	for _, pattern := range r.Points {
		f := catalog.Filter{Pattern: point.Pattern(pattern), Tags: r.Tags, Limit: mostPoints}
		page, err := m.o.Points.Search(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page.Entries {
			if info := &page.Entries[i].Info; r.Selects(info) {
				list = append(list, info.Path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// find has the engine know of the points of the rules before their next reading.
func (m *Monitor) find(ctx context.Context) error {
	var paths []point.Path
	for _, r := range m.Rules() {
		if r.Wrong != nil {
			continue
		}
		list, err := m.pointsOf(ctx, &r.Rule)
		if err != nil {
			return err
		}
		paths = append(paths, list...)
	}
	m.mu.Lock()
	m.engine.Look(paths)
	m.mu.Unlock()
	if !m.caughtUp() {
		return nil
	}
	if err := m.read(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	m.found = true
	m.mu.Unlock()
	return nil
}

// seed finds the points of rules, and reads their newest values.
func (m *Monitor) seed(ctx context.Context) {
	if err := m.find(ctx); err != nil && ctx.Err() == nil {
		m.o.Log.WarnContext(ctx, "the newest values for alarms cannot be read", "err", err)
	}
}

// read reads the newest values of points that the engine has no reading of.
func (m *Monitor) read(ctx context.Context) error {
	m.mu.Lock()
	paths := m.engine.Unread()
	m.mu.Unlock()
	if len(paths) == 0 || m.o.Readings == nil {
		return nil
	}
	samples, err := m.o.Readings.Latest(ctx, paths)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range samples {
		if samples[i].Point != "" {
			m.engine.Sample(m.now(), &samples[i])
		}
	}
	m.engine.Tick(m.now())
	m.commit(ctx, false)
	return nil
}
