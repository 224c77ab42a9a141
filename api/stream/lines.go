package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"voltbus/agent/journal"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/processes"
)

const maxLines = 10_000 // lines of log in one answer

// lookFar is the interval at which another node is asked for new lines.
const lookFar = time.Second

// followFar sends the lines of an agent of another node as they are read there, at most a second later.
func (s logs) followFar(w http.ResponseWriter, r *exchange.Request, node string) error {
	_, args, err := exchange.ArgumentsOf(r, processes.Logs)
	if err != nil {
		return err
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	first, last, err := s.linesFar(r, node, args, nil)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil
	}
	again := time.NewTicker(lookFar)
	defer again.Stop()
	for lines := first; ; {
		for _, line := range lines {
			if p.Send(exchange.AppendEvent(nil, "line", line)) != nil {
				return nil // the client has disconnected, which is how streams end
			}
		}
		if p.Send([]byte(": still\n\n")) != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return s.LastEvent(p, r, r.Context().Err())
		case <-again.C:
		}
		if lines, last, err = s.linesFar(r, node, args, last); err != nil {
			return s.LastEvent(p, r, err)
		}
	}
}

// lastLines are the lines last sent: those with the newest time.
type lastLines struct {
	since string
	lines []json.RawMessage
}

// linesFar asks another node for the lines since the last ones, and returns the new ones.
func (s logs) linesFar(r *exchange.Request, node string, args operation.Arguments, last *lastLines) ([]json.RawMessage, *lastLines, error) {
	if last != nil && last.since != "" {
		text, err := json.Marshal(last.since)
		if err != nil {
			return nil, nil, fault.E("api.logs", fault.Corrupt, node, err)
		}
		args["since"], args["limit"] = text, json.RawMessage(strconv.Itoa(maxLines))
	}
	who := exchange.CallerOf(r.User)
	result, err := s.Operations.RunElsewhere(r.Context(), &who, node, processes.Logs.Name, args)
	if err != nil {
		return nil, nil, err
	}
	var list struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return nil, nil, fault.E("api.logs", fault.Corrupt, node, fmt.Errorf("its answer cannot be read: %w", err))
	}
	next := &lastLines{}
	if last != nil {
		next = &lastLines{last.since, last.lines}
	}
	var fresh []json.RawMessage
	for _, line := range list.Entries {
		var at struct {
			Time string `json:"time"`
		}
		if json.Unmarshal(line, &at) != nil || (last != nil && holds(last.lines, line)) {
			continue
		}
		if at.Time != next.since {
			next = &lastLines{since: at.Time}
		}
		next.lines = append(next.lines, line)
		fresh = append(fresh, line)
	}
	return fresh, next, nil
}

func holds(lines []json.RawMessage, line json.RawMessage) bool {
	return slices.ContainsFunc(lines, func(l json.RawMessage) bool { return bytes.Equal(l, line) })
}

// followLogs sends each line as an event, until the client disconnects or the agent is removed.
func (s logs) followLogs(w http.ResponseWriter, r *exchange.Request) error {
	if node := r.Params.Get("node"); node != "" && s.Remote != nil && !s.Remote.Self(node) {
		return s.followFar(w, r, node)
	}
	lines, _, err := exchange.ArgumentsOf(r, processes.Logs)
	if err != nil {
		return err
	}
	f, err := lines.Filter(s.Now())
	if err != nil {
		return err
	}
	if s.Logs == nil {
		return exchange.Absent("installed agents")
	}
	j, err := s.Logs(lines.Name)
	if err != nil {
		return err
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil // the client has disconnected, which is how streams end
	}
	err = j.Follow(r.Context(), f, func(e journal.Entry) error {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
		return p.Send(exchange.AppendEvent(nil, "line", line))
	})
	if err != nil || r.Context().Err() != nil {
		return s.LastEvent(p, r, err)
	}
	return nil
}
