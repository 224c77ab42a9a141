package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

const (
	controlBody = 4 << 20
	atControl   = prefix + "/control"
)

func controlRoutes() []route {
	const viewer, operator = identity.Viewer, identity.Operator
	list := []route{
		{
			method: "GET", path: atControl + "/points", role: viewer, serve: (*server).controlPoints,
			params: []string{"pattern", "busy", "limit", "after"},
		},
		{method: "GET", path: atControl + "/who", role: viewer, remote: "who", serve: (*server).who, params: []string{"path"}},
		{method: "GET", path: atControl + "/held", role: viewer, remote: "held", serve: (*server).held, params: []string{"requester"}},
		{method: "POST", path: atControl + "/get", role: viewer, body: controlBody, remote: "get", serve: (*server).readNow},
		{method: "POST", path: atControl + "/freeze", role: operator, body: loginBody, serve: (*server).freeze, audit: "device.freeze"},
		{method: "POST", path: atControl + "/commands", role: operator, body: controlBody, remote: commandFar, serve: (*server).command},
		{method: "POST", path: atControl + "/release", role: operator, body: loginBody, remote: "release", serve: (*server).release},
		{method: "POST", path: atControl + "/revert", role: operator, body: loginBody, remote: "revert", serve: (*server).revert},
		{method: "POST", path: atControl + "/renew", role: operator, body: loginBody, remote: "renew", serve: (*server).renew},
		{method: "GET", path: atControl + "/tasks", role: viewer, remote: "schedule", serve: (*server).tasks, params: []string{"path", "from", "to"}},
		{method: "POST", path: atControl + "/tasks", role: operator, body: controlBody, remote: "reserve", serve: (*server).reserve},
		{method: "DELETE", path: atControl + "/tasks/{task}", role: operator, remote: "cancel", serve: (*server).cancelTask},
		{method: "GET", path: atControl + "/overrides", role: viewer, remote: "overrides", serve: (*server).overrides},
		{method: "POST", path: atControl + "/overrides", role: operator, body: loginBody, remote: "override", serve: (*server).override},
		{method: "DELETE", path: atControl + "/overrides", role: operator, remote: "clear_override", serve: (*server).clearOverride, params: []string{"pattern"}},
		{method: "GET", path: atControl + "/waiting", role: viewer, serve: (*server).waiting},
		{method: "POST", path: atControl + "/waiting", role: operator, body: loginBody, serve: (*server).approve},
		{method: "GET", path: atControl + "/events", role: viewer, stream: true, serve: (*server).controlEvents, params: []string{"pattern"}},
	}
	for i := range list {
		serve := list[i].serve
		list[i].plain = list[i].remote != ""
		list[i].serve = func(s *server, w http.ResponseWriter, r *request) error {
			if s.cfg.Control == nil {
				return absent("control")
			}
			return serve(s, w, r)
		}
	}
	return list
}

// asker is who asks something of control.
func asker(r *request) *access.Who { return access.Person(ActorOf(r.user), r.user.Role) }

// reply writes an answer, or returns what went wrong.
func reply[T any](w http.ResponseWriter, out T, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, out)
}

// asked reads a body, has it answered, and writes the answer.
func asked[In, Out any](w http.ResponseWriter, r *request, do func(context.Context, *access.Who, *In) (Out, error)) error {
	var in In
	if err := readDeep(w, r, &in); err != nil {
		return err
	}
	out, err := do(r.Context(), asker(r), &in)
	return reply(w, out, err)
}

func (s *server) controlPoints(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	pattern, _ := in.text("pattern")
	after, _ := in.text("after")
	f := access.Filter{
		Pattern: point.Pattern(pattern), Busy: in.truth("busy"), After: point.Path(after), Limit: in.number("limit", 1000, 1, maxPagePoints),
	}
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.Points(r.Context(), f)
	return reply(w, out, err)
}

func (s *server) who(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	path, _ := in.text("path")
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.Who(r.Context(), asker(r), point.Path(path))
	return reply(w, out, err)
}

func (s *server) held(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	requester, _ := in.text("requester")
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.Held(r.Context(), asker(r), requester)
	return reply(w, out, err)
}

func (s *server) readNow(w http.ResponseWriter, r *request) error {
	var in struct {
		Points []string `json:"points"`
	}
	if err := readDeep(w, r, &in); err != nil {
		return err
	}
	out, err := s.cfg.Control.Get(r.Context(), asker(r), in.Points)
	return reply(w, out, err)
}

func (s *server) freeze(w http.ResponseWriter, r *request) error {
	var in answer.Freeze
	if err := readDeep(w, r, &in); err != nil {
		return err
	}
	r.did(in.Device, map[string]any{"clear": in.Clear})
	out, err := s.cfg.Control.Freeze(r.Context(), asker(r), &in)
	return reply(w, out, err)
}

// commandKey returns the idempotency key of commands, which names those that have no identifier.
func commandKey(r *request) (string, error) {
	key := r.Header.Get(headerKey)
	if _, given := r.Header[headerKey]; given && !validKey(key) {
		return "", fault.E("api.command", fault.Invalid, headerKey, errKey)
	}
	return key, nil
}

// keyOf is the identifier that a key gives the command i of n.
func keyOf(key string, i, n int) string {
	if n > 1 {
		key += "/" + strconv.Itoa(i)
	}
	return key
}

// commandFar is the method by which another node is asked to decide commands.
const commandFar = "set_many"

// command has commands decided.
func (s *server) command(w http.ResponseWriter, r *request) error {
	key, err := commandKey(r)
	if err != nil {
		return err
	}
	return asked(w, r, func(ctx context.Context, who *access.Who, in *answer.NewCommands) (answer.CommandResults, error) {
		for i := range in.Commands {
			if c := &in.Commands[i]; c.ID == "" && key != "" {
				c.ID = keyOf(key, i, len(in.Commands))
			}
		}
		return s.cfg.Control.Command(ctx, who, in)
	})
}

func (s *server) release(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Release)
}

func (s *server) revert(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Revert)
}

func (s *server) renew(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Renew)
}

func (s *server) tasks(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	path, _ := in.text("path")
	var from, to time.Time
	for name, into := range map[string]*time.Time{"from": &from, "to": &to} {
		if text, ok := in.text(name); ok && text != "" {
			*into = in.time(name)
		}
	}
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.Tasks(r.Context(), asker(r), point.Path(path), from, to)
	return reply(w, out, err)
}

func (s *server) reserve(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Reserve)
}

func (s *server) cancelTask(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	name := in.segment("task")
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.Cancel(r.Context(), asker(r), name)
	return reply(w, out, err)
}

func (s *server) overrides(w http.ResponseWriter, r *request) error {
	out, err := s.cfg.Control.Overrides(r.Context(), asker(r))
	return reply(w, out, err)
}

func (s *server) override(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Override)
}

func (s *server) clearOverride(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	pattern, _ := in.text("pattern")
	if in.err != nil {
		return in.err
	}
	out, err := s.cfg.Control.ClearOverride(r.Context(), asker(r), point.Pattern(pattern))
	return reply(w, out, err)
}

func (s *server) waiting(w http.ResponseWriter, r *request) error {
	out, err := s.cfg.Control.Waiting(r.Context())
	return reply(w, out, err)
}

func (s *server) approve(w http.ResponseWriter, r *request) error {
	return asked(w, r, s.cfg.Control.Approve)
}

var errStopping = errors.New("the node is stopping; connect again when it runs")

// controlEvents sends what happens in control as server-sent events, until the reader goes, falls
// behind, or its login ends.
func (s *server) controlEvents(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	pattern, _ := in.text("pattern")
	if in.err != nil {
		return in.err
	}
	release, err := s.reader(r)
	if err != nil {
		return err
	}
	defer release()
	watcher := s.cfg.Control.Watch()
	defer watcher.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	if p.send([]byte(": connected\n\n")) != nil {
		return nil // the reader has gone
	}
	for {
		part, err := s.nextEvents(r, watcher, point.Pattern(pattern))
		switch {
		case r.Context().Err() != nil || err != nil:
			return s.lastEvent(p, r, err)
		case len(part) > 0 && p.send(part) != nil:
			return nil // the reader has gone
		}
	}
}

// nextEvents waits for what happens next, or for the time to say that the stream lives.
func (s *server) nextEvents(r *request, watcher *access.Watcher, pattern point.Pattern) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.KeepAlive)
	defer cancel()
	events, open := watcher.Next(ctx)
	switch {
	case ctx.Err() != nil && events == nil:
		return []byte(": alive\n\n"), nil
	case !open:
		return nil, fault.E("api.controlEvents", fault.Unavailable, "events", errStopping)
	case watcher.Dropped() > 0:
		s.cut.Add(1)
		return nil, fault.E("api.controlEvents", fault.Unavailable, "events", errSlow)
	}
	list, err := controlOf(events, pattern.Match)
	var part []byte
	for _, e := range list {
		part = appendEvent(part, "control", e)
	}
	return part, err
}

// controlOf writes as JSON what happened in control to the points that are selected, and reservations and
// overrides always: they may be of a branch or pattern around the points.
func controlOf(events []answer.ControlEvent, selects func(point.Path) bool) (list []json.RawMessage, err error) {
	for i := range events {
		e := &events[i]
		if ofPoint := e.Level > 0 || e.Write > 0; ofPoint && !selects(point.Path(e.Path)) {
			continue
		}
		b, err := json.Marshal(e)
		if err != nil {
			return nil, fault.E("api.controlEvents", fault.Internal, "", err)
		}
		list = append(list, b)
	}
	return list, nil
}
