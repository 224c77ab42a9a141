package sparkplug

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"voltbus/protocol/sparkplug/payload"
)

// Quality is how good a value is.
type Quality uint8

// The qualities.
const (
	Good  Quality = iota
	Bad           // the edge node says so, or the value is null
	Stale         // the edge node or device is gone, or says so
)

// Metric is what a birth says of a metric.
type Metric struct {
	Device   string // "" for the edge node's own
	Name     string
	Type     DataType
	Unit     string
	ReadOnly *bool // what the birth says, nil for nothing
}

// Reading is a value of a metric.
type Reading struct {
	*Metric
	Value      any // as of ValueOf; nil without one
	Quality    Quality
	Time       time.Time // the zero time if none is known
	Historical bool      // it was stored by the edge node, and is not the present value
}

// The bounds of one edge node.
const (
	maxDevices = 10_000
	maxMetrics = 100_000
	// askAgain is how long an edge node may take to give its birth anew.
	askAgain = 10 * time.Second
)

// Session is what a host application knows of one edge node. The zero Session knows nothing. It is used by one goroutine.
type Session struct {
	online  bool
	birth   uint64 // the bdSeq of the birth
	next    uint8  // the seq that is expected
	devices map[string]*device
	aliases map[uint64]*Metric
	count   int
	asked   time.Time
}

// device is a device of an edge node, "" for its own metrics.
type device struct {
	online  bool
	metrics map[string]*Metric
}

// The errors of Receive that say that the edge node has to give its birth anew.
var (
	ErrNoBirth  = errors.New("there was no birth before it")
	ErrGap      = errors.New("messages before it are missing")
	ErrAlias    = errors.New("it names a metric that no birth named")
	errMany     = errors.New("the edge node has more metrics or devices than are taken")
	errOldDeath = errors.New("the death belongs to an earlier connection")
)

// IsRebirth reports whether an error means that the edge node has to give its birth anew.
func IsRebirth(err error) bool {
	return errors.Is(err, ErrNoBirth) || errors.Is(err, ErrGap) || errors.Is(err, ErrAlias)
}

// Rebirth reports whether to ask for a birth now: not again before the edge node had time to give it.
func (s *Session) Rebirth(now time.Time) bool {
	if !s.asked.IsZero() && now.Sub(s.asked) < askAgain {
		return false
	}
	s.asked = now
	return true
}

// Online reports whether the edge node is there.
func (s *Session) Online() bool { return s.online }

// Receive takes a message of the edge node and hands its readings to emit. With an error of IsRebirth the caller asks for
// the birth by Rebirth. Readings before an error count.
func (s *Session) Receive(t Topic, data []byte, emit func(*Reading)) error {
	var p payload.Payload
	if err := proto.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("the payload is not that of Sparkplug B: %w", err)
	}
	switch t.Type {
	case NBIRTH:
		return s.nodeBirth(&p, emit)
	case NDEATH:
		return s.nodeDeath(&p, emit)
	case NCMD, DCMD, STATE:
		return nil
	case DBIRTH, DDEATH, NDATA, DDATA:
	}
	if !s.online {
		return ErrNoBirth
	}
	if err := s.follow(&p); err != nil {
		s.online = false                   // nothing is believed until the next birth
		s.fade(emit, at(p.GetTimestamp())) // by the clock of the edge node, so that its births come later
		return err
	}
	if t.Type == DBIRTH {
		return s.describe(t.Device, &p, emit)
	}
	if t.Type != DDEATH {
		return s.data(t.Device, &p, emit)
	}
	if d := s.devices[t.Device]; d != nil {
		d.fade(emit, at(p.GetTimestamp()))
	}
	return nil
}

// follow checks the sequence number: from 0 to 255 and again from 0 (chapter 6.4.3).
func (s *Session) follow(p *payload.Payload) error {
	if p.Seq == nil || p.GetSeq() != uint64(s.next) {
		return fmt.Errorf("%w: it has the sequence number %d, and %d is expected", ErrGap, p.GetSeq(), s.next)
	}
	s.next++
	return nil
}

// bdSeq is the name of the metric that ties a death to its birth.
const bdSeq = "bdSeq"

func (s *Session) nodeBirth(p *payload.Payload, emit func(*Reading)) error {
	for name, d := range s.devices { // devices have to be born again
		if name != "" && d.online {
			d.fade(emit, at(p.GetTimestamp()))
		}
	}
	*s = Session{online: true, next: uint8(p.GetSeq()) + 1, devices: map[string]*device{}, aliases: map[uint64]*Metric{}} //nolint:gosec // counts to 255
	for _, m := range p.GetMetrics() {
		if m.GetName() == bdSeq {
			s.birth = m.GetLongValue() + uint64(m.GetIntValue())
		}
	}
	return s.describe("", p, emit)
}

func (s *Session) nodeDeath(p *payload.Payload, emit func(*Reading)) error {
	for _, m := range p.GetMetrics() {
		if n := m.GetLongValue() + uint64(m.GetIntValue()); s.online && m.GetName() == bdSeq && n != s.birth {
			return errOldDeath
		}
	}
	s.online = false
	s.fade(emit, time.Time{}) // its time is that of the will, which was made before the birth
	return nil
}

// fade makes all metrics stale.
func (s *Session) fade(emit func(*Reading), when time.Time) {
	for _, d := range s.devices {
		d.fade(emit, when)
	}
}

func (d *device) fade(emit func(*Reading), when time.Time) {
	d.online = false
	for _, m := range d.metrics {
		emit(&Reading{Metric: m, Quality: Stale, Time: when})
	}
}

// describe takes the metrics of a birth.
func (s *Session) describe(name string, p *payload.Payload, emit func(*Reading)) error {
	if len(s.devices) >= maxDevices && s.devices[name] == nil {
		return errMany
	}
	d := &device{online: true, metrics: make(map[string]*Metric, len(p.GetMetrics()))}
	if before := s.devices[name]; before != nil {
		s.count -= len(before.metrics)
	}
	s.devices[name] = d
	for _, m := range p.GetMetrics() {
		if m.GetName() == "" || m.GetName() == bdSeq {
			continue
		}
		if s.count >= maxMetrics {
			return errMany
		}
		s.count++
		known := &Metric{Device: name, Name: m.GetName(), Type: DataType(m.GetDatatype())}
		known.properties(m.GetProperties())
		d.metrics[known.Name] = known
		if m.Alias != nil {
			s.aliases[m.GetAlias()] = known
		}
	}
	return s.data(name, p, emit)
}

// properties takes what a birth says beside the value.
func (m *Metric) properties(set *payload.PropertySet) {
	for i, key := range set.GetKeys() {
		if i >= len(set.GetValues()) {
			return
		}
		v := set.GetValues()[i]
		switch key {
		case "engUnit", "Engineering Units":
			m.Unit = v.GetStringValue()
		case "readOnly", "ReadOnly":
			is := v.GetBooleanValue()
			m.ReadOnly = &is
		}
	}
}

// data hands over the values of a message.
func (s *Session) data(name string, p *payload.Payload, emit func(*Reading)) error {
	d := s.devices[name]
	if d == nil || !d.online {
		return fmt.Errorf("%w: device %q", ErrNoBirth, name)
	}
	var failed error
	for _, m := range p.GetMetrics() {
		if m.GetName() == bdSeq {
			continue
		}
		known := d.metrics[m.GetName()]
		if m.GetName() == "" && m.Alias != nil {
			known = s.aliases[m.GetAlias()]
		}
		if known == nil || known.Device != name {
			failed = errors.Join(failed, fmt.Errorf("%w: %q, alias %d", ErrAlias, m.GetName(), m.GetAlias()))
			continue
		}
		if err := known.read(m, p, emit); err != nil && failed == nil {
			failed = fmt.Errorf("metric %q %w", known.Name, err)
		}
	}
	return failed
}

// The values of the property "Quality" (chapter 6.4.11).
const (
	qualityGood  = 192
	qualityStale = 500
)

func (m *Metric) read(data *payload.Metric, p *payload.Payload, emit func(*Reading)) error {
	r := Reading{Metric: m, Time: at(p.GetTimestamp()), Historical: data.GetIsHistorical()}
	if data.Timestamp != nil {
		r.Time = at(data.GetTimestamp())
	}
	var err error
	if r.Value, err = ValueOf(data, m.Type); err != nil {
		if errors.Is(err, errType) {
			return nil // such as a data set, which is no point
		}
		return err
	}
	if r.Value == nil {
		r.Quality = Bad
	}
	for i, key := range data.GetProperties().GetKeys() {
		if key != "Quality" || i >= len(data.GetProperties().GetValues()) {
			continue
		}
		v := data.GetProperties().GetValues()[i]
		switch int64(v.GetIntValue()) + int64(v.GetLongValue()) { //nolint:gosec // one of few codes
		case qualityGood:
		case qualityStale:
			r.Quality = Stale
		default:
			r.Quality = Bad
		}
	}
	emit(&r)
	return nil
}

// at is a time of a payload.
func at(milliseconds uint64) time.Time {
	if milliseconds == 0 || milliseconds > 1<<53 {
		return time.Time{}
	}
	return time.UnixMilli(int64(milliseconds)).UTC()
}

// RebirthTopic and RebirthCommand ask an edge node for its birth (chapter 6.4.20).
func RebirthTopic(group, node string) Topic { return Topic{Group: group, Type: NCMD, Node: node} }

// Rebirth is the name of the metric that asks for a birth.
const Rebirth = "Node Control/Rebirth"

// Command is the payload of a command that sets a metric to a value, as of SetValue.
func Command(now time.Time, name string, t DataType, v any) ([]byte, error) {
	m := &payload.Metric{Name: &name, Timestamp: milliseconds(now)}
	if err := SetValue(m, t, v); err != nil {
		return nil, err
	}
	return proto.Marshal(&payload.Payload{Timestamp: milliseconds(now), Metrics: []*payload.Metric{m}})
}

func milliseconds(t time.Time) *uint64 {
	n := uint64(max(t.UnixMilli(), 0))
	return &n
}

// State is the payload of the STATE message of a host application (chapter 6.4.24).
func State(online bool, since time.Time) []byte {
	return fmt.Appendf(nil, `{"online":%t,"timestamp":%d}`, online, since.UnixMilli())
}
