package service

import (
	"context"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/point"
	"voltbus/query"
)

// The arguments of the methods about control.
type (
	get struct {
		Points []string `json:"points"`
	}
	set struct {
		answer.NewCommand
		Wait *float64 `json:"wait"`
	}
	release struct {
		Requester string `json:"requester"`
		Point     string `json:"point"`
		ID        string `json:"id"`
		Level     int    `json:"level"`
		Task      string `json:"task"`
		All       bool   `json:"all"`
	}
	renew struct {
		Point string  `json:"point"`
		ID    string  `json:"id"`
		Level int     `json:"level"`
		Task  string  `json:"task"`
		Lease float64 `json:"lease"`
	}
	cancel struct {
		Task string `json:"task"`
	}
	who struct {
		Path string `json:"path"`
	}
	held struct {
		Requester string `json:"requester"`
	}
	clearOverride struct {
		Pattern string `json:"pattern"`
	}
	schedule struct {
		Path string `json:"path"`
		From raw    `json:"from"`
		To   raw    `json:"to"`
	}
)

func controlMethods() map[string]method {
	return map[string]method{
		"get": {"Read points from their devices now, each answered by itself.", get{}, "{readings}", controlled((*Service).get)},
		"set": {
			"Set a point, and wait for what its device says; a repeat of the id gets the first answer.",
			set{},
			"{id, point, status, wins, until, output, reported, error}", controlled((*Service).set),
		},
		"set_many": {
			"Set many points, each answered by itself.",
			answer.NewCommands{},
			"{results}", controlled((*Service).setMany),
		},
		"release":  {"End own commands: of a point, a task, an id, or all with the reservations; those of another requester need administer.", release{}, "{status}", controlled((*Service).release)},
		"revert":   {"End every command of a point, a device or a branch, whoever made it, over a time; needs administer.", answer.Revert{}, "{status, points, until}", controlled((*Service).revert)},
		"renew":    {"Give own leases a new length from now on.", renew{}, "{status, until}", controlled((*Service).renew)},
		"reserve":  {"Reserve points, devices or branches for times, all or none.", answer.NewTask{}, "{status, until, lost}", controlled((*Service).reserve)},
		"cancel":   {"End an own reservation, and the commands made under it.", cancel{}, "{status}", controlled((*Service).cancelTask)},
		"who":      {"Who holds a point, a device or a branch, until when and why.", who{}, "{points, tasks, overrides, next}", controlled((*Service).who)},
		"schedule": {"The reservations that touch a path and a time.", schedule{}, "{tasks}", controlled((*Service).schedule)},
	}
}

// visitorMethods lists what people of other nodes ask as they do over HTTP, and agents do not.
func visitorMethods() map[string]method {
	return map[string]method{
		"held":           {"The commands of a requester, of all without one.", held{}, "{commands}", controlled((*Service).held)},
		"overrides":      {"The points that are out of control.", none{}, "{overrides}", controlled((*Service).overrides)},
		"override":       {"Take points out of control.", answer.NewOverride{}, "{status, until}", controlled((*Service).override)},
		"clear_override": {"End an override, by exactly its pattern.", clearOverride{}, "{status}", controlled((*Service).clearOverride)},
	}
}

func (s *Service) held(ctx context.Context, r *request) (any, error) {
	var in held
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Held(ctx, r.asker(), in.Requester)
}

func (s *Service) overrides(ctx context.Context, r *request) (any, error) {
	if err := r.decode(&none{}); err != nil {
		return nil, err
	}
	return s.cfg.Control.Overrides(ctx, r.asker())
}

func (s *Service) override(ctx context.Context, r *request) (any, error) {
	var in answer.NewOverride
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Override(ctx, r.asker(), &in)
}

func (s *Service) clearOverride(ctx context.Context, r *request) (any, error) {
	var in clearOverride
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.ClearOverride(ctx, r.asker(), point.Pattern(in.Pattern))
}

// controlled answers that there is no control where there is none.
func controlled(do func(*Service, context.Context, *request) (any, error)) func(*Service, context.Context, *request) ([]byte, error) {
	return func(s *Service, ctx context.Context, r *request) ([]byte, error) {
		if s.cfg.Control == nil {
			return nil, absent("control")
		}
		out, err := do(s, ctx, r)
		if err != nil {
			return nil, err
		}
		return encode(out)
	}
}

func (s *Service) get(ctx context.Context, r *request) (any, error) {
	var in get
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	r.waits()
	return s.cfg.Control.Get(ctx, r.asker(), in.Points)
}

// set answers as setMany does one of its commands: what was refused, or failed at the device, is in the
// result.
func (s *Service) set(ctx context.Context, r *request) (any, error) {
	var in set
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	r.waits()
	out, err := s.cfg.Control.Command(ctx, r.asker(), &answer.NewCommands{Commands: []answer.NewCommand{in.NewCommand}, Wait: in.Wait})
	if err != nil {
		return nil, err
	}
	return out.Results[0], nil
}

func (s *Service) setMany(ctx context.Context, r *request) (any, error) {
	var in answer.NewCommands
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	r.waits()
	out, err := s.cfg.Control.Command(ctx, r.asker(), &in)
	return &out, err
}

func (s *Service) release(ctx context.Context, r *request) (any, error) {
	var in release
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Release(ctx, r.asker(), &answer.CommandSelection{
		Requester: in.Requester, Point: in.Point, ID: in.ID, Level: in.Level, Task: in.Task, All: in.All,
	})
}

func (s *Service) revert(ctx context.Context, r *request) (any, error) {
	var in answer.Revert
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Revert(ctx, r.asker(), &in)
}

func (s *Service) renew(ctx context.Context, r *request) (any, error) {
	var in renew
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Renew(ctx, r.asker(), &answer.CommandSelection{
		Point: in.Point, ID: in.ID, Level: in.Level, Task: in.Task, Lease: in.Lease,
	})
}

func (s *Service) reserve(ctx context.Context, r *request) (any, error) {
	var in answer.NewTask
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Reserve(ctx, r.asker(), &in)
}

func (s *Service) cancelTask(ctx context.Context, r *request) (any, error) {
	var in cancel
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Cancel(ctx, r.asker(), in.Task)
}

func (s *Service) who(ctx context.Context, r *request) (any, error) {
	var in who
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return s.cfg.Control.Who(ctx, r.asker(), point.Path(in.Path))
}

func (s *Service) schedule(ctx context.Context, r *request) (any, error) {
	var in schedule
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	from, err := parseTime(in.From, "now", s.cfg.Now())
	if err != nil {
		return nil, err
	}
	to := time.Time{}
	if len(in.To) > 0 {
		if to, err = parseTime(in.To, "now", s.cfg.Now()); err != nil {
			return nil, err
		}
	}
	return s.cfg.Control.Tasks(ctx, r.asker(), point.Path(in.Path), from, to)
}

// parseTime reads a time as a text or as milliseconds.
func parseTime(text raw, otherwise string, now time.Time) (time.Time, error) {
	s := string(text)
	switch {
	case s == "" || s == "null" || s == `""`:
		s = otherwise
	case s[0] == '"':
		s = strings.Trim(s, `"`)
	}
	return query.ParseTime(s, now)
}
