package mqtt

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"voltbus/point"
	"voltbus/protocol/mqtt/client"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/sparkplug"
	"voltbus/protocol/sparkplug/payload"
)

// edge is a target's Sparkplug B edge node. Its metrics are the points, by path. A point missing from the birth triggers a new
// one.
type edge struct {
	group, node string
	state       *sparkplug.Edge
	metrics     map[point.Path]*sparkplug.Value
	order       []point.Path
	born        bool
	rebirth     atomic.Bool // a host application requests a rebirth
	unit        func(point.Path) string
}

func (e *edge) topic(t sparkplug.Type) string {
	return sparkplug.Topic{Group: e.group, Type: t, Node: e.node}.String()
}

// connect connects with the death as the will, and listens for rebirth requests.
func (e *edge) connect(ctx context.Context, conn net.Conn, cfg client.Config, birth uint64) (*client.Conn, error) {
	e.state, e.born = sparkplug.NewEdge(birth), false
	death, err := e.state.Death()
	if err != nil {
		return nil, err
	}
	cfg.Will = &packet.Will{QoS: 1, Topic: []byte(e.topic(sparkplug.NDEATH)), Payload: death}
	cfg.Message = func(_ string, data []byte) {
		var p payload.Payload
		if proto.Unmarshal(data, &p) != nil {
			return
		}
		for _, m := range p.GetMetrics() {
			if m.GetName() == sparkplug.Rebirth && m.GetBooleanValue() {
				e.rebirth.Store(true)
			}
		}
	}
	c, err := client.New(ctx, conn, cfg)
	if err != nil {
		return nil, err
	}
	return c, c.Subscribe(ctx, 1, e.topic(sparkplug.NCMD))
}

// leave publishes the death: the broker does not publish the will of a connection that is closed properly.
func (e *edge) leave(conn *client.Conn) {
	if data, err := e.state.Death(); err == nil {
		_, _ = conn.Begin(&client.Message{Topic: e.topic(sparkplug.NDEATH), Payload: data})
	}
}

// publish publishes the samples of a block: as a birth if one is due, otherwise as data.
func (e *edge) publish(conn *client.Conn, b *point.Block, wanted []bool, now time.Time) (n int, err error) {
	var values []sparkplug.Value
	fresh := !e.born || e.rebirth.Swap(false)
	for i := range b.Point {
		if !wanted[b.Point[i]] {
			continue
		}
		s := b.Sample(i)
		v := valueOf(&s)
		known := e.metrics[s.Point]
		switch {
		case known == nil:
			v.Unit = e.unit(s.Point)
			e.order = append(e.order, s.Point)
			fresh = true
		case v.Value == nil:
			v.Type, v.Unit = known.Type, known.Unit
		default:
			v.Unit = known.Unit
			fresh = fresh || v.Type != known.Type
		}
		e.metrics[s.Point] = &v
		values = append(values, v)
		n++
	}
	if n == 0 && !fresh {
		return 0, nil
	}
	return n, e.send(conn, values, fresh, now)
}

func (e *edge) send(conn *client.Conn, values []sparkplug.Value, fresh bool, now time.Time) error {
	if fresh {
		all := make([]sparkplug.Value, len(e.order))
		for i, path := range e.order {
			all[i] = *e.metrics[path]
		}
		data, err := e.state.Birth(now, all)
		if err == nil {
			_, err = conn.Begin(&client.Message{Topic: e.topic(sparkplug.NBIRTH), Payload: data})
		}
		if err != nil {
			return err
		}
		e.born = true
	}
	if len(values) == 0 {
		return nil
	}
	data, err := e.state.Data(now, values)
	if err == nil {
		_, err = conn.Begin(&client.Message{Topic: e.topic(sparkplug.NDATA), Payload: data})
	}
	return err
}

// valueOf returns the value of a metric. A point without a value is a double until it has one.
func valueOf(s *point.Sample) sparkplug.Value {
	v := sparkplug.Value{Name: string(s.Point), Type: sparkplug.Double, Time: s.Time}
	if s.Quality.IsBad() {
		v.Quality = sparkplug.Bad
		if s.Quality == point.BadStale {
			v.Quality = sparkplug.Stale
		}
		return v
	}
	n, number := s.Value.Number()
	switch s.Value.Kind() {
	case point.None:
		v.Quality = sparkplug.Bad
	case point.Bool:
		v.Type, v.Value = sparkplug.Boolean, s.Value.Bool()
	case point.Text:
		v.Type, v.Value = sparkplug.String, s.Value.Text()
	case point.Int, point.Float:
		if number {
			v.Value = n
		}
	}
	return v
}
