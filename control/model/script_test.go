package model

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

var update = flag.Bool("update", false, "write what the scripts in testdata print into them")

// TestScripts runs the golden scripts: blocks of instructions, "----", and what comes of them.
func TestScriptsPrintWhatTheySay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(data))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(data) {
				t.Errorf("the script now prints\n%s", got)
			}
		})
	}
}

// script is a model that instructions drive.
type script struct {
	t     *testing.T
	model *Model
	now   control.Instant
	out   strings.Builder
	sent  map[point.Path]uint64 // the write under way
	specs []control.Spec
	count int
}

func runScript(t *testing.T, text string) string {
	s := &script{t: t, model: New(control.Limits{}), now: after(0), sent: map[point.Path]uint64{}}
	var whole strings.Builder
	for block := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		input, _, _ := strings.Cut(block, "\n----")
		if whole.Len() > 0 {
			whole.WriteString("\n")
		}
		whole.WriteString(input + "\n")
		s.out.Reset()
		comment := true
		for line := range strings.SplitSeq(input, "\n") {
			if line != "" && line[0] != '#' {
				comment = false
				s.run(line)
			}
		}
		if !comment {
			whole.WriteString("----\n" + s.out.String())
		}
	}
	return whole.String()
}

func (s *script) run(line string) {
	fields := strings.Fields(line)
	verb, args := fields[0], map[string]string{}
	var plain []string
	for _, f := range fields[1:] {
		if key, value, found := strings.Cut(f, "="); found {
			args[key] = value
		} else {
			plain = append(plain, f)
		}
	}
	do, known := map[string]func([]string, map[string]string){
		"point": s.point, "at": s.at, "wall": s.wall, "reserve": s.reserve, "cancel": s.cancel, "set": s.set,
		"release": s.release, "ok": s.ok, "fail": s.fail, "tasks": s.tasks, "show": s.show, "restart": s.restart,
		"observe": s.observe, "approve": s.approve, "override": s.override, "clear": s.clear, "leave": s.leave,
		"renew": s.renew, "revert": s.revert,
	}[verb]
	if !known {
		s.t.Fatalf("unknown instruction %q", line)
	}
	do(plain, args)
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// clock reads 9:30 or 9:30:05 of the day.
func (s *script) clock(text string) time.Time {
	layout := "15:04"
	if strings.Count(text, ":") == 2 {
		layout = "15:04:05"
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		s.t.Fatalf("time %q: %v", text, err)
	}
	return time.Date(2026, 3, 4, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

func (s *script) number(text string) *float64 {
	if text == "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatalf("number %q: %v", text, err)
	}
	return &f
}

func (s *script) length(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatalf("duration %q: %v", text, err)
	}
	return d
}

func (s *script) value(text string) point.Value {
	if f := s.number(text); f != nil {
		return point.FloatOf(*f)
	}
	return point.Value{}
}

func (s *script) point(names []string, a map[string]string) {
	policy := &control.Policy{
		Reservation: a["needs"] == "reservation", Approval: a["needs"] == "approval", Longest: s.length(a["longest"]),
		Range: control.Range{Min: s.number(a["min"]), Max: s.number(a["max"])}, MinOn: s.length(a["min_on"]), MinOff: s.length(a["min_off"]),
	}
	if a["assert"] != "" {
		policy.Assert = control.Assert(a["assert"])
	}
	if a["tolerance"] != "" {
		policy.Tolerance = *s.number(a["tolerance"])
	}
	if a["rate"] != "" {
		policy.Rate = control.Rate{Most: *s.number(a["rate"]), Per: s.length(a["per"])}
	}
	if a["lock"] != "" {
		policy.Interlocks = []control.Interlock{{Guards: control.Range{Min: s.number("1")}, Other: point.Path(a["lock"]), Needs: control.Range{Min: s.number(a["above"])}}}
	}
	array := control.Level(0)
	if a["array"] != "" {
		array = control.Level(*s.number(a["array"]))
	}
	for _, name := range names {
		s.specs = append(s.specs, control.Spec{
			Point: point.Path(name), Kind: point.Float, Writable: a["writable"] != "no", Unit: a["unit"],
			Default: s.value(a["default"]), Revert: control.Revert(a["revert"]), Policy: policy, Array: array, Encode: s.register(a["step"], a["most"]),
		})
	}
	if _, err := s.model.Declare(s.now, s.specs); err != nil {
		s.say("error: %v", err)
	}
}

// register encodes as one that holds multiples of a step.
func (s *script) register(step, most string) func(point.Value) (point.Value, error) {
	if step == "" {
		return nil
	}
	unit, limit := *s.number(step), *s.number(most)
	return func(v point.Value) (point.Value, error) {
		x, _ := v.Number()
		if x > limit {
			return v, fmt.Errorf("%v does not fit the register; write a number of at most %v", v, limit)
		}
		return point.FloatOf(math.Round(x/unit) * unit), nil
	}
}

func (s *script) at(plain []string, _ map[string]string) {
	to := s.clock(plain[0])
	s.now = control.Instant{Wall: to, Steady: s.now.Steady + to.Sub(s.now.Wall)}
	s.effects(s.model.Advance(s.now))
}

// wall moves the wall clock alone.
func (s *script) wall(plain []string, _ map[string]string) {
	s.now.Wall = s.clock(plain[0])
	s.effects(s.model.Advance(s.now))
}

// reserve reads TASK by=ann priority=high path@9:00-10:00.
func (s *script) reserve(plain []string, a map[string]string) {
	r := control.Reservation{Requester: a["by"], Priority: control.Priority(a["priority"]), ID: a["id"]}
	if len(plain) > 0 && !strings.Contains(plain[0], "@") {
		r.Task, plain = plain[0], plain[1:]
	}
	for _, text := range plain {
		path, span, _ := strings.Cut(text, "@")
		from, until, _ := strings.Cut(span, "-")
		r.Windows = append(r.Windows, control.Window{Path: point.Path(path), From: s.clock(from), Until: s.clock(until)})
	}
	s.decision(s.model.Reserve(s.now, r))
}

func (s *script) cancel(plain []string, a map[string]string) {
	s.decision(s.model.Cancel(s.now, a["by"], plain[0], ""))
}

func (s *script) set(plain []string, a map[string]string) {
	s.count++
	c := control.Command{
		ID: a["id"], Point: point.Path(plain[0]), Requester: a["by"], Task: a["task"], Level: 8,
		Value: s.value(plain[1]), Lease: s.length(a["lease"]), Reason: a["reason"],
	}
	if c.ID == "" {
		c.ID = fmt.Sprint("c", s.count)
	}
	if a["level"] != "" {
		c.Level = control.Level(*s.number(a["level"]))
	}
	if parts := strings.Split(a["fence"], "/"); len(parts) == 3 {
		term, err := strconv.ParseUint(parts[1], 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		c.Fence = control.Fence{Group: parts[0], Term: term, Leader: parts[2]}
	}
	s.decision(s.model.Command(s.now, c))
}

func (s *script) release(plain []string, a map[string]string) {
	var sel control.Selection
	if len(plain) > 0 {
		sel.Point = point.Path(plain[0])
	}
	sel.Task, sel.Command = a["task"], a["id"]
	s.decision(s.model.Release(s.now, a["by"], sel, ""))
}

func (s *script) renew(plain []string, a map[string]string) {
	s.decision(s.model.Renew(s.now, a["by"], control.Selection{Point: point.Path(plain[0])}, s.length(a["lease"])))
}

func (s *script) revert(plain []string, a map[string]string) {
	s.decision(s.model.Revert(s.now, control.Reversion{Path: point.Path(plain[0]), By: a["by"], Spread: s.length(a["spread"])}))
}

func (s *script) leave(plain []string, _ map[string]string) {
	s.effects(s.model.Leave(s.now, plain[0], control.CauseLeft, "root"))
}

// ok answers the write of a point, with value= as the device then reports.
func (s *script) ok(plain []string, a map[string]string) {
	path := point.Path(plain[0])
	v := point.Value{}
	if view, _ := s.model.View(path); a["value"] == "" {
		v = view.Commanded
	} else if a["value"] != "nothing" {
		v = s.value(a["value"])
	}
	s.effects(s.model.Answer(s.now, path, control.Outcome{Write: s.sent[path], Value: v}))
}

// fail gives a write an error: of the line, or, as busy, one of the device.
func (s *script) fail(plain []string, _ map[string]string) {
	path, o := point.Path(plain[0]), control.Outcome{Write: s.sent[point.Path(plain[0])]}
	kind, known := fault.ParseKind(plain[1])
	if o.Declined = !known; o.Declined {
		kind = fault.Unavailable
	}
	o.Partial = len(plain) > 2
	o.Err = fault.E("", kind, "", fmt.Errorf("the line says %v", kind))
	s.effects(s.model.Answer(s.now, path, o))
}

func (s *script) observe(plain []string, _ map[string]string) {
	v := point.Value{}
	if plain[1] != "nothing" {
		v = s.value(plain[1])
	}
	s.effects(s.model.Observe(s.now, point.Path(plain[0]), v))
}

func (s *script) approve(plain []string, a map[string]string) {
	s.decision(s.model.Approve(s.now, control.Approval{Requester: a["of"], Command: plain[0], By: a["by"], Agree: a["agree"] != "no"}))
}

func (s *script) override(plain []string, a map[string]string) {
	s.decision(s.model.Override(s.now, control.Override{
		Pattern: point.Pattern(plain[0]), Requester: a["by"], Length: s.length(a["for"]), Failsafe: a["failsafe"] == "yes",
	}))
}

func (s *script) clear(plain []string, a map[string]string) {
	s.decision(s.model.ClearOverride(s.now, point.Pattern(plain[0]), a["by"]))
}

func (s *script) tasks([]string, map[string]string) {
	for _, t := range s.model.Tasks() {
		s.say("%s of %s %s started=%v preempted=%v", t.Task, t.Requester, t.Priority, t.Started, t.Preempted)
		for _, w := range t.Windows {
			s.say("  %s %s–%s", w.Path, w.From.Format("15:04:05"), w.Until.Format("15:04:05"))
		}
	}
}

func (s *script) show(plain []string, _ map[string]string) {
	v, _ := s.model.View(point.Path(plain[0]))
	s.say("%s: %s, held %v, reported %v, wish %v%s", v.Spec.Point, v.Output, v.Held, v.Reported, v.Commanded, s.moment(" later", v.Later))
	for _, slot := range v.Array {
		s.say("  level %d: %v by %s%s", slot.Level, slot.Value, slot.Requester, s.moment(" until", slot.Until))
	}
}

// restart goes on with a new model, which read the state of the old one, perhaps later.
func (s *script) restart(plain []string, _ map[string]string) {
	state := s.model.Export(s.now)
	if len(plain) > 0 {
		s.now.Wall = s.clock(plain[0])
	}
	s.model = New(control.Limits{})
	s.now.Steady = time.Second
	if _, err := s.model.Declare(s.now, s.specs); err != nil {
		s.t.Fatal(err)
	}
	e, err := s.model.Import(s.now, state)
	if err != nil {
		s.t.Fatal(err)
	}
	s.effects(e)
}

func (s *script) moment(word string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return word + " " + t.Format("15:04:05")
}

func (s *script) decision(d control.Decision) {
	if d.Repeat {
		s.say("repeat:")
	}
	if d.Status == control.Refused {
		s.say("refused (%s, %v): %v", d.Why, d.Err.Kind, d.Err)
	} else {
		s.say("%s%s%s", d.Status, s.moment(" until", d.Until), s.moment(" later", d.Later))
	}
	for _, h := range d.Holders {
		s.say("  held by %s %s%s %s%s", h.Requester, h.Task, h.Command, h.Path, s.moment(" until", h.Until))
	}
	for _, h := range d.Lost {
		s.say("  pre-empts %s %s", h.Requester, h.Task)
	}
	s.effects(d.Effects)
}

func (s *script) effects(e control.Effects) {
	for _, ev := range e.Events {
		what := ev.Path
		if ev.Task != "" && what == "" {
			what = point.Path(ev.Task)
		}
		by := ""
		if ev.By != "" {
			by = " by " + ev.By
		}
		s.say("  * %s %s%s of %q %s%s", ev.Kind, what, valueText(ev.Value), ev.Requester, ev.Cause, by)
	}
	for _, w := range e.Writes {
		s.sent[w.Point] = w.ID
		verb := "write"
		switch {
		case w.Read:
			verb = "read"
		case w.Release:
			verb = "give back"
		}
		place := ""
		if w.Place != 0 {
			place = fmt.Sprintf(" at %d", w.Place)
		}
		if w.Back != 0 {
			place += " back " + levelsText(w.Back)
		}
		s.say("  → %s %s%s%s (%s)", verb, w.Point, valueText(w.Value), place, w.Cause)
	}
}

func levelsText(set control.Places) string {
	var list []string
	for level := 1; level <= 16; level++ {
		if set&(1<<(level-1)) != 0 {
			list = append(list, strconv.Itoa(level))
		}
	}
	return strings.Join(list, ",")
}

func valueText(v point.Value) string {
	if v.Kind() == point.None {
		return ""
	}
	return " " + v.String()
}
