package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/processes"
	"voltbus/wire"
)

// Operations with a remote method are done at another node when node= names one: their parameters and
// body travel through the tree as arguments by name, and the other node answers as it would answer HTTP.
// This node judges by the role of who asks, the other one by what it allows to its neighbours: the
// capability is "call node:<method>".

// elsewhere returns the other node that a request names, "" for none.
func (s *server) elsewhere(rt route, params url.Values) string {
	node := params.Get("node")
	if rt.remote == "" || node == "" || (s.cfg.Far != nil && s.cfg.Far.Self(node)) {
		return ""
	}
	return node
}

// changes reports whether the operation changes something, which viewers never do.
func (rt *route) changes() bool {
	return rt.method != http.MethodGet && rt.role != identity.Viewer && !strings.HasSuffix(rt.remote, ".check")
}

// action is under which name the audit log is told when it is asked of another node; "" for not at all.
func (rt *route) action() string {
	switch {
	case !rt.changes():
		return ""
	case rt.plain:
		return "node.call"
	}
	return cmp.Or(rt.audit, rt.remote)
}

const (
	bodyArgument = "body"
	commandWait  = time.Minute // that commands may wait for what devices say
)

// errand lets another node do what is asked.
func (s *server) errand(w http.ResponseWriter, r *request, rt *route, node string) error {
	r.did(clip(node), nil)
	if s.cfg.Far == nil {
		return absent(noNodes)
	}
	args, err := s.arguments(w, r, rt)
	if err != nil {
		return err
	}
	r.did(subjectOf(node, args), map[string]string{"node": node})
	if rt.plain {
		r.did(clip(node+"/"+wire.NodeName+":"+rt.remote), auditedCall(nil, args))
	}
	limit := callTime
	if rt.remote == commandFar {
		limit += commandWait
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	result, err := s.ask(ctx, r, node, rt.remote, args)
	if err != nil {
		return err
	}
	if string(result) == "null" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return writeJSON(w, result)
}

func (s *server) ask(ctx context.Context, r *request, node, method string, args map[string]json.RawMessage) (json.RawMessage, error) {
	return s.cfg.Far.Ask(ctx, callerOf(r.user), FarCall{node, wire.NodeName, method, wire.Arguments{Kwargs: args}})
}

// subjectOf says what a request at another node is about, for the audit log.
func subjectOf(node string, args map[string]json.RawMessage) string {
	parts := []string{node}
	for _, name := range []string{"owner", "name"} {
		var text string
		if json.Unmarshal(args[name], &text) == nil && text != "" {
			parts = append(parts, text)
		}
	}
	return clip(strings.Join(parts, ": "))
}

// arguments collects what a request says: in its path, its query and its body.
func (s *server) arguments(w http.ResponseWriter, r *request, rt *route) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	put := func(name, value string) {
		text, err := json.Marshal(value)
		if err == nil { // texts always can be written
			args[name] = text
		}
	}
	if rt.declared != nil && rt.plain {
		return s.operands(r, rt)
	}
	in := s.read(r)
	for _, name := range names(rt.path) {
		put(name, in.segment(name))
	}
	for _, name := range rt.params {
		if value, given := in.text(name); given && name != "node" {
			put(name, value)
		}
	}
	if in.err != nil {
		return nil, in.err
	}
	if rt.body > 0 {
		var body json.RawMessage
		if err := readJSON(w, r, &body); err != nil {
			return nil, err
		}
		args[bodyArgument] = body
	}
	if rt.plain {
		return s.plainly(r, rt, args)
	}
	return args, nil
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
	for _, rt := range routes() {
		if rt.remote != "" {
			list = append(list, Operation{Remote: rt.remote, Method: rt.method, Path: rt.path, Role: rt.role})
		}
	}
	return list
}

// lookFar is how often another node is asked for new lines.
const lookFar = time.Second

// followFar sends the lines of an agent of another node as they are read there, a second later at most.
func (s *server) followFar(w http.ResponseWriter, r *request, node string) error {
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
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	if p.send([]byte(": connected\n\n")) != nil {
		return nil
	}
	again := time.NewTicker(lookFar)
	defer again.Stop()
	for lines := first; ; {
		for _, line := range lines {
			if p.send(appendEvent(nil, "line", line)) != nil {
				return nil // the reader has gone, which is how streams end
			}
		}
		if p.send([]byte(": still\n\n")) != nil {
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
func (s *server) linesFar(r *request, node string, args operation.Arguments, last *lastLines) ([]json.RawMessage, *lastLines, error) {
	if last != nil && last.since != "" {
		text, err := json.Marshal(last.since)
		if err != nil {
			return nil, nil, fault.E("api.logs", fault.Corrupt, node, err)
		}
		args["since"], args["limit"] = text, json.RawMessage(strconv.Itoa(maxLines))
	}
	who := callerOfUser(r.user)
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
