package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"voltbus/alarm"
	"voltbus/alarm/escalation"
	"voltbus/document"
	"voltbus/fault"
)

// Escalation is the shared document that says who is told of alarms, a JSON object as in escalation.Plan.
const Escalation = "escalation"

// Secrets is the folder of the data directory with the passwords and tokens of the plan.
const Secrets = "alarm-secrets"

// openEscalation opens the part that tells people.
func openEscalation(ctx context.Context, m *Monitor) (err error) {
	m.people, err = escalation.Open(ctx, escalation.Options{
		Secrets: filepath.Join(m.o.Dir, Secrets), Node: m.o.Node, Storage: m.file, Now: m.o.Now, Log: m.o.Log,
		Plan: func() escalation.Plan {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.plan
		},
		Alarms: func() []alarm.Shown {
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.plan.Steps) == 0 {
				return nil
			}
			return m.engine.List()
		},
	})
	return err
}

// loadPlan reads the plan. One that is wrong changes nothing, and the health says what is wrong.
func (m *Monitor) loadPlan(ctx context.Context) error {
	d, err := m.o.Documents.Get(ctx, document.Key{Owner: document.Shared, Name: Escalation}, 0)
	if fault.Is(err, fault.NotFound) || (err == nil && d.Deleted) {
		usePlan(m, escalation.Plan{}, nil)
		return nil
	}
	if err != nil {
		return err
	}
	var p escalation.Plan
	in := json.NewDecoder(bytes.NewReader([]byte(d.Text)))
	in.DisallowUnknownFields()
	if err = in.Decode(&p); err == nil {
		err = p.Validate()
	}
	usePlan(m, p, err)
	return nil
}

func usePlan(m *Monitor, p escalation.Plan, wrong error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong = wrong; wrong == nil {
		m.plan = p
	}
}

// unheard says why people are not told of alarms.
func (m *Monitor) unheard() []string {
	list := m.people.Troubles()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong != nil {
		list = append(list, fmt.Sprintf("the document %s, who is told of alarms, is wrong and not used: %v", Escalation, m.wrong))
	}
	return list
}

// isPlan reports whether a document is the plan.
func isPlan(name string) bool { return strings.EqualFold(name, Escalation) }
