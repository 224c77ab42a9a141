package monitor

import (
	"context"

	"voltbus/alarm"
	"voltbus/presence"
)

// mostAlerts bounds the alerts that wait to be taken over.
const mostAlerts = 10_000

// hear takes over that an alert was raised or ended.
func (m *Monitor) hear(a presence.Alert) {
	m.mu.Lock()
	if len(m.alerts) < mostAlerts {
		m.alerts = append(m.alerts, a)
	} else {
		m.overflow = true
	}
	m.mu.Unlock()
	m.signal()
}

// takeAlerts makes alarms of alerts.
func (m *Monitor) takeAlerts(ctx context.Context) {
	m.mu.Lock()
	list, overflow := m.alerts, m.overflow
	m.alerts, m.overflow = nil, false
	for i := range list {
		m.takeAlert(&list[i])
	}
	m.commit(ctx, false)
	m.mu.Unlock()
	if overflow {
		m.resume(m.o.Alerts.List())
	}
}

func (m *Monitor) takeAlert(a *presence.Alert) {
	x := external(a)
	if a.Cleared {
		m.engine.Return(m.now(), x.ID())
		return
	}
	m.engine.Raise(m.now(), x)
}

// resume compares the alarms of alerts with those that are open.
func (m *Monitor) resume(list []presence.Alert) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there := make(map[alarm.ID]bool, len(list))
	for i := range list {
		m.takeAlert(&list[i])
		x := external(&list[i])
		there[x.ID()] = true
	}
	m.engine.ReturnOthers(m.now(), there)
}

func external(a *presence.Alert) alarm.External {
	p := alarm.PriorityMedium
	switch a.Severity {
	case presence.Critical:
		p = alarm.PriorityHigh
	case presence.Info:
		p = alarm.PriorityLow
	case presence.Warning:
	}
	return alarm.External{Agent: a.Agent, Key: a.Key, Priority: p, Text: a.Text, Since: a.First}
}
