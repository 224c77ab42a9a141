package sparkplug_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"voltbus/protocol/sparkplug"
	"voltbus/protocol/sparkplug/payload"
)

func at() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// play has a session receive messages and returns what it hands over.
type play struct {
	t       *testing.T
	session sparkplug.Session
	said    []string
	last    time.Time // of what was said last
}

func (p *play) receive(topic string, m *payload.Payload) error {
	p.t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	t, err := sparkplug.ParseTopic(topic)
	if err != nil {
		p.t.Fatal(topic, err)
	}
	p.said = nil
	return p.session.Receive(t, data, func(r *sparkplug.Reading) {
		text := fmt.Sprintf("%s/%s=%v", r.Device, r.Name, r.Value)
		if r.Quality != sparkplug.Good {
			text += []string{"", " bad", " stale"}[r.Quality]
		}
		p.said, p.last = append(p.said, text), r.Time
	})
}

func seq(n uint64, metrics ...*payload.Metric) *payload.Payload {
	return &payload.Payload{Timestamp: proto.Uint64(1772366400000), Seq: &n, Metrics: metrics}
}

func float(name string, alias uint64, v float64) *payload.Metric {
	m := &payload.Metric{Datatype: proto.Uint32(10), Value: &payload.Metric_DoubleValue{DoubleValue: v}}
	if name != "" {
		m.Name = &name
	}
	if alias > 0 {
		m.Alias = &alias
	}
	return m
}

func bdSeq(n uint64) *payload.Metric {
	return &payload.Metric{Name: new("bdSeq"), Datatype: proto.Uint32(8), Value: &payload.Metric_LongValue{LongValue: n}}
}

func born(t *testing.T) *play {
	t.Helper()
	p := &play{t: t}
	if err := p.receive("spBv1.0/g/NBIRTH/n", seq(0, bdSeq(4), float("load", 1, 1))); err != nil {
		t.Fatal(err)
	}
	if err := p.receive("spBv1.0/g/DBIRTH/n/d", seq(1, float("temp", 2, 20))); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *play) expect(what, want string) {
	p.t.Helper()
	if got := strings.Join(p.said, ", "); got != want {
		p.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Chapter 6.4.16: a message of data may name metrics by the alias of the birth.
func TestDataNamesMetricsByTheirAliases(t *testing.T) {
	p := born(t)
	if err := p.receive("spBv1.0/g/DDATA/n/d", seq(2, float("", 2, 21))); err != nil {
		t.Error(err)
	}
	p.expect("by alias", "d/temp=21")
	err := p.receive("spBv1.0/g/NDATA/n", seq(3, float("", 9, 1), float("load", 0, 2)))
	if !sparkplug.IsRebirth(err) {
		t.Errorf("an alias that no birth named: %v", err)
	}
	p.expect("beside an unknown alias", "/load=2")
	if err := p.receive("spBv1.0/g/NDATA/n", seq(4, float("", 2, 1))); !errors.Is(err, sparkplug.ErrAlias) {
		t.Errorf("the alias of a device's metric in the data of the edge node: %v", err)
	}
}

// Chapter 5.4: a host application that misses a sequence number asks for the birth, and believes nothing before it.
func TestAGapInTheSequenceMakesEverythingStaleUntilTheNextBirth(t *testing.T) {
	p := born(t)
	err := p.receive("spBv1.0/g/DDATA/n/d", seq(3, float("", 2, 21)))
	if !errors.Is(err, sparkplug.ErrGap) || !sparkplug.IsRebirth(err) {
		t.Errorf("a gap: %v", err)
	}
	if len(p.said) != 2 || !strings.HasSuffix(p.said[0], "stale") || !strings.HasSuffix(p.said[1], "stale") {
		t.Errorf("after a gap: %q", p.said)
	}
	if want := time.UnixMilli(1772366400000); !p.last.Equal(want) { // the clock of the edge node may be slow: the births come later than that
		t.Errorf("stale at %v, want %v", p.last, want)
	}
	if err := p.receive("spBv1.0/g/DDATA/n/d", seq(4, float("", 2, 22))); !errors.Is(err, sparkplug.ErrNoBirth) {
		t.Errorf("data after a gap: %v", err)
	}
	p.expect("data after a gap", "")
	if err := p.receive("spBv1.0/g/NBIRTH/n", seq(0, bdSeq(4), float("load", 1, 3))); err != nil {
		t.Error(err)
	}
	if err := p.receive("spBv1.0/g/DDATA/n/d", seq(1, float("temp", 0, 3))); !errors.Is(err, sparkplug.ErrNoBirth) {
		t.Errorf("data of a device that was not born again: %v", err)
	}
}

// Chapter 6.4.3: sequence numbers go from 0 to 255 and again from 0.
func TestTheSequenceGoesOnFrom255To0(t *testing.T) {
	p := born(t)
	for i := 2; i < 600; i++ {
		if err := p.receive("spBv1.0/g/NDATA/n", seq(uint64(i%256), float("", 1, float64(i)))); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := p.receive("spBv1.0/g/NDATA/n", &payload.Payload{Metrics: []*payload.Metric{float("", 1, 1)}}); !errors.Is(err, sparkplug.ErrGap) {
		t.Errorf("no sequence number: %v", err)
	}
}

// Chapter 6.4.22: the death belongs to the birth with the same bdSeq; that of an earlier connection is ignored.
func TestADeathBelongsToItsBirth(t *testing.T) {
	p := born(t)
	if err := p.receive("spBv1.0/g/NDEATH/n", &payload.Payload{Metrics: []*payload.Metric{bdSeq(3)}}); err == nil || len(p.said) > 0 || !p.session.Online() {
		t.Errorf("the death of an earlier connection: %v, %q", err, p.said)
	}
	if err := p.receive("spBv1.0/g/NDEATH/n", &payload.Payload{Metrics: []*payload.Metric{bdSeq(4)}}); err != nil || len(p.said) != 2 || p.session.Online() {
		t.Errorf("the death: %v, %q", err, p.said)
	}
	if err := p.receive("spBv1.0/g/NDATA/n", seq(2, float("", 1, 1))); !sparkplug.IsRebirth(err) {
		t.Errorf("data of a dead edge node: %v", err)
	}
}

func TestADeviceDiesAlone(t *testing.T) {
	p := born(t)
	if err := p.receive("spBv1.0/g/DDEATH/n/d", seq(2)); err != nil {
		t.Error(err)
	}
	p.expect("the death of a device", "d/temp=<nil> stale")
	if err := p.receive("spBv1.0/g/NDATA/n", seq(3, float("", 1, 5))); err != nil {
		t.Error(err)
	}
	p.expect("the edge node", "/load=5")
	if err := p.receive("spBv1.0/g/DDATA/n/d", seq(4, float("", 2, 5))); !sparkplug.IsRebirth(err) {
		t.Errorf("data of a dead device: %v", err)
	}
}

// Chapter 6.4.11: the property Quality is 192 for good, 0 for bad and 500 for stale.
func TestNullsAndQualitiesAreTakenOver(t *testing.T) {
	p := born(t)
	quality := func(q uint32) *payload.Metric {
		m := float("", 1, 7)
		m.Properties = &payload.PropertySet{Keys: []string{"Quality"}, Values: []*payload.PropertyValue{{Value: &payload.PropertyValue_IntValue{IntValue: q}}}}
		return m
	}
	null := &payload.Metric{Alias: proto.Uint64(1), IsNull: new(true)}
	if err := p.receive("spBv1.0/g/NDATA/n", seq(2, quality(192), quality(0), quality(500), null)); err != nil {
		t.Error(err)
	}
	p.expect("qualities", "/load=7, /load=7 bad, /load=7 stale, /load=<nil> bad")
}

// Chapter 6.4.17: signed integers are two's complement in unsigned fields.
func TestEveryTypeComesBackAsItWasWritten(t *testing.T) {
	for _, c := range []struct {
		typ  sparkplug.DataType
		in   any
		want any
	}{
		{sparkplug.Int8, -128.0, int64(-128)},
		{sparkplug.Int16, -3.0, int64(-3)},
		{sparkplug.Int32, float64(math.MinInt32), int64(math.MinInt32)},
		{sparkplug.Int64, -5e15, int64(-5e15)},
		{sparkplug.UInt8, 255.0, int64(255)},
		{sparkplug.UInt16, 65535.0, int64(65535)},
		{sparkplug.UInt32, float64(math.MaxUint32), int64(math.MaxUint32)},
		{sparkplug.UInt64, 1e18, uint64(1e18)},
		{sparkplug.Float, 21.5, 21.5},
		{sparkplug.Double, 0.1, 0.1},
		{sparkplug.Boolean, true, true},
		{sparkplug.String, "a", "a"},
		{sparkplug.Text, "b", "b"},
		{sparkplug.DateTime, 1.7e12, int64(1.7e12)},
	} {
		var m payload.Metric
		if err := sparkplug.SetValue(&m, c.typ, c.in); err != nil {
			t.Errorf("%d: %v", c.typ, err)
		}
		if got, err := sparkplug.ValueOf(&m, c.typ); got != c.want || err != nil {
			t.Errorf("%d: %v (%T), %v, want %v", c.typ, got, got, err, c.want)
		}
	}
	for typ, v := range map[sparkplug.DataType]any{sparkplug.Int8: 128.0, sparkplug.UInt16: -1.0, sparkplug.Int32: 1.5, sparkplug.Boolean: "x", sparkplug.String: 1.0, 16: 1.0} {
		var m payload.Metric
		if err := sparkplug.SetValue(&m, typ, v); err == nil {
			t.Errorf("%v fits type %d", v, typ)
		}
	}
	short := payload.Metric{Value: &payload.Metric_IntValue{IntValue: 0xFFFD}} // without the sign extended
	if got, _ := sparkplug.ValueOf(&short, sparkplug.Int16); got != int64(-3) {
		t.Errorf("a short negative number is %v", got)
	}
	if _, err := sparkplug.ValueOf(&short, sparkplug.String); err == nil {
		t.Error("a number is a text")
	}
}

func TestABirthIsNotAskedForAgainAtOnce(t *testing.T) {
	var s sparkplug.Session
	if !s.Rebirth(at()) || s.Rebirth(at().Add(time.Second)) || !s.Rebirth(at().Add(time.Minute)) {
		t.Error("asked too often, or not again")
	}
}

func TestTopicsAreReadAndWritten(t *testing.T) {
	for _, text := range []string{"spBv1.0/g/NBIRTH/n", "spBv1.0/g/DCMD/n/d", "spBv1.0/STATE/host"} {
		if topic, err := sparkplug.ParseTopic(text); err != nil || topic.String() != text {
			t.Errorf("%s: %v, %v", text, topic, err)
		}
	}
	for _, text := range []string{"", "spBv1.0", "spBv1.0/g/NBIRTH", "spBv1.0/g/NBIRTH/n/d", "spBv1.0/g/DDATA/n", "spBv1.0/g/X/n", "spBv1.0//NDATA/n", "spAv1.0/g/NDATA/n", "spBv1.0/STATE/", "spBv1.0/g/DDATA/n/d/e"} {
		if topic, err := sparkplug.ParseTopic(text); err == nil {
			t.Errorf("%q is the topic %v", text, topic)
		}
	}
}

func TestWhatAnEdgeNodeSaysIsUnderstoodByAHost(t *testing.T) {
	e := sparkplug.NewEdge(255)
	p := &play{t: t}
	raw := func(topic string, data []byte, err error) error {
		t.Helper()
		var m payload.Payload
		if err != nil || proto.Unmarshal(data, &m) != nil {
			t.Fatal(err)
		}
		return p.receive(topic, &m)
	}
	values := []sparkplug.Value{{Name: "a/b", Type: sparkplug.Double, Unit: "kW", Value: 1.5, Time: at()}, {Name: "c", Type: sparkplug.Boolean, Time: at(), Quality: sparkplug.Bad}}
	death, err := e.Death()
	if err != nil {
		t.Fatal(err)
	}
	birth, err := e.Birth(at(), values)
	if err := raw("spBv1.0/g/NBIRTH/n", birth, err); err != nil {
		t.Error(err)
	}
	p.expect("the birth", "/Node Control/Rebirth=false, /a/b=1.5, /c=<nil> bad")
	for i := range 300 {
		values[0].Value = float64(i)
		data, err := e.Data(at(), values[:1])
		if err := raw("spBv1.0/g/NDATA/n", data, err); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw("spBv1.0/g/NDEATH/n", death, nil); err != nil || p.session.Online() {
		t.Errorf("the death is of another birth: %v", err)
	}
	e.Again()
	next, err := e.Death()
	if string(next) == string(death) || err != nil {
		t.Error("the next connection has the same bdSeq")
	}
}

func FuzzSession(f *testing.F) {
	birth, _ := proto.Marshal(seq(0, bdSeq(4), float("load", 1, 1)))
	f.Add(uint8(0), birth)
	f.Fuzz(func(_ *testing.T, kind uint8, data []byte) {
		var s sparkplug.Session
		none := func(*sparkplug.Reading) {}
		_ = s.Receive(sparkplug.Topic{Group: "g", Type: sparkplug.NBIRTH, Node: "n"}, birth, none)
		types := []sparkplug.Topic{
			{Type: sparkplug.NBIRTH}, {Type: sparkplug.DBIRTH, Device: "d"}, {Type: sparkplug.NDATA}, {Type: sparkplug.DDATA, Device: "d"}, {Type: sparkplug.NDEATH}, {Type: sparkplug.DDEATH, Device: "d"},
		}
		_ = s.Receive(types[int(kind)%len(types)], data, none)
		_ = s.Receive(sparkplug.Topic{Type: sparkplug.NDATA}, data, none)
	})
}
