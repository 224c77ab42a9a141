package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"voltbus/control"
	"voltbus/driver"
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// Control is the section "control".
type Control struct {
	// Absence is how long an agent may be disconnected from the bus before all its commands and reservations end.
	// Leases may end earlier.
	Absence time.Duration `yaml:"absence" example:"1m"`
	// Approval is how long a command waits for approval.
	Approval time.Duration `yaml:"approval" example:"1h"`
	// Handover is the time that an active task keeps when a task of priority high displaces it.
	Handover time.Duration `yaml:"handover" example:"1m"`
}

// ControlRule is an entry of a device's "control".
type ControlRule struct {
	// Points are names of points of the device, or patterns such as zone*/setpoint. Default: every writable point.
	Points []string `yaml:"points" example:"[setpoint]"`
	// Default is the relinquish default of a point, such as 21.5 or true. Default: that of the driver's registry.
	Default string `yaml:"default" example:"21.5"`
	// Revert is what a point reverts to when its last command has ended: default for its default, which is then
	// required; before for its value before the first command; relinquish for its default, or else control by the
	// device, which only devices with a priority array (BACnet) support: other points keep the written value. By default
	// it is default; without a default, relinquish for points with a priority array, and before for others.
	Revert string `yaml:"revert" enum:"relinquish,default,before"`
	// Min is the smallest value that may be commanded, in the point's unit. Default: that of the registry.
	Min *float64 `yaml:"min" example:"10"`
	// Max is the largest value that may be commanded, in the point's unit. Default: that of the registry.
	Max *float64 `yaml:"max" example:"30"`
	// Lease is how long a command may last without being renewed. 0: until it is released.
	Lease time.Duration `yaml:"lease" example:"15m"`
	// Rate limits how fast a point changes.
	Rate ControlRate `yaml:"rate"`
	// MinOn is the minimum time that a point stays on after it was switched on.
	MinOn time.Duration `yaml:"min_on" example:"5m"`
	// MinOff is the minimum time that a point stays off after it was switched off.
	MinOff time.Duration `yaml:"min_off" example:"5m"`
	// Reservation allows commands only to the owner of a reservation of the point.
	Reservation bool `yaml:"reservation"`
	// Approval requires that another person approves each command.
	Approval bool `yaml:"approval"`
	// Interlocks allow values only while other points are within a range.
	Interlocks []ControlInterlock `yaml:"interlocks"`
	// Assert sets when a lost value is written again: return after the device could not be read, and at the start of
	// the node; always when a reading shows another value; never. Default: return.
	Assert string `yaml:"assert" enum:"return,always,never"`
	// AssertPause is the minimum time between two such writes; it doubles up to an hour while the point keeps losing
	// its value. Default: 1m.
	AssertPause time.Duration `yaml:"assert_pause" example:"5m"`
	// Tolerance is the allowed difference between reading and commanded value, in the point's unit. Default: the
	// rounding of the register.
	Tolerance float64 `yaml:"tolerance" example:"0.5"`
	// Heartbeat is how often the node toggles the points, for devices that fall back by themselves without it. Such
	// points cannot be commanded.
	Heartbeat time.Duration `yaml:"heartbeat" example:"30s"`
}

// ControlRate limits how fast a point changes.
type ControlRate struct {
	// Most is how far a point may change at once, in its unit.
	Most float64 `yaml:"most" example:"1"`
	// Per is the time between two changes.
	Per time.Duration `yaml:"per" example:"1m"`
}

// ControlInterlock allows values of a point only while another one is within a range.
type ControlInterlock struct {
	// Point is the other point: the name of one of the same device, or a whole path.
	Point string `yaml:"point" example:"campus/building/boiler/flow"`
	// Min is the least that the other point must have.
	Min *float64 `yaml:"min" example:"5"`
	// Max is the most that the other point may have.
	Max *float64 `yaml:"max" example:"90"`
	// From is the smallest value that needs the interlock. Default: every value, if both ends are missing.
	From *float64 `yaml:"from" example:"1"`
	// To is the largest value that needs the interlock.
	To *float64 `yaml:"to" example:"100"`
}

// Bounds of the section.
const (
	minAbsence  = time.Second
	maxAbsence  = 24 * time.Hour
	minApproval = time.Second
	maxApproval = 30 * 24 * time.Hour
	minBeat     = time.Second
)

func (c *Control) validate(r report) {
	for _, d := range []struct {
		key         string
		value       time.Duration
		least, most time.Duration
	}{
		{"absence", c.Absence, minAbsence, maxAbsence},
		{"approval", c.Approval, minApproval, maxApproval},
		{"handover", c.Handover, minAbsence, maxAbsence},
	} {
		if d.value < d.least || d.value > d.most {
			r("control."+d.key, "%s is out of range; write %s to %s, such as 1m",
				duration(d.value), strictyaml.FormatDuration(d.least), strictyaml.FormatDuration(d.most))
		}
	}
}

// Controlled is a point with its rules for commands.
type Controlled struct {
	control.Spec
	Heartbeat time.Duration
}

// Limits returns the limits for all points.
func (c *Control) Limits() control.Limits {
	return control.Limits{Patience: c.Approval, Grace: c.Handover}
}

// Controlled returns the points of the device with what they require of commands.
func (d *Device) Controlled() []Controlled {
	rules := d.rules()
	infos := d.Config.Points()
	points := make([]Controlled, len(infos))
	for i := range infos {
		points[i], _ = d.controlled(&infos[i], i, rules) // it was checked when the file was read
	}
	return points
}

// rule is a ControlRule with the values that its points share.
type rule struct {
	*ControlRule
	policy *control.Policy
}

func (d *Device) rules() []rule {
	rules := make([]rule, len(d.Control))
	for i := range d.Control {
		c := &d.Control[i]
		p := &control.Policy{
			Reservation: c.Reservation, Approval: c.Approval, Longest: c.Lease, Range: control.Range{Min: c.Min, Max: c.Max},
			Rate: control.Rate{Most: c.Rate.Most, Per: c.Rate.Per}, MinOn: c.MinOn, MinOff: c.MinOff,
			Assert: control.Assert(c.Assert), AssertPause: c.AssertPause, Tolerance: c.Tolerance,
		}
		for _, lock := range c.Interlocks {
			p.Interlocks = append(p.Interlocks, control.Interlock{
				Guards: control.Range{Min: lock.From, Max: lock.To}, Other: d.other(lock.Point), Needs: control.Range{Min: lock.Min, Max: lock.Max},
			})
		}
		rules[i] = rule{c, p}
	}
	return rules
}

// other returns the path of the point that an interlock names.
func (d *Device) other(name string) point.Path {
	if slices.ContainsFunc(d.Config.Points(), func(info point.Info) bool { return string(info.Path) == name }) {
		return d.Path.Join(name)
	}
	return point.Path(name)
}

// encoder returns the function that tells which values a point can hold; nil if its driver does not know.
func (d *Device) encoder(info *point.Info, place int) func(point.Value) (point.Value, error) {
	c, can := d.Config.(driver.Encoder)
	if !can || !info.Writable {
		return nil
	}
	return func(v point.Value) (point.Value, error) { return c.Encode(place, v) }
}

// has reports whether the rule applies to a point of that name.
func (c *ControlRule) has(name point.Path) bool {
	return len(c.Points) == 0 || slices.ContainsFunc(c.Points, func(p string) bool { return point.Pattern(p).Match(name) })
}

// controlled describes one point, given by its index in the driver's list. One without a default, and without a priority
// array in its device, reverts to its previous value, unless a rule says otherwise: nothing that was commanded remains.
func (d *Device) controlled(info *point.Info, place int, rules []rule) (Controlled, error) {
	c, err := d.ruled(info, place, rules)
	if c.Revert == "" && c.Default.Kind() == point.None && c.Array == 0 {
		c.Revert = control.RevertBefore
	}
	return c, err
}

// ruled describes one point according to the last rule that names it.
func (d *Device) ruled(info *point.Info, place int, rules []rule) (Controlled, error) {
	c := Controlled{Spec: control.Spec{
		Point: d.Path.Join(string(info.Path)), Device: d.Path, About: info.Description, Unit: info.Unit, Kind: info.Kind,
		Writable: info.Writable, Default: info.Default, Encode: d.encoder(info, place),
	}}
	if p, has := d.Config.(driver.Prioritizing); has && info.Writable {
		c.Array = control.Level(p.Priority(place))
	}
	if info.Min != nil || info.Max != nil {
		c.Policy = &control.Policy{Range: control.Range{Min: info.Min, Max: info.Max}}
	}
	for _, r := range slices.Backward(rules) {
		if !info.Writable || !r.has(info.Path) {
			continue
		}
		c.Policy, c.Revert, c.Heartbeat = r.within(info), control.Revert(r.Revert), r.Heartbeat
		if r.Default == "" {
			return c, nil
		}
		var err error
		c.Default, err = valueOf(info.Kind, r.Default)
		return c, err
	}
	return c, nil
}

// within returns the policy of a point, with the limits of its registry if the rule has none.
func (r rule) within(info *point.Info) *control.Policy {
	limits := control.Range{Min: cmp.Or(r.Min, info.Min), Max: cmp.Or(r.Max, info.Max)}
	if limits == r.policy.Range {
		return r.policy
	}
	own := *r.policy
	own.Range = limits
	return &own
}

// valueOf parses a value of a kind; None accepts any.
func valueOf(kind point.Kind, text string) (point.Value, error) {
	number, notNumber := strconv.ParseFloat(text, 64)
	truth, notBool := strconv.ParseBool(text)
	switch {
	case kind == point.Text:
		return point.TextOf(text), nil
	case kind == point.Bool && notBool == nil:
		return point.BoolOf(truth), nil
	case kind == point.Int && notNumber == nil && number == float64(int64(number)):
		return point.IntOf(int64(number)), nil
	case (kind == point.Float || kind == point.None) && notNumber == nil:
		return point.FloatOf(number), nil
	case kind == point.None && notBool == nil:
		return point.BoolOf(truth), nil
	case kind == point.None:
		return point.TextOf(text), nil
	}
	return point.Value{}, fmt.Errorf("%q is no value of a point of kind %v; write one", text, kind)
}

// validateControl checks the control rules of the device's points.
func (d *Device) validateControl(r report) {
	rules := d.rules()
	said := make(map[string]bool)
	infos := d.Config.Points()
	for i := range infos {
		info := &infos[i]
		if d.Path.Join(string(info.Path)).Validate() != nil {
			continue // checkPoints reports it
		}
		at := keyOf(rules, info)
		problems := d.badControl(info, i, rules)
		if said[at] {
			continue // the others of a rule have the same problems
		}
		said[at] = len(problems) > 0
		for _, problem := range problems {
			r(at, "point %q: %v", info.Path, problem)
		}
	}
	for k := range rules {
		if !slices.ContainsFunc(infos, func(info point.Info) bool { return info.Writable && rules[k].has(info.Path) }) {
			r(fmt.Sprintf("control[%d].points", k), "no writable point of the device has such a name; write one that has, or remove the entry")
		}
	}
}

// keyOf returns the key of a point's requirements: a rule, or the driver's section.
func keyOf(rules []rule, info *point.Info) string {
	for k := range slices.Backward(rules) {
		if info.Writable && rules[k].has(info.Path) {
			return fmt.Sprintf("control[%d]", k)
		}
	}
	return "config"
}

// badControl returns what is wrong with a point's requirements.
func (d *Device) badControl(info *point.Info, place int, rules []rule) []error {
	c, err := d.controlled(info, place, rules)
	if err != nil {
		return []error{err}
	}
	problems := c.Validate()
	if c.Heartbeat != 0 && (c.Heartbeat < minBeat || c.Kind == point.Text) {
		problems = append(problems, errors.New("its heartbeat is impossible; write at least 1s, for a point that is no text"))
	}
	return problems
}

// checkInterlocks checks that the points used by interlocks exist.
func (l *loader) checkInterlocks(first map[point.Path]int) {
	for i := range l.devices {
		d := &l.devices[i]
		for k := range d.Control {
			for n, lock := range d.Control[k].Interlocks {
				if d.sound && !l.isPoint(d.other(lock.Point), first) {
					l.reportIn(d.Source, d.node, fmt.Sprintf("control[%d].interlocks[%d].point", k, n),
						"%q is no point of a device here; write the name of one of this device, or a whole path", lock.Point)
				}
			}
		}
	}
}

func (l *loader) isPoint(path point.Path, first map[point.Path]int) bool {
	for at := path.Parent(); at != ""; at = at.Parent() {
		if i, ok := first[at]; ok && l.devices[i].sound {
			name := path[len(at)+1:]
			if slices.ContainsFunc(l.devices[i].Config.Points(), func(info point.Info) bool { return info.Path == name }) {
				return true
			}
		}
	}
	return false
}
