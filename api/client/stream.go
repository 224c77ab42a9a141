package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"voltbus/api/answer"
	"voltbus/fault"
)

// maxLine is the longest line of a stream or of a row.
const maxLine = 64 << 20

var errEnded = errors.New("the stream ended; the node may be restarting, try again")

// Live selects live messages.
type Live struct {
	Pattern string
	Node    string // another node whose messages are wanted; "" for the node itself
	// Dropped is called with the number of messages that arrived from another node faster than they were read; may be nil.
	Dropped func(messages int)
	// Control is called with each event of control that concerns points of the pattern; nil for none. An error ends the stream.
	Control func(event json.RawMessage) error
}

// Stream calls emit with each live message that matches the pattern, as Follow does.
func (c *Client) Stream(ctx context.Context, pattern string, emit func(json.RawMessage) error) error {
	return c.Follow(ctx, Live{Pattern: pattern}, emit)
}

// Follow calls emit with each live message. It returns nil when ctx ends, the error of emit if that
// fails, or the node's reason if the node ends the stream. The message is valid until emit returns.
func (c *Client) Follow(ctx context.Context, want Live, emit func(json.RawMessage) error) error {
	params := url.Values{}
	set(params, "pattern", want.Pattern)
	set(params, "node", want.Node)
	if want.Control != nil {
		params.Set("control", "true")
	}
	resp, err := c.call(ctx, http.MethodGet, "stream", params, nil)
	if err != nil {
		return endOf(ctx, err)
	}
	defer resp.Body.Close()
	return endOf(ctx, events(resp.Body, func(event string, data json.RawMessage) error {
		switch {
		case event == "control" && want.Control != nil:
			return want.Control(data)
		case event != "dropped":
			return emit(data)
		}
		var lost struct{ Messages int }
		if err := json.Unmarshal(data, &lost); err == nil && want.Dropped != nil {
			want.Dropped(lost.Messages)
		}
		return nil
	}))
}

// endOf returns nil for an error that the cancellation of ctx caused.
func endOf(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

// events reads server-sent events. The node writes each event's data on one line.
func events(body io.Reader, emit func(event string, data json.RawMessage) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	var event string
	for lines.Scan() {
		line := lines.Bytes()
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			event = string(name)
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		if event == "error" {
			return lastWords(data)
		}
		if err := emit(event, data); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fault.E("client.Stream", fault.Unreachable, "stream", fmt.Errorf("the connection was lost: %w", err))
	}
	return fault.E("client.Stream", fault.Unreachable, "stream", errEnded)
}

func lastWords(data []byte) error {
	var p answer.Problem
	if err := json.Unmarshal(data, &p); err != nil {
		return fault.E("client.Stream", fault.Corrupt, "stream", err)
	}
	return FaultOf(p)
}

// lastRow marks the end of a statement's rows.
type lastRow struct {
	Columns   []string        `json:"columns"`
	Rows      *int            `json:"rows"`
	Truncated bool            `json:"truncated"`
	Error     *answer.Problem `json:"error"`
}

var errCut = errors.New("the answer ends before its last line; ask again")

// SQL runs a read-only statement , calls columns once, and then row with the values of each row. It
// reports whether the limit truncated the answer. limit 0 is the node's choice.
func (c *Client) SQL(ctx context.Context, statement string, limit int, columns func([]string) error, row func([]json.RawMessage) error) (truncated bool, err error) {
	body := map[string]any{"statement": statement}
	if limit != 0 {
		body["limit"] = limit
	}
	resp, err := c.call(ctx, http.MethodPost, "sql", nil, body)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte("[")) {
			var values []json.RawMessage
			if err := decode(bytes.NewReader(line), &values); err != nil {
				return false, err
			}
			if err := row(values); err != nil {
				return false, err
			}
			continue
		}
		var l lastRow
		if err := decode(bytes.NewReader(line), &l); err != nil {
			return false, err
		}
		switch {
		case l.Error != nil:
			return false, FaultOf(*l.Error)
		case l.Rows != nil:
			return l.Truncated, nil
		}
		if err := columns(l.Columns); err != nil {
			return false, err
		}
	}
	return false, fault.E("client.SQL", fault.Unreachable, "SQL", errors.Join(errCut, lines.Err()))
}
