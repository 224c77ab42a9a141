package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/internal/host"
	"voltbus/virtual/whole"
)

const (
	patience = 10 * time.Minute // of the world, that histories may take to be equal
	look     = 10 * time.Second // between comparisons
)

// report compares what parents have with what their children have, for the time from the start until a moment. It waits until
// nothing is missing, but not for long.
func (e *estate) report(ctx context.Context, until time.Duration) (*whole.Report, error) {
	r := &whole.Report{}
	for waited := time.Duration(0); ; waited += look {
		e.goTo(until + waited)
		r.Nodes, r.Settled = nil, until+waited
		missing := uint64(0)
		for _, m := range e.members {
			n, err := e.compare(ctx, m, until)
			if err != nil {
				return nil, fmt.Errorf("node %s: %w", m.Name, err)
			}
			r.Nodes = append(r.Nodes, *n)
			missing += n.Missing
		}
		if missing == 0 || waited >= patience {
			break
		}
	}
	for _, m := range e.members {
		events, err := e.events(ctx, m, until)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", m.Name, err)
		}
		r.Events = append(r.Events, events...)
	}
	slices.SortStableFunc(r.Events, func(a, b whole.Event) int { return int(a.At - b.At) })
	r.Resident = uint64(host.Memory()) //nolint:gosec // it is positive
	return r, nil
}

// compare counts the readings of a node, and those of them that its parent has.
func (e *estate) compare(ctx context.Context, m *member, until time.Duration) (*whole.NodeReport, error) {
	n := &whole.NodeReport{Name: m.Name, Parent: m.Parent}
	own, err := e.lines(ctx, m, m, until)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, line := range own {
		_, _ = io.WriteString(sum, line) // it never fails
	}
	n.Samples, n.Content = uint64(len(own)), hex.EncodeToString(sum.Sum(nil)[:8])
	if m.Parent == "" {
		return n, nil
	}
	above, err := e.lines(ctx, e.by[m.Parent], m, until)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, line := range above {
		there[line] = true
	}
	for _, line := range own {
		if there[line] {
			n.Above++
		}
	}
	n.Missing = n.Samples - n.Above
	return n, nil
}

// lines returns the readings that a node has of the devices of another, a line each, by point and time.
func (e *estate) lines(ctx context.Context, at, of *member, until time.Duration) (lines []string, err error) {
	for i := range of.Devices {
		r, err := at.client.Range(ctx, client.Span{
			Pattern: of.Devices[i].Path + "/**", Local: true,
			From: e.hello.Start.Format(time.RFC3339Nano), To: e.hello.Start.Add(until).Format(time.RFC3339Nano),
		}, 0, false)
		if err != nil {
			return nil, err
		}
		for _, s := range r.Series {
			samples, err := client.Samples(s)
			if err != nil {
				return nil, err
			}
			for _, one := range samples {
				lines = append(lines, fmt.Sprintf("%s,%s,%v,%s\n", one.Point, one.Time.UTC().Format(time.RFC3339Nano), one.Value, one.Quality))
			}
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// events returns the audit log of a node from the start on, without the requests between nodes.
func (e *estate) events(ctx context.Context, m *member, until time.Duration) (events []whole.Event, err error) {
	var text bytes.Buffer
	if err := m.client.ExportAudit(ctx, client.AuditFilter{From: e.hello.Start.Format(time.RFC3339Nano)}, &text); err != nil {
		return nil, err
	}
	for in := json.NewDecoder(&text); ; {
		var a answer.AuditEntry
		err := in.Decode(&a)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		at := a.Time.Sub(e.hello.Start)
		if at > until {
			return events, nil
		}
		if strings.HasPrefix(a.Action, "node.") {
			continue
		}
		events = append(events, whole.Event{At: at, Node: m.Name, Actor: a.Actor, Action: a.Action, Subject: a.Subject, Outcome: a.Outcome, Detail: a.Detail})
	}
}
