// Package sparkplug is the Sparkplug B host application of a node: it turns the births and data of edge nodes that publish
// to the node's own broker into readings of points, asks for births that are missing, and makes commands of writes. What it
// knows of edge nodes belongs to the goroutine that records.
package sparkplug

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/point"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/sparkplug"
)

// Host is the host application. Find is safe for concurrent use.
type Host struct {
	setting setting.Sparkplug
	send    func(*session.Message)
	now     func() time.Time

	mu    sync.Mutex
	nodes map[string]*template.Match // by group and node
}

// New returns a host application that sends by a function; nil without an identifier in the configuration.
func New(s setting.Sparkplug, send func(*session.Message), now func() time.Time) *Host {
	if s.Host == "" {
		return nil
	}
	return &Host{setting: s, send: send, now: now, nodes: map[string]*template.Match{}}
}

// maxNodes bounds the edge nodes.
const maxNodes = 100_000

// Find returns what takes the messages of a topic: one match for all topics of an edge node; nil for topics of others.
func (h *Host) Find(text string) *template.Match {
	if h == nil {
		return nil
	}
	t, err := sparkplug.ParseTopic(text)
	if err != nil || t.Type == sparkplug.STATE || t.Type == sparkplug.NCMD || t.Type == sparkplug.DCMD {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := t.Group + "/" + t.Node
	if m := h.nodes[key]; m != nil {
		return m
	}
	e := &edge{host: h, group: t.Group, node: t.Node, device: h.place(t.Group, t.Node)}
	if len(h.nodes) >= maxNodes || e.device.Validate() != nil {
		return nil
	}
	m := template.Custom("sparkplug", e.device, e.take)
	h.nodes[key] = m
	return m
}

// place is where the points of an edge node lie.
func (h *Host) place(group, node string) point.Path {
	names := strings.NewReplacer("{group}", template.Segment(group), "{node}", template.Segment(node))
	return point.Path(names.Replace(h.setting.Device))
}

// edge is an edge node.
type edge struct {
	host        *Host
	group, node string
	device      point.Path
	session     sparkplug.Session
	commands    map[*sparkplug.Metric]*template.Command
}

// take hands over the readings of a message.
func (e *edge) take(now time.Time, topic string, payload []byte, emit func(*template.Reading)) error {
	t, err := sparkplug.ParseTopic(topic)
	if err != nil {
		return err
	}
	if t.Type == sparkplug.NBIRTH {
		e.commands = map[*sparkplug.Metric]*template.Command{}
	}
	err = e.session.Receive(t, payload, func(r *sparkplug.Reading) { e.reading(r, emit) })
	if sparkplug.IsRebirth(err) && e.session.Rebirth(now) {
		e.rebirth(now)
	}
	return err
}

// rebirth asks for the birth.
func (e *edge) rebirth(now time.Time) {
	data, err := sparkplug.Command(now, sparkplug.Rebirth, sparkplug.Boolean, true)
	if err != nil {
		return
	}
	e.host.send(&session.Message{Topic: sparkplug.RebirthTopic(e.group, e.node).String(), Payload: data})
}

// reading makes a reading of a point.
func (e *edge) reading(r *sparkplug.Reading, emit func(*template.Reading)) {
	if !r.Type.Known() || strings.HasPrefix(r.Name, "Node Control/") || strings.HasPrefix(r.Name, "Device Control/") {
		return
	}
	out := template.Reading{Name: nameOf(r.Metric), Unit: r.Unit, Time: r.Time, Historical: r.Historical}
	switch v := r.Value.(type) {
	case int64:
		out.Value = point.IntOf(v)
	case uint64:
		out.Value = point.FloatOf(float64(v))
	case float64:
		out.Value = point.FloatOf(v)
	case bool:
		out.Value = point.BoolOf(v)
	case string:
		out.Value = point.TextOf(strings.ToValidUTF8(v, "\uFFFD"))
	}
	switch r.Quality {
	case sparkplug.Good:
	case sparkplug.Bad:
		out.Quality = point.BadSensor
	case sparkplug.Stale:
		out.Quality, out.Value = point.BadStale, point.Value{}
	}
	out.Command = e.command(r.Metric)
	emit(&out)
}

// nameOf is the name of a metric's point within the edge node.
func nameOf(m *sparkplug.Metric) string {
	levels := strings.Split(m.Name, "/")
	for i := range levels {
		levels[i] = template.Segment(levels[i])
	}
	name := strings.Join(levels, "/")
	if m.Device != "" {
		name = template.Segment(m.Device) + "/" + name
	}
	return name
}

// detail is what is kept of a metric that can be commanded.
type detail struct {
	Group  string             `json:"group"`
	Node   string             `json:"node"`
	Device string             `json:"device,omitempty"`
	Metric string             `json:"metric"`
	Type   sparkplug.DataType `json:"type"`
	Unit   string             `json:"unit,omitempty"`
}

// command returns how a metric is commanded, nil if it is not.
func (e *edge) command(m *sparkplug.Metric) *template.Command {
	c, known := e.commands[m]
	if !known {
		if e.host.writable(m) {
			c = e.host.commandOf(&detail{e.group, e.node, m.Device, m.Name, m.Type, m.Unit})
		}
		if e.commands != nil {
			e.commands[m] = c
		}
	}
	return c
}

// writable reports whether a metric can be commanded: its birth says so, or the configuration.
func (h *Host) writable(m *sparkplug.Metric) bool {
	if m.ReadOnly != nil {
		return !*m.ReadOnly
	}
	for _, p := range h.setting.Writable {
		if point.Pattern(p).Match(point.Path(nameOf(m))) {
			return true
		}
	}
	return false
}

// Restore returns how a metric that was kept is commanded, nil if it is none.
func (h *Host) Restore(text string) *template.Command {
	var d detail
	if h == nil || json.Unmarshal([]byte(text), &d) != nil || d.Metric == "" {
		return nil
	}
	return h.commandOf(&d)
}

var errValue = errors.New("is not a value of the metric")

func (h *Host) commandOf(d *detail) *template.Command {
	m := &sparkplug.Metric{Device: d.Device, Name: d.Metric, Type: d.Type}
	place := h.place(d.Group, d.Node)
	text, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	to := sparkplug.Topic{Group: d.Group, Type: sparkplug.NCMD, Node: d.Node, Device: d.Device}
	if d.Device != "" {
		to.Type = sparkplug.DCMD
	}
	return &template.Command{
		Point: place.Join(nameOf(m)), Device: place, Unit: d.Unit, Kind: kindOf(d.Type), Detail: string(text), Set: setting.Set{Topic: to.String()},
		Payload: func(v point.Value) ([]byte, error) {
			var value any
			switch kindOf(d.Type) {
			case point.Bool:
				value = v.Bool()
			case point.Text:
				value = v.Text()
			default:
				n, is := v.Number()
				if !is {
					return nil, fmt.Errorf("%v %w", v, errValue)
				}
				value = n
			}
			return sparkplug.Command(h.now(), d.Metric, d.Type, value)
		},
	}
}

func kindOf(t sparkplug.DataType) point.Kind {
	if t == sparkplug.Boolean {
		return point.Bool
	}
	if t == sparkplug.Float || t == sparkplug.Double || t == sparkplug.UInt64 {
		return point.Float
	}
	if t == sparkplug.String || t == sparkplug.Text || t == sparkplug.UUID {
		return point.Text
	}
	return point.Int
}

// Announce publishes the STATE of the host application, which is kept for edge nodes that connect later.
func (h *Host) Announce(online bool) {
	if h == nil {
		return
	}
	h.send(&session.Message{
		Topic: sparkplug.Topic{Type: sparkplug.STATE, Host: h.setting.Host}.String(), Payload: sparkplug.State(online, h.now()),
		QoS: packet.QoS(1), Retain: true,
	})
}
