package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/internal/logbook"
	"voltbus/operation"
	"voltbus/operation/nodelog"
)

// Logbook keeps the newest records of the node's own log, as logbook.Handler does.
type Logbook interface {
	Search(f *logbook.Filter) (logbook.Found, <-chan struct{})
}

var errNoLog = errors.New("the node does not run; it keeps the newest records only while it does. Look where its service writes them, such as with journalctl -u voltbus")

// logSource returns the records after a number; if there are none, it waits a while for some.
type logSource func(after uint64) (*answer.NodeLog, error)

// followLog sends each record as an event, until the client disconnects or its login ends.
func (s logs) followLog(w http.ResponseWriter, r *exchange.Request) error {
	lines, args, err := exchange.ArgumentsOf(r, nodelog.Read)
	if err != nil {
		return err
	}
	f, err := lines.Filter(s.Now())
	if err != nil {
		return err
	}
	source := s.logHere(r, f)
	if node := r.Params.Get("node"); node != "" && (s.Remote == nil || !s.Remote.Self(node)) {
		if s.Remote == nil {
			return exchange.Absent(noNodes)
		}
		source = s.logFar(r, node, args)
	} else if s.Logbook == nil {
		return fault.E("api.log", fault.Unavailable, "log", errNoLog)
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	first, err := source(f.After)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil // the client has disconnected, which is how streams end
	}
	return s.sendLog(p, r, first, source)
}

// sendLog sends the records of the source, from its first answer on.
func (s logs) sendLog(p *exchange.Patient, r *exchange.Request, list *answer.NodeLog, source logSource) error {
	for {
		part, err := logEvents([]byte(": still\n\n"), list)
		if err != nil {
			return s.LastEvent(p, r, err)
		}
		if p.Send(part) != nil {
			return nil //nolint:nilerr // the reader has gone, which is how streams end
		}
		list, err = source(list.Last)
		switch {
		case r.Context().Err() != nil || err != nil:
			return s.LastEvent(p, r, err)
		}
	}
}

// logEvents appends the events of an answer.
func logEvents(part []byte, list *answer.NodeLog) ([]byte, error) {
	if list.Lost > 0 {
		b, err := json.Marshal(answer.NodeLogLost{Count: list.Lost})
		if err != nil {
			return nil, fmt.Errorf("write what was lost: %w", err)
		}
		part = exchange.AppendEvent(part, "lost", b)
	}
	for i := range list.Entries {
		b, err := json.Marshal(&list.Entries[i])
		if err != nil {
			return nil, fmt.Errorf("write a line: %w", err)
		}
		part = exchange.AppendEvent(part, "line", b)
	}
	return part, nil
}

// logHere reads this node's log: first the existing records, then new ones.
func (s logs) logHere(r *exchange.Request, f *logbook.Filter) logSource {
	began := false
	return func(after uint64) (*answer.NodeLog, error) {
		f.After = after
		found, news := s.Logbook.Search(f)
		if began && len(found.Records) == 0 && found.Lost == 0 {
			s.awaitNews(r.Context(), news)
			found, _ = s.Logbook.Search(f)
		}
		began, f.Limit = true, max(f.Limit, maxTurn)
		list := nodelog.Shown(&found)
		return &list, nil
	}
}

// maxTurn is how many records of a followed log are sent at once.
const maxTurn = 1000

// awaitNews waits a while for new records and returns all that have come.
func (s logs) awaitNews(ctx context.Context, news <-chan struct{}) {
	timer := time.NewTimer(s.KeepAlive)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-news:
		pause(ctx, s.Gather)
	}
}

// logFar reads the log of another node: first the existing records, then each second the new ones.
func (s logs) logFar(r *exchange.Request, node string, args operation.Arguments) logSource {
	began, who := false, exchange.CallerOf(r.User)
	return func(after uint64) (*answer.NodeLog, error) {
		if began {
			if !pause(r.Context(), lookFar) {
				return nil, r.Context().Err()
			}
			args["after"], args["limit"] = json.RawMessage(strconv.FormatUint(after, 10)), json.RawMessage(strconv.Itoa(maxTurn))
		}
		began = true
		result, err := s.Operations.RunElsewhere(r.Context(), &who, node, nodelog.Read.Name, args)
		if err != nil {
			return nil, err
		}
		var list answer.NodeLog
		if err := json.Unmarshal(result, &list); err != nil {
			return nil, fault.E("api.log", fault.Corrupt, node, fmt.Errorf("its answer cannot be read: %w", err))
		}
		return &list, nil
	}
}

// pause waits; it returns false if the context ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
