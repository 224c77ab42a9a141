package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"voltbus/broker/template"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/mqtt/client"
)

// line is a connection to a broker. The goroutine that reads it and the one that calls its sessions share what the lock
// guards.
type line struct {
	conn *client.Conn

	mu       sync.Mutex
	sessions map[*session]struct{}
	last     map[string][]byte // latest payloads of the sessions' topics
}

func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E("mqtt.Dial", fault.Invalid, "", errors.New("the configuration is not that of the driver mqtt"))
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.address())
	if err != nil {
		return nil, lost("mqtt.Dial", fault.Unreachable, c.address(), err)
	}
	if c.TLS {
		secured := tls.Client(conn, c.secure())
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, lost("mqtt.Dial", fault.Unreachable, c.address(), err)
		}
		conn = secured
	}
	l := &line{sessions: map[*session]struct{}{}, last: map[string][]byte{}}
	l.conn, err = client.New(ctx, conn, client.Config{ClientID: c.Client, User: c.User, Password: c.password, Message: l.message, Ended: l.ended})
	if err != nil {
		return nil, lost("mqtt.Dial", fault.Unreachable, c.address(), err)
	}
	return l, nil
}

// lost is the error of a line that must be dialled again.
func lost(op string, kind fault.Kind, subject string, err error) error {
	return fault.E(op, kind, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
}

// message passes a message to the sessions that have its topic.
func (l *line) message(topic string, payload []byte) {
	now := time.Now().UTC()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, wanted := l.last[topic]; !wanted {
		return
	}
	l.last[topic] = append([]byte{}, payload...)
	for s := range l.sessions {
		s.take(now, topic, payload, true)
	}
}

// ended notifies the sessions that the connection has ended.
func (l *line) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.sessions {
		s.news()
	}
}

// Open implements driver.Line.
func (l *line) Open(ctx context.Context, cfg driver.Config) (driver.Session, error) {
	c, is := cfg.(*Config)
	if !is {
		return nil, fault.E("mqtt.Open", fault.Invalid, "", errors.New("the configuration is not that of the driver mqtt"))
	}
	s := &session{line: l, cfg: c, values: map[string]value{}, wanted: map[string]bool{}, news: func() {}, fresh: make(chan struct{}, 1)}
	var topics []string
	l.mu.Lock()
	l.sessions[s] = struct{}{}
	for i := range c.entries {
		topic := c.entries[i].topic
		if payload, known := l.last[topic]; !known {
			l.last[topic] = nil
			topics = append(topics, topic)
		} else if payload != nil && s.matches(topic) == i {
			s.take(time.Now().UTC(), topic, payload, false)
		}
	}
	l.mu.Unlock()
	if len(topics) == 0 {
		return s, nil
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := l.conn.Subscribe(limited, 1, topics...)
	if err == nil {
		err = l.conn.Ping(limited) // retained messages arrive before the answer
	}
	if err != nil {
		_ = s.Close()
		return nil, lost("mqtt.Open", fault.Unreachable, c.address(), err)
	}
	return s, nil
}

// Close implements driver.Line.
func (l *line) Close() error { return l.conn.Close() }

// most is the maximum number of reports kept until they are taken.
const most = 10_000

// value is the latest value of a point.
type value struct {
	point.Sample

	came time.Time
	read bool // a read has returned it
}

// session is a device. The lock of its line guards it.
type session struct {
	line   *line
	cfg    *Config
	values map[string]value
	wanted map[string]bool // points to report
	queue  []point.Sample
	lost   uint64
	news   func()
	fresh  chan struct{} // a message has arrived
	closed bool
}

// matches returns the first point of a topic.
func (s *session) matches(topic string) int {
	for i := range s.cfg.entries {
		if s.cfg.entries[i].topic == topic {
			return i
		}
	}
	return -1
}

// take processes the values of a message. The caller holds the lock.
func (s *session) take(now time.Time, topic string, payload []byte, report bool) {
	m := s.cfg.set.Find(topic)
	if m == nil {
		return
	}
	got := map[string]point.Sample{}
	_ = m.Take(now, topic, payload, func(r *template.Reading) {
		got[r.Name] = point.Sample{Point: point.Path(r.Name), Time: r.Time, Value: r.Value, Quality: r.Quality}
	})
	for i := range s.cfg.entries {
		e := &s.cfg.entries[i]
		if e.topic != topic {
			continue
		}
		sample, decoded := got[e.name]
		if !decoded {
			sample = point.Sample{Point: point.Path(e.name), Quality: point.BadValue}
		}
		if sample.Time.IsZero() {
			sample.Time = now
		}
		s.values[e.name] = value{Sample: sample, came: now}
		if report && s.wanted[e.name] {
			s.push(sample)
		}
	}
	if report {
		s.news()
	}
	select {
	case s.fresh <- struct{}{}:
	default:
	}
}

func (s *session) push(sample point.Sample) {
	if len(s.queue) >= most {
		s.queue = append(s.queue[:0], s.queue[1:]...)
		s.lost++
	}
	s.queue = append(s.queue, sample)
}

// Read implements driver.Session.
func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.line.conn.Ping(limited); err != nil {
		return nil, s.failed(ctx, "mqtt.Read", err)
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	samples := make([]point.Sample, len(names))
	for i, name := range names {
		v, known := s.values[name]
		sample := v.Sample
		switch {
		case known && s.cfg.StaleAfter > 0 && time.Since(v.came) > s.cfg.StaleAfter:
			sample = point.Sample{Quality: point.BadStale}
		case known && v.read:
			sample.Time = time.Time{} // the value is still valid
		case known:
			v.read = true
			s.values[name] = v
		case s.find(name) == nil:
			sample.Quality = point.BadConfig
		default:
			sample.Quality = point.BadTimeout // no message so far
		}
		sample.Point = point.Path(name)
		samples[i] = sample
	}
	return samples, nil
}

func (s *session) find(name string) *entry {
	for i := range s.cfg.entries {
		if s.cfg.entries[i].name == name {
			return &s.cfg.entries[i]
		}
	}
	return nil
}

// failed is the error of a request that the broker did not answer.
func (s *session) failed(ctx context.Context, op string, err error) error {
	switch {
	case errors.Is(err, client.ErrLost):
		return lost(op, fault.Unreachable, s.cfg.address(), err)
	case ctx.Err() != nil:
		return fault.E(op, fault.KindOf(ctx.Err()), s.cfg.address(), err)
	}
	return lost(op, fault.Timeout, s.cfg.address(), fmt.Errorf("the broker does not answer: %w", err))
}

// Close implements driver.Session.
func (s *session) Close() error {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	s.closed, s.news = true, func() {}
	delete(s.line.sessions, s)
	return nil
}

// Subscribe implements driver.Subscriber.
func (s *session) Subscribe(_ context.Context, names []string, news func()) error {
	if err := s.line.conn.Err(); err != nil {
		return lost("mqtt.Subscribe", fault.Unreachable, s.cfg.address(), err)
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	s.wanted = map[string]bool{}
	for _, name := range names {
		s.wanted[name] = true
	}
	s.news = news
	if len(s.queue) > 0 || s.line.conn.Err() != nil {
		news()
	}
	return nil
}

// Take implements driver.Subscriber.
func (s *session) Take(_ context.Context, emit func(point.Sample)) error {
	s.line.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.line.mu.Unlock()
	for i := range queue {
		emit(queue[i])
	}
	if err := s.line.conn.Err(); err != nil {
		return lost("mqtt.Take", fault.Unreachable, s.cfg.address(), err)
	}
	return nil
}

// Lost implements driver.Lossy.
func (s *session) Lost() uint64 {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	n := s.lost
	s.lost = 0
	return n
}
