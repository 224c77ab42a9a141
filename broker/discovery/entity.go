package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/point"
	"voltbus/protocol/mqtt/topic"
)

// entity is one value that is read from a topic, or what says whether values can be had.
type entity struct {
	config  string // the topic of its configuration
	topic   string
	device  point.Path // where the points of its topic lie
	name    string     // of its point, within that
	unit    string
	stale   time.Duration
	value   expression
	field   *template.Field
	command *template.Command
	absent  string // for availability: the value that says that the device is away; "" for others
}

// read hands over the reading of a payload.
func (e *entity) read(text string, object any, emit func(*template.Reading)) error {
	v, err := e.value.of(text, object)
	if err != nil {
		return err
	}
	if e.absent != "" {
		if fmt.Sprint(v) == e.absent {
			emit(&template.Reading{Name: e.name, Unit: e.unit, Quality: point.BadUnreachable, Command: e.command})
		}
		return nil
	}
	if s, is := v.(string); is && (s == "None" || s == "unknown" || s == "unavailable" || s == "") {
		emit(&template.Reading{Name: e.name, Unit: e.unit, Quality: point.BadSensor, Command: e.command})
		return nil
	}
	r, err := e.field.Reading(v)
	if err != nil {
		return err
	}
	r.Name, r.Command = e.name, e.command
	emit(&r)
	return nil
}

// place is what a configuration says of all its entities.
type place struct {
	host   *Host
	config string
	base   point.Path // above all devices
	device point.Path
	prefix string // of names within base
	stale  time.Duration
	keys   keys // of the whole configuration
}

// entities reads a configuration: of one entity, or of a device with its components.
func (h *Host) entities(config string, payload []byte) (list []*entity, err error) {
	k, err := parseKeys(payload)
	if err != nil {
		return nil, err
	}
	levels := strings.Split(strings.TrimSuffix(strings.TrimPrefix(config, h.setting.Prefix+"/"), "/config"), "/")
	component, object := levels[0], levels[len(levels)-1]
	p := place{host: h, config: config, keys: k}
	name := k.device(levels[max(0, len(levels)-2)], object)
	before, _, _ := strings.Cut(h.setting.Device, setting.DeviceName)
	p.base = point.Path(strings.TrimSuffix(before, "/"))
	p.device = point.Path(strings.ReplaceAll(h.setting.Device, setting.DeviceName, template.Segment(name)))
	if err := p.device.Validate(); err != nil {
		return nil, fmt.Errorf("the device %q has no place: %w", clip(name), err)
	}
	p.prefix = strings.TrimPrefix(string(p.device), string(p.base)+"/")
	if component != "device" {
		return p.component(component, object, k)
	}
	components := k.object("components")
	if len(components) > mostEntities {
		return nil, fmt.Errorf("it has %d components; %d at most", len(components), mostEntities)
	}
	for id, c := range components {
		one, is := c.(map[string]any)
		if !is {
			continue
		}
		each := k.with(one)
		more, failed := p.component(each.text("platform"), id, each)
		if list = append(list, more...); failed != nil && err == nil {
			err = failed
		}
	}
	return list, err
}

// component reads the entities of a component, and what says whether they can be had. One that has no values has none.
func (p place) component(component, object string, k keys) (list []*entity, err error) {
	p.stale = time.Duration(k.number("expire_after", 0)) * time.Second
	for _, v := range viewsOf(component, k) {
		if v.topic == "" {
			continue
		}
		e, failed := p.entity(object, v)
		if failed != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %w", clip(object), failed))
			continue
		}
		list = append(list, e)
	}
	away, failed := p.availability(list, k)
	return append(list, away...), cmp.Or(err, failed)
}

// entity makes the entity of a view.
func (p place) entity(object string, v view) (*entity, error) {
	e := &entity{config: p.config, topic: v.topic, device: p.device, unit: unitOf(v.unit), stale: p.stale}
	e.name = template.Segment(object)
	if v.name != "" {
		e.name += "/" + v.name
	}
	var err error
	if err = topic.Check(v.topic, maxLevels); err != nil {
		return nil, fmt.Errorf("%q is not a topic: %w", clip(v.topic), err)
	}
	if e.value, err = parse(v.template); err != nil {
		return nil, err
	}
	pt := setting.Point{Name: e.name, Unit: e.unit, Type: v.kind, On: v.on, Off: v.off, Set: p.set(v)}
	if e.field, err = template.NewField(pt); err != nil {
		return nil, err
	}
	if pt.Set.Topic != "" {
		e.command = command(kept{Device: p.device, Point: pt}, e.field)
	}
	return e, nil
}

const maxLevels = 64

var valueIn = regexp.MustCompile(`\{\{-?\s*value\s*(\|\s*[a-z]+(\([^)]*\))?\s*)*-?\}\}`)

// set is how a view is commanded; without a topic if it cannot be, as with a template that is not understood.
func (p place) set(v view) setting.Set {
	if v.command == "" || topic.Check(v.command, maxLevels) != nil {
		return setting.Set{}
	}
	s := setting.Set{Topic: v.command, Min: v.min, Max: v.max}
	if v.payload == "" {
		return s
	}
	if s.Payload = valueIn.ReplaceAllLiteralString(v.payload, setting.ValueName); !strings.Contains(s.Payload, setting.ValueName) || strings.ContainsAny(strings.ReplaceAll(s.Payload, setting.ValueName, ""), "%") || strings.Contains(s.Payload, "{{") {
		return setting.Set{}
	}
	return s
}

// kept is what is kept of a command, to make it again after a restart.
type kept struct {
	Device point.Path    `json:"device"`
	Point  setting.Point `json:"point"`
}

// Detail begins the detail of commands that are of this package.
const Detail = "homeassistant "

func command(k kept, f *template.Field) *template.Command {
	detail, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return &template.Command{
		Point: k.Device.Join(k.Point.Name), Device: k.Device, Unit: k.Point.Unit, Kind: f.Kind(), Set: k.Point.Set, Payload: f.Payload, Detail: Detail + string(detail),
	}
}

// Restore makes a command again that was kept, nil if it cannot be.
func (h *Host) Restore(detail string) *template.Command {
	var k kept
	text, is := strings.CutPrefix(detail, Detail)
	if h == nil || !is || json.Unmarshal([]byte(text), &k) != nil {
		return nil
	}
	f, err := template.NewField(k.Point)
	if err != nil {
		return nil
	}
	return command(k, f)
}

// availability reads what says whether a device is there: its points are bad while it is away.
func (p place) availability(of []*entity, k keys) (list []*entity, err error) {
	for _, a := range k.availabilities() {
		value, failed := parse(a.template)
		if failed != nil || topic.Check(a.topic, maxLevels) != nil {
			err = failed
			continue
		}
		for _, e := range of {
			list = append(list, &entity{
				config: p.config, topic: a.topic, device: p.base, name: p.prefix + "/" + e.name, unit: e.unit, value: value, absent: a.absent,
			})
		}
	}
	return list, err
}

// unitOf returns a unit as points have it.
func unitOf(unit string) string {
	return strings.NewReplacer("°C", "degC", "°F", "degF", "³", "3", "²", "2", "µ", "u", "μ", "u", "Ω", "ohm").Replace(clip(unit))
}
