package client

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/point"
	"voltbus/wire"
)

// Record keeps samples durably: when it returns nil, all are on the node's disk. Otherwise none
// is, unless the error is fault.Timeout or fault.Unreachable, where it is unknown; then record them
// again with the same key, which makes a repeat harmless. "" is no key. fault.Refused names the
// capability that is missing; a *wire.Failure in the chain lists all problems by the index of the
// sample. At most 100,000 samples and 8 MiB may go at once.
func (c *Client) Record(ctx context.Context, samples []point.Sample, key string) error {
	body := make([]byte, 0, 128*(len(samples)+1))
	body = append(body, `{"kwargs":{"key":`...)
	body = append(point.AppendQuoted(body, key), `,"samples":[`...)
	for i := range samples {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendSample(body, &samples[i])
	}
	body = append(body, `]}}`...)
	data, err := c.request(ctx, wire.NodeName, "record", body)
	if err != nil {
		return err
	}
	return decodeReply(wire.NodeName, "record", data, nil)
}

// appendSample appends a sample as the node records it, with the kind of its value.
func appendSample(dst []byte, s *point.Sample) []byte {
	dst = append(dst, `{"point":`...)
	dst = point.AppendQuoted(dst, s.Point)
	if !s.Time.IsZero() {
		dst = append(dst, `,"time":`...)
		dst = wire.AppendTime(dst, s.Time)
	}
	dst = append(dst, `,"value":`...)
	dst = s.Value.AppendJSON(dst)
	if k := s.Value.Kind(); k != point.None {
		dst = append(dst, `,"kind":`...)
		dst = point.AppendQuoted(dst, k.String())
	}
	if s.Quality != point.Good {
		dst = append(dst, `,"quality":`...)
		dst = point.AppendQuoted(dst, s.Quality.String())
	}
	return append(dst, '}')
}

// Points lists the points that a pattern selects and that may be read, in pages: after is the Next
// of the page before, "" for the first.
func (c *Client) Points(ctx context.Context, pattern point.Pattern, after string) (p answer.Points, err error) {
	return p, c.Node(ctx, "points", map[string]any{"pattern": pattern, "after": after}, &p)
}

// Latest returns the newest sample of each named point that has any.
func (c *Client) Latest(ctx context.Context, points ...point.Path) (l answer.Latest, err error) {
	return l, c.Node(ctx, "latest", map[string]any{"points": points}, &l)
}

// LatestMatching returns the newest sample of each point that the pattern selects and that may be
// read.
func (c *Client) LatestMatching(ctx context.Context, pattern point.Pattern) (l answer.Latest, err error) {
	return l, c.Node(ctx, "latest", map[string]any{"pattern": pattern}, &l)
}

// Span asks for samples of points with From ≤ time < To: of those that are named, or of those that
// the pattern selects and that may be read.
type Span struct {
	Points   []point.Path
	Pattern  point.Pattern
	From, To time.Time // zero: the last hour, up to now
	Limit    int       // most samples a point; 0 for all
	Newest   bool      // with Limit: the newest instead of the oldest
	Page     int       // most points of the pattern in one answer; 0 for all
	After    string    // the Next of the page before
}

func (s *Span) args() map[string]any {
	args := map[string]any{}
	if len(s.Points) > 0 {
		args["points"] = s.Points
	} else {
		args["pattern"] = s.Pattern
	}
	if !s.From.IsZero() {
		args["from"] = s.From.UTC().Format(time.RFC3339Nano)
	}
	if !s.To.IsZero() {
		args["to"] = s.To.UTC().Format(time.RFC3339Nano)
	}
	if s.Page > 0 {
		args["page"] = s.Page
	}
	if s.After != "" {
		args["after"] = s.After
	}
	return args
}

// Range returns samples of a time.
func (c *Client) Range(ctx context.Context, s Span) (r answer.Range, err error) {
	args := s.args()
	if s.Limit > 0 {
		args["limit"], args["newest"] = s.Limit, s.Newest
	}
	return r, c.Node(ctx, "range", args, &r)
}

// Aggregate summarises a time in steps, such as "15m" or "1d", with functions such as "p95" beside
// the usual figures. zone is "" or the name of a time zone.
func (c *Client) Aggregate(ctx context.Context, s Span, step, zone string, functions ...string) (a answer.Aggregate, err error) {
	args := s.args()
	args["step"], args["zone"], args["functions"] = step, zone, functions
	return a, c.Node(ctx, "aggregate", args, &a)
}

// Peers lists the agents of the node, and how they are.
func (c *Client) Peers(ctx context.Context) (p []answer.Peer, err error) {
	return p, c.Node(ctx, "peers", nil, &p)
}

// Inspect lists the methods of an agent, or of "node".
func (c *Client) Inspect(ctx context.Context, agent string) (m []wire.Method, err error) {
	return m, c.Call(ctx, agent, "inspect", &m)
}

// Health tells the node how this agent is: "good", "bad", "starting" or "unknown", why, in any form
// that JSON can write, and how soon it will say so again; 0 promises nothing. After three intervals
// without a word the node calls the agent silent.
func (c *Client) Health(status string, why any, interval time.Duration) error {
	body := map[string]any{"status": status, "interval": interval.Seconds()}
	if why != nil {
		body["context"] = why
	}
	return c.Send(wire.HealthTopic, body, nil)
}
