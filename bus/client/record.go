package client

import (
	"context"
	"time"

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
	data, err := c.calls.request(ctx, wire.NodeName, "record", body)
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

// Health reports the health of this agent to the node: "good", "bad", "starting" or "unknown", why, in any form
// that JSON can write, and how soon it will say so again; 0 promises nothing. After three intervals
// without a word the node calls the agent silent.
func (c *Client) Health(status string, why any, interval time.Duration) error {
	body := map[string]any{"status": status, "interval": interval.Seconds()}
	if why != nil {
		body["context"] = why
	}
	return c.Send(wire.HealthTopic, body, nil)
}
