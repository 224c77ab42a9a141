// Package nodelog declares and carries out the operation that reads the newest records of a node's log.
package nodelog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/logbook"
	"voltbus/operation"
	"voltbus/query"
)

// Log keeps the newest records, as logbook.Handler does.
type Log interface {
	Search(f *logbook.Filter) (logbook.Found, <-chan struct{})
}

// Lines selects records.
type Lines struct {
	Level  string         `json:"level" api:"default=debug" doc:"The least important level: debug, info, warning or error"`
	Search string         `json:"search" api:"max=1024" doc:"Text in the message or the extra fields, without regard to case"`
	Since  operation.Time `json:"since" doc:"First time, such as now-1h"`
	After  int            `json:"after" api:"max=9007199254740992" doc:"Records with a higher number: those that follow it, while without it the newest come"`
	Limit  int            `json:"limit" api:"min=1,max=10000,default=200" doc:"So many at most"`
}

// Read is the operation that reads the log. Each reader is audited once a minute.
var Read = operation.Declare[Lines, answer.NodeLog](operation.Spec{
	Name: "log", ID: "getNodeLog", HTTP: "GET /log", Role: identity.Engineer, Remote: true, Watched: "log.read",
	Summary: "Read the newest records of the node's own log, or that of another node", Result: "Oldest first",
	Doc: "A node keeps its newest records in memory, up to 1 MiB, from the level info on or that of its own log; attributes that have the name of a secret are hidden. The audit log is told who reads, each a minute once. To go on, ask with \"after\" and the \"last\" of the answer before: \"lost\" says how many are not kept any more.",
})

// Part carries out the operation on the log.
type Part struct {
	Log Log // nil for a node that is not running
	Now func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(Read, nil, p.read)}
}

var errLevel = errors.New("must be debug, info, warning or error")

var errNoLog = errors.New("the node does not run; it keeps the newest records only while it does. Look where its service writes them, such as with journalctl -u voltbus")

func (p *Part) read(_ context.Context, _ *operation.Call, in *Lines) (answer.NodeLog, error) {
	f, err := in.Filter(p.Now())
	if err != nil {
		return answer.NodeLog{}, err
	}
	if p.Log == nil {
		return answer.NodeLog{}, fault.E("log", fault.Unavailable, "log", errNoLog)
	}
	found, _ := p.Log.Search(f)
	return Shown(&found), nil
}

// Filter returns the requested filter of records.
func (l *Lines) Filter(now time.Time) (*logbook.Filter, error) {
	level, known := levels[l.Level]
	if !known {
		return nil, fault.E("log", fault.Invalid, "level", errLevel)
	}
	f := &logbook.Filter{Level: level, Text: l.Search, After: uint64(l.After), Limit: l.Limit} //nolint:gosec // it is not negative
	if l.Since == "" {
		return f, nil
	}
	var err error
	if f.Since, err = query.ParseTime(string(l.Since), now); err != nil {
		return nil, fault.E("log", fault.Invalid, "since", err)
	}
	return f, nil
}

var levels = map[string]slog.Level{ //nolint:gochecknoglobals // never changed
	"": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warning": slog.LevelWarn, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// Shown returns records as callers see them.
func Shown(found *logbook.Found) answer.NodeLog {
	out := answer.NodeLog{Entries: make([]answer.NodeLogLine, len(found.Records)), Last: found.Last, Lost: found.Lost}
	for i := range found.Records {
		rec := &found.Records[i]
		out.Entries[i] = answer.NodeLogLine{Number: rec.Number, Time: rec.Time, Level: levelName(rec.Level), Message: rec.Message, Extra: rec.Attrs}
	}
	return out
}

func levelName(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warning"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}
