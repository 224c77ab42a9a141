package client

import (
	"context"
	"encoding/json"
	"net/http"

	"voltbus/api/answer"
	"voltbus/fault"
)

// FollowNodeLog calls emit with the records of the node's own log and then with each new one. It returns
// nil when ctx ends, the error of emit if that fails, or the node's reason if the node ends the stream.
// lost is called with the number of records that arrived faster than they were read.
func (c *Client) FollowNodeLog(ctx context.Context, l Lines, emit func(answer.NodeLogLine) error, lost func(count uint64) error) error {
	resp, err := c.call(ctx, http.MethodGet, "log/follow", l.params(), nil)
	if err != nil {
		return endOf(ctx, err)
	}
	defer resp.Body.Close()
	return endOf(ctx, events(resp.Body, func(_ string, data json.RawMessage) error {
		var event struct {
			answer.NodeLogLine
			answer.NodeLogLost
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return fault.E("client.FollowNodeLog", fault.Corrupt, "answer", err)
		}
		if event.Number == 0 {
			return lost(event.Count)
		}
		return emit(event.NodeLogLine)
	}))
}
