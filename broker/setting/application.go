package setting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"voltbus/point"
)

// Application is an entry of "mqtt.applications".
type Application struct {
	// Name is that of its account, which is added with the kind application. In the audit log and in priority arrays it is
	// application:<name>.
	Name string `yaml:"name" example:"forecast"`
	// Status are patterns of the points whose readings it gets, as they are recorded: in the topics
	// applications/<name>/status/<path>.
	Status []string `yaml:"status" example:"[\"campus/**/temp\"]"`
	// Commands are all that it may command. It asks for one in the topic applications/<name>/set/<command>, and is answered
	// in applications/<name>/answers/<command>.
	Commands []Order `yaml:"commands"`
}

// Order is an entry of "mqtt.applications.commands".
type Order struct {
	// Name is the last level of the topic.
	Name string `yaml:"name" example:"zone1-setpoint"`
	// Node is the node that has the point. Default: this one.
	Node string `yaml:"node" example:"zone-1"`
	// Point is the path of the point at that node.
	Point string `yaml:"point" example:"office/zone1/setpoint"`
	// Level is the priority of the commands, 9 to 16: below that of people, so that an operator wins. Default: 14.
	Level int `yaml:"level" example:"14"`
	// Min is the smallest value, in the unit of the point.
	Min *float64 `yaml:"min" example:"20"`
	// Max is the largest value.
	Max *float64 `yaml:"max" example:"24"`
	// Step is how far a value may be from the present one, which is read before. 0: any distance within min and max.
	Step float64 `yaml:"step" example:"1"`
	// Every is the least time between two commands that are carried out. Default: 10s.
	Every time.Duration `yaml:"every" example:"10s"`
	// Lease is how long a command lasts unless it is sent again; the application may ask for less. Then the point goes back.
	// Default: 15m.
	Lease time.Duration `yaml:"lease" example:"15m"`
}

// ApplicationKind is the kind of the accounts of applications. Its rights follow from mqtt.applications.
const ApplicationKind = "application"

// The topics of applications: the base, the name, and one of three.
const (
	ApplicationTopics = "applications/"
	StatusTopic       = "status"
	SetTopic          = "set"
	AnswersTopic      = "answers"
)

// The bounds of orders.
const (
	firstLevel = 9
	lastLevel  = 16
	maxLease   = 24 * time.Hour
	maxOrders  = 200
)

// Completed returns the entry with what was left out.
func (o Order) Completed() Order {
	if o.Level == 0 {
		o.Level = 14
	}
	if o.Every == 0 {
		o.Every = 10 * time.Second
	}
	if o.Lease == 0 {
		o.Lease = 15 * time.Minute
	}
	return o
}

// applicationKind returns the rights of the accounts of applications.
func applicationKind() Kind {
	base := ApplicationTopics + DeviceName + "/"
	return Kind{
		Name: ApplicationKind, Publish: []string{base + SetTopic + "/+"}, Subscribe: []string{base + StatusTopic + "/#", base + AnswersTopic + "/#"},
		Rate: 5, Bytes: 8 << 10, Payload: 1 << 10, Sessions: 2, Points: 1,
	}
}

// AllKinds returns the kinds of devices, with that of applications if there are any.
func (s *Section) AllKinds() []Kind {
	if len(s.Applications) == 0 {
		return s.Kinds
	}
	return append(slices.Clone(s.Kinds), applicationKind())
}

var applicationName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func (s *Section) validateApplications(r Report) {
	names := map[string]bool{}
	for i := range s.Applications {
		at := fmt.Sprintf("applications[%d].", i)
		a := &s.Applications[i]
		if names[a.Name] {
			r(at+"name", "%q is there already; give each application a name of its own", a.Name)
		}
		names[a.Name] = true
		a.validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
	for i := range s.Kinds {
		if s.Kinds[i].Name == ApplicationKind && len(s.Applications) > 0 {
			r(fmt.Sprintf("kinds[%d].name", i), "%q is the kind of applications, whose rights follow from mqtt.applications; take another name", ApplicationKind)
		}
	}
}

func (a *Application) validate(r Report) {
	if !applicationName.MatchString(a.Name) || a.Name == "node" {
		r("name", "%q is not a name; write up to %d letters, digits, - and _, such as forecast, and not node", a.Name, MaxName)
	}
	for i, p := range a.Status {
		if p == "" || len(p) > point.MaxPath {
			r(fmt.Sprintf("status[%d]", i), "%q is not a pattern; write such as campus/**/temp", p)
		}
	}
	if len(a.Commands) > maxOrders {
		r("commands", "are %d, and an application may have %d", len(a.Commands), maxOrders)
	}
	names := map[string]bool{}
	for i := range a.Commands {
		at := fmt.Sprintf("commands[%d].", i)
		o := &a.Commands[i]
		if names[o.Name] {
			r(at+"name", "%q is there already; give each command a name of its own", o.Name)
		}
		names[o.Name] = true
		o.validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
}

func (o *Order) validate(r Report) {
	if !IsKindName(o.Name) {
		r("name", "%q is not a name; write up to %d letters, digits, - and _, such as zone1-setpoint", o.Name, MaxName)
	}
	if o.Node != "" && !IsKindName(o.Node) {
		r("node", "%q is not the name of a node; write it as voltbus nodes shows it, such as zone-1", o.Node)
	}
	if err := point.Path(o.Point).Validate(); err != nil || strings.Contains(o.Point, "*") {
		r("point", "%q is not the path of a point; write such as office/zone1/setpoint", o.Point)
	}
	done := o.Completed()
	within(r, "level", done.Level, span{firstLevel, lastLevel, "14"})
	switch {
	case o.Min == nil || o.Max == nil:
		r("min", "and max are both needed; write the values that the application may set, such as min: 20 and max: 24")
	case *o.Min > *o.Max:
		r("min", "%v is larger than max, %v", *o.Min, *o.Max)
	}
	if !(o.Step >= 0) {
		r("step", "%v is no distance; write a number such as 1, or 0 for any", o.Step)
	}
	if done.Every < time.Second {
		r("every", "%s is too short; write at least 1s", o.Every)
	}
	if done.Lease < time.Second || done.Lease > maxLease {
		r("lease", "%s is out of range; write 1s to 24h, such as 15m", o.Lease)
	}
}
