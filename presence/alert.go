package presence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"voltbus/fault"
)

// Severity is the severity of an alert.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning" // the default
	Critical Severity = "critical"
)

func (s Severity) rank() int {
	switch s {
	case Critical:
		return 2
	case Warning:
		return 1
	case Info:
	}
	return 0
}

// Alert is something that an agent wants people to know until it has cleared.
type Alert struct {
	Agent    string // who raised it
	Key      string // its subject, under the agent's own name
	Severity Severity
	Text     string    // for people; untrusted
	First    time.Time // when it was first raised
	Last     time.Time // when the agent last raised it
	Count    int       // how often it was raised
	Cleared  bool      // in a change reported to a watcher: it has cleared
}

type alertID struct{ agent, key string }

func (a *Alert) id() alertID { return alertID{a.Agent, a.Key} }

var (
	errAlert    = errors.New(`an alert is an object such as {"text":"…","severity":"warning"}; {"cleared":true} ends it`)
	errKey      = fmt.Errorf("an alert needs a key of 1 to %d bytes of UTF-8, as the topic alert/<key>", maxKey)
	errKeys     = errors.New("is another key than the topic says; leave it out")
	errSeverity = errors.New("is not a severity; say info, warning or critical")
	errText     = fmt.Errorf("an alert needs a text of 1 to %d bytes of UTF-8", maxText)
	errMany     = fmt.Errorf("this agent has %d open alerts; clear some first", maxAlerts)
	errOpen     = errors.New("there is no such open alert")
)

// Alert processes an agent's message about an alert: it opens, repeats or ends it. It fails with
// fault.Invalid, and with fault.Unavailable if the agent has too many open ones.
func (r *AgentHealth) Alert(agent, key string, message []byte) error {
	m, err := readAlert(key, message)
	if err == nil {
		err = r.take(agent, key, m)
	}
	if err != nil {
		r.mu.Lock()
		r.refuse++
		r.mu.Unlock()
	}
	return err
}

// said is an alert as sent by an agent.
type said struct {
	Key      string    `json:"key"`
	Text     string    `json:"text"`
	Severity Severity  `json:"severity"`
	Since    time.Time `json:"since"`
	Cleared  bool      `json:"cleared"`
}

func readAlert(key string, message []byte) (m said, err error) {
	const op = "presence.Alert"
	if err := json.Unmarshal(message, &m); err != nil {
		return m, fault.E(op, fault.Invalid, key, fmt.Errorf("%w: %w", errAlert, err))
	}
	if m.Severity == "" {
		m.Severity = Warning
	}
	switch {
	case key == "" || len(key) > maxKey || !utf8.ValidString(key):
		return m, fault.E(op, fault.Invalid, key, errKey)
	case m.Key != "" && m.Key != key:
		return m, fault.E(op, fault.Invalid, key, fmt.Errorf("%.40q %w", m.Key, errKeys))
	case m.Cleared:
		return m, nil
	case m.Severity != Info && m.Severity != Warning && m.Severity != Critical:
		return m, fault.E(op, fault.Invalid, key, fmt.Errorf("%.40q %w", m.Severity, errSeverity))
	case m.Text == "" || len(m.Text) > maxText:
		return m, fault.E(op, fault.Invalid, key, errText)
	}
	return m, nil
}

func (r *AgentHealth) take(agent, key string, m said) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, now := alertID{agent, key}, r.now().UTC().Truncate(time.Microsecond)
	if m.Cleared {
		r.unshelve(id)
		r.end(id, now)
		return nil
	}
	a := r.alerts[id]
	if shelved := r.shelf[id]; shelved != nil {
		delete(r.shelf, id)
		a = shelved
		r.open(a)
	}
	if a == nil {
		if r.count[agent] >= maxAlerts {
			return fault.E("presence.Alert", fault.Unavailable, key, errMany)
		}
		a = &Alert{Agent: agent, Key: key, First: now}
		if !m.Since.IsZero() && m.Since.Before(now) {
			a.First = m.Since.UTC().Truncate(time.Microsecond)
		}
		r.open(a)
	}
	a.Severity, a.Text, a.Last = m.Severity, m.Text, now
	a.Count++
	r.changed(*a)
	return nil
}

// open adds an alert to the open ones.
func (r *AgentHealth) open(a *Alert) {
	r.alerts[a.id()] = a
	r.count[a.Agent]++
}

// unshelve drops an alert that was cleared while its agent was away.
func (r *AgentHealth) unshelve(id alertID) {
	if r.shelf[id] != nil {
		delete(r.shelf, id)
		r.dirty[id] = struct{}{}
		r.wake()
	}
}

// end closes an alert if it is open.
func (r *AgentHealth) end(id alertID, now time.Time) {
	a := r.alerts[id]
	if a == nil {
		return
	}
	delete(r.alerts, id)
	if r.count[id.agent]--; r.count[id.agent] == 0 {
		delete(r.count, id.agent)
	}
	a.Cleared, a.Last = true, now
	r.changed(*a)
}

func (r *AgentHealth) changed(a Alert) {
	r.dirty[a.id()] = struct{}{}
	r.wake()
	for _, tell := range r.watch {
		tell(a)
	}
}

// Shelve ends an alert, at a person's request, whose agent is not connected to say whether it persists. It reopens when the
// agent returns, or the node restarts, until the agent clears it. fault.NotFound: it is not open.
func (r *AgentHealth) Shelve(agent, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := alertID{agent, key}
	if r.alerts[id] == nil {
		return fault.E("presence.Shelve", fault.NotFound, agent+": "+key, errOpen)
	}
	kept := *r.alerts[id]
	r.end(id, r.now().UTC().Truncate(time.Microsecond))
	delete(r.dirty, id) // it stays open on disk
	r.shelf[id] = &kept
	return nil
}

var (
	errLasts = errors.New("its agent says that it lasts; it ends when what it tells of is over")
	errMute  = errors.New("its agent does not say whether it lasts, so it stays open; it ends when the agent says so, or with the agent")
)

// Doubt asks a connected agent, by ask, whether an alert persists. It returns nil if the agent ends the alert,
// fault.Conflict if it raises it again, fault.Timeout if it does not answer before ctx ends, fault.NotFound if it is
// not open. Only the agent ends the alert.
func (r *AgentHealth) Doubt(ctx context.Context, agent, key string, ask func() error) error {
	const op = "presence.Doubt"
	id, said := alertID{agent, key}, make(chan bool, 1)
	stop := r.Watch(func(a Alert) {
		if a.id() == id {
			select {
			case said <- a.Cleared:
			default:
			}
		}
	})
	defer stop()
	r.mu.Lock()
	isOpen := r.alerts[id] != nil
	r.mu.Unlock()
	if !isOpen {
		return fault.E(op, fault.NotFound, agent+": "+key, errOpen)
	}
	if err := ask(); err != nil {
		return err
	}
	select {
	case over := <-said:
		if over {
			return nil
		}
		return fault.E(op, fault.Conflict, agent+": "+key, errLasts)
	case <-ctx.Done():
		return fault.E(op, fault.Timeout, agent+": "+key, errMute)
	}
}

// Watch calls tell with each alert that is raised, repeated or ended, until stop is called, and not after it
// has returned. tell must return at once, and must not call this package.
func (r *AgentHealth) Watch(tell func(Alert)) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.next
	r.next++
	r.watch[id] = tell
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watch, id)
	}
}
