package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"voltbus/api/answer"
	"voltbus/fault"
)

func agentPath(name, rest string) string { return "agents/" + url.PathEscape(name) + "/" + rest }

// Operate starts, stops, restarts, enables, disables or rolls back an agent, as the action says.
func (c *Client) Operate(ctx context.Context, name, action string) (p answer.Process, err error) {
	resp, err := c.call(ctx, http.MethodPost, agentPath(name, action), nil, nil)
	if err != nil {
		return p, err
	}
	return p, errors.Join(decode(resp.Body, &p), resp.Body.Close())
}

// Installation tells how an agent is installed.
type Installation struct {
	Entry    string // which agent of the package, if there are several
	Grant    string // all, none or refuse
	Memory   int64  // bytes; 0 keeps the current one
	Priority int    // -1 keeps the current one
}

// Install uploads an agent: a compressed tar file with source/<one file> and wheels/.
func (c *Client) Install(ctx context.Context, name string, how Installation, upload io.Reader) (p answer.Process, err error) {
	params := url.Values{}
	set(params, "entry", how.Entry)
	set(params, "grant", how.Grant)
	setNumber(params, "memory", int(how.Memory))
	if how.Priority >= 0 {
		params.Set("priority", strconv.Itoa(how.Priority))
	}
	target := c.base.JoinPath("api/v1", agentPath(name, "process"))
	target.RawQuery = params.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, target.String(), upload)
	if err != nil {
		return p, fault.E("client.Install", fault.Invalid, name, err)
	}
	req.Header.Set("Content-Type", "application/gzip")
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return p, c.unreachable(err)
	}
	if err := check(resp); err != nil {
		return p, errors.Join(err, resp.Body.Close())
	}
	return p, errors.Join(decode(resp.Body, &p), resp.Body.Close())
}

// Lines selects lines of an agent's log.
type Lines struct {
	Level, Search, Since string
	Limit                int // 0 for 200
}

func (l Lines) params() url.Values {
	params := url.Values{}
	set(params, "level", l.Level)
	set(params, "search", l.Search)
	set(params, "since", l.Since)
	setNumber(params, "limit", l.Limit)
	return params
}

// FollowLogs calls emit with the lines that an agent printed and then with each new one, until ctx ends.
func (c *Client) FollowLogs(ctx context.Context, name string, l Lines, emit func(answer.ProcessLine) error) error {
	resp, err := c.call(ctx, http.MethodGet, agentPath(name, "logs/follow"), l.params(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines, event := bufio.NewScanner(resp.Body), ""
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, data, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "event":
			event = string(data)
		case "data":
			if err := lineEvent(event, data, emit); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil || lines.Err() == nil {
		return ctx.Err()
	}
	return c.unreachable(lines.Err())
}

func lineEvent(event string, data []byte, emit func(answer.ProcessLine) error) error {
	if event == "error" {
		var p answer.Problem
		if err := json.Unmarshal(data, &p); err != nil {
			return fault.E("client.FollowLogs", fault.Corrupt, "answer", err)
		}
		return FaultOf(p)
	}
	var line answer.ProcessLine
	if err := json.Unmarshal(data, &line); err != nil {
		return fault.E("client.FollowLogs", fault.Corrupt, "answer", err)
	}
	return emit(line)
}
