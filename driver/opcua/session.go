package opcua

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/protocol/opcua/client"
)

// session is one device: points of a server.
type session struct {
	line   *line
	cfg    *Config
	items  []pointlist.Item
	nodes  []*node
	at     []*node // by item
	byName map[string]int
	closed bool

	diagnosis error

	// What the lock of the line guards.
	misdated uint64
	news     func()
	wanted   map[int]bool // items to report
	queue    []point.Sample
	lost     uint64
	handles  []uint32
	refused  map[*node]error // monitored items that the server declined
}

// node is a node with the points that have its value or elements of it.
type node struct {
	where   pointlist.Node
	id      *ua.NodeID // nil: missing says why
	missing error
	items   []int
	last    time.Time // the server's time of the last value that was read
	kind    ua.TypeID // of the last value; the lock of the line guards it
}

// ahead is how far in the future a time of a server may be.
const ahead = time.Minute

// Read implements driver.Session.
func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	const op = "opcua.Read"
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), s.cfg.Endpoint, err)
	}
	var asked []*node
	seen := make(map[*node]*ua.DataValue)
	for _, name := range names {
		i, known := s.byName[name]
		if !known || s.at[i].id == nil {
			continue
		}
		if _, twice := seen[s.at[i]]; !twice {
			seen[s.at[i]] = nil
			asked = append(asked, s.at[i])
		}
	}
	if err := s.readNodes(ctx, asked, seen); err != nil {
		return nil, s.fail(op, ctx, err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	samples := make([]point.Sample, len(names))
	var bad []string
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	for k, name := range names {
		i, known := s.byName[name]
		if !known {
			samples[k] = point.Sample{Point: point.Path(name), Quality: point.BadConfig}
			continue
		}
		samples[k] = s.sample(i, seen[s.at[i]], now, s.at[i].last)
		if samples[k].Quality == point.BadConfig {
			bad = append(bad, s.items[i].Describe())
		}
	}
	for n, v := range seen {
		if v != nil {
			n.last = v.SourceTimestamp
		}
	}
	s.diagnose(bad)
	return samples, nil
}

// readNodes reads nodes in requests of a size that the server takes.
func (s *session) readNodes(ctx context.Context, asked []*node, into map[*node]*ua.DataValue) error {
	for len(asked) > 0 {
		n := min(len(asked), s.line.most.read)
		nodes := make([]*ua.ReadValueID, n)
		for i := range nodes {
			nodes[i] = valueOf(asked[i].id)
		}
		results, err := read(ctx, s.line.conn, nodes, s.cfg.Timeout)
		if errors.Is(err, ua.StatusBadTooManyOperations) && n > 1 {
			s.line.most.read = n / 2
			continue
		}
		if err != nil {
			return err
		}
		for i, v := range results {
			into[asked[i]] = v
		}
		asked = asked[n:]
	}
	s.line.silent = 0
	return nil
}

// sample makes a sample of a result. The lock of the line is held. last is the server's time of the value before: one that has not changed has the time now.
func (s *session) sample(i int, v *ua.DataValue, now, last time.Time) point.Sample {
	t := &s.items[i]
	out := point.Sample{Point: point.Path(t.Name), Time: now, Quality: point.BadConfig}
	if v == nil {
		return out
	}
	out.Quality = qualityOf(v.Status)
	if at := v.SourceTimestamp.UTC().Truncate(time.Microsecond); !at.IsZero() && !last.IsZero() && at.After(last) {
		if (point.Bounds{Ahead: ahead}).Hold(at, now) {
			out.Time = at
		} else {
			out.Quality = out.Quality.Doubtful()
			s.misdated++
		}
	}
	if out.Quality.IsBad() {
		return out
	}
	if v.Value != nil {
		s.at[i].kind = v.Value.Type()
	}
	value, ok := t.Decode(v.Value)
	switch {
	case ok:
		out.Value = value
	case v.Value == nil || v.Value.Type() == ua.TypeIDNull:
		out.Quality = point.BadDevice
	case isNumber(v.Value):
		out.Quality = point.BadValue
	default:
		out.Quality = point.BadConfig
	}
	return out
}

// isNumber reports whether a value is a number that no sample can hold, such as NaN.
func isNumber(v *ua.Variant) bool {
	switch v.Value().(type) {
	case float32, float64:
		return true
	}
	return false
}

// diagnose notes why points are bad although the server answers.
func (s *session) diagnose(bad []string) {
	s.diagnosis = nil
	if len(bad) == 0 {
		return
	}
	why := "the server has no such node, or its value is of another type"
	for _, n := range s.nodes {
		if n.missing != nil {
			why = n.missing.Error()
			break
		}
	}
	s.diagnosis = fault.E("", fault.Invalid, "", fmt.Errorf("%s of the registry cannot be read: %s: %s; `voltbus opcua map` lists the variables of the server",
		plural.Of(len(bad), "point"), why, firstOf(bad)))
}

// firstOf names the first ones of a list.
func firstOf(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// Diagnose implements driver.Diagnoser.
func (s *session) Diagnose() error { return s.diagnosis }

// Misdated implements driver.Dated.
func (s *session) Misdated() uint64 {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	n := s.misdated
	s.misdated = 0
	return n
}

var (
	_ driver.Diagnoser = (*session)(nil)
	_ driver.Dated     = (*session)(nil)
)

// Close implements driver.Session.
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.line.mu.Lock()
	s.news = func() {}
	delete(s.line.sessions, s)
	s.line.mu.Unlock()
	s.unmonitor(context.Background())
	return nil
}

// fail turns an error of a request into the contract's.
func (s *session) fail(op string, ctx context.Context, err error) error {
	subject := s.cfg.Endpoint
	switch {
	case errors.Is(err, client.ErrLost):
		return fault.E(op, fault.Unreachable, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	case ctx.Err() != nil:
		return fault.E(op, fault.KindOf(ctx.Err()), subject, err)
	case errors.Is(err, client.ErrTimeout):
		if s.line.silent++; s.line.silent > 1 { // the connection may be dead without saying so
			s.line.conn.End(err)
			return fault.E(op, fault.Timeout, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
		}
		return fault.E(op, fault.Timeout, subject, fmt.Errorf("%w; raise config.timeout for a slow server, or write a smaller max_per_request", err))
	case sessionOver(err):
		s.line.conn.End(err)
		return fault.E(op, fault.Unreachable, subject, fmt.Errorf("%w: %w", driver.ErrNotConnected, explain(err)))
	}
	return fault.E(op, fault.Unavailable, subject, explain(err))
}

// sessionOver reports whether a server has forgotten the session or the channel.
func sessionOver(err error) bool {
	for _, code := range []ua.StatusCode{
		ua.StatusBadSessionIDInvalid, ua.StatusBadSessionClosed, ua.StatusBadSessionNotActivated, ua.StatusBadSecureChannelIDInvalid, ua.StatusBadSecureChannelClosed,
		ua.StatusBadShutdown, ua.StatusBadServerHalted, ua.StatusBadConnectionClosed, ua.StatusBadSecurityChecksFailed,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}
