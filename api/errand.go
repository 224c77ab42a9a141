package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/api/exchange"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/processes"
)

// elsewhere returns the other node that a request names, "" for none.
func (s *server) elsewhere(rt exchange.Route, params url.Values) string {
	node := params.Get("node")
	if rt.Remote == "" || node == "" || (s.cfg.Far != nil && s.cfg.Far.Self(node)) {
		return ""
	}
	return node
}

// names lists what stands in braces in a path.
func names(path string) (list []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			list = append(list, strings.TrimSuffix(name, "}"))
		}
	}
	return list
}

// Operation is something that may be asked of a node over HTTP, and of another one by a method of its own.
type Operation struct {
	Remote       string // the method
	Method, Path string // of HTTP; what stands in braces is an argument of the method
	Role         identity.Role
}

// Operations lists all that may be asked of another node with node=.
func Operations() (list []Operation) {
	for _, rt := range (&server{}).routes() {
		if rt.Remote != "" {
			list = append(list, Operation{Remote: rt.Remote, Method: rt.Method, Path: rt.Path, Role: rt.Role})
		}
	}
	return list
}

// lookFar is how often another node is asked for new lines.
const lookFar = time.Second

// followFar sends the lines of an agent of another node as they are read there, a second later at most.
func (s *server) followFar(w http.ResponseWriter, r *exchange.Request, node string) error {
	_, args, err := argumentsOf(s, r, processes.Logs)
	if err != nil {
		return err
	}
	release, err := s.reader(r)
	if err != nil {
		return err
	}
	defer release()
	first, last, err := s.linesFar(r, node, args, nil)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := exchange.NewPatient(w, s.cfg.WriteTimeout)
	defer p.Limit() // for what the server writes at the end
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil
	}
	again := time.NewTicker(lookFar)
	defer again.Stop()
	for lines := first; ; {
		for _, line := range lines {
			if p.Send(exchange.AppendEvent(nil, "line", line)) != nil {
				return nil // the reader has gone, which is how streams end
			}
		}
		if p.Send([]byte(": still\n\n")) != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return s.lastEvent(p, r, r.Context().Err())
		case <-again.C:
		}
		if lines, last, err = s.linesFar(r, node, args, last); err != nil {
			return s.lastEvent(p, r, err)
		}
	}
}

// lastLines are the newest lines that were sent: those of the newest time.
type lastLines struct {
	since string
	lines []json.RawMessage
}

// linesFar asks another node for the lines since the last ones, and returns those that are new.
func (s *server) linesFar(r *exchange.Request, node string, args operation.Arguments, last *lastLines) ([]json.RawMessage, *lastLines, error) {
	if last != nil && last.since != "" {
		text, err := json.Marshal(last.since)
		if err != nil {
			return nil, nil, fault.E("api.logs", fault.Corrupt, node, err)
		}
		args["since"], args["limit"] = text, json.RawMessage(strconv.Itoa(maxLines))
	}
	who := callerOfUser(r.User)
	result, err := s.cfg.Operations.RunElsewhere(r.Context(), &who, node, processes.Logs.Name, args)
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
