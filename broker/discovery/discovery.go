// Package discovery makes points of devices that describe themselves as Home Assistant's MQTT discovery says: a retained message at
// homeassistant/<component>/…/config names the topics of an entity, its unit, and where it takes commands. It is pure but for its
// tables; who connects and what is recorded is not its business.
package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/point"
)

// Host knows the entities that were described. Its methods are safe for concurrent use. A nil Host knows none.
type Host struct {
	setting setting.HomeAssistant

	mu     sync.RWMutex
	topics map[string]*topicOf // where something is read, by topic
	owned  map[string][]string // the topics of each configuration, by its topic
	config *template.Match     // takes configurations
}

// New returns a host; nil without a prefix in the configuration.
func New(s setting.HomeAssistant) *Host {
	if s.Prefix == "" {
		return nil
	}
	h := &Host{setting: s, topics: map[string]*topicOf{}, owned: map[string][]string{}}
	h.config = template.Custom("home assistant", point.Path("homeassistant"), h.takeConfig)
	return h
}

// The bounds of what devices may describe.
const (
	mostTopics   = 200_000
	mostEntities = 1000 // of one configuration, and of one topic
	mostText     = 200
)

// topicOf is a topic with the entities that are read from it. Its Match does not change, so that points keep their binding.
type topicOf struct {
	match    *template.Match
	mu       sync.Mutex
	entities []*entity
}

// Find returns what takes the messages of a topic: configurations, and the topics that they name; nil for others.
func (h *Host) Find(topic string) *template.Match {
	if h == nil {
		return nil
	}
	if h.isConfig(topic) {
		return h.config
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if t := h.topics[topic]; t != nil {
		return t.match
	}
	return nil
}

func (h *Host) isConfig(topic string) bool {
	return strings.HasPrefix(topic, h.setting.Prefix+"/") && strings.HasSuffix(topic, "/config")
}

// Learn takes a configuration that was kept. What is wrong with it was said when it arrived.
func (h *Host) Learn(topic string, payload []byte) {
	if h != nil && h.isConfig(topic) {
		_ = h.learn(topic, payload)
	}
}

func (h *Host) takeConfig(_ time.Time, topic string, payload []byte, _ func(*template.Reading)) error {
	return h.learn(topic, payload)
}

var (
	errTopics = errors.New("there are too many topics of Home Assistant's discovery")
	errJSON   = errors.New("the configuration is not a JSON object")
)

// learn replaces what a configuration says; an empty one removes its entities.
func (h *Host) learn(topic string, payload []byte) error {
	var list []*entity
	var problem error
	if len(bytes.TrimSpace(payload)) > 0 {
		list, problem = h.entities(topic, payload)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range h.owned[topic] {
		if t := h.topics[name]; t != nil {
			t.mu.Lock()
			t.entities = slices.DeleteFunc(t.entities, func(e *entity) bool { return e.config == topic })
			t.mu.Unlock()
		}
	}
	delete(h.owned, topic)
	for _, e := range list {
		if err := h.put(e); err != nil {
			return err
		}
	}
	return problem
}

// put notes an entity at its topic.
func (h *Host) put(e *entity) error {
	t := h.topics[e.topic]
	if t == nil {
		if len(h.topics) >= mostTopics {
			return errTopics
		}
		t = &topicOf{}
		t.match = template.Custom("home assistant", e.device, t.take)
		t.match.Stale = e.stale
		h.topics[e.topic] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.match.Device != e.device || len(t.entities) >= mostEntities {
		return fmt.Errorf("the topic %q is one of another device already", clip(e.topic))
	}
	t.entities = append(t.entities, e)
	if !slices.Contains(h.owned[e.config], e.topic) {
		h.owned[e.config] = append(h.owned[e.config], e.topic)
	}
	return nil
}

// take hands over the readings of a message.
func (t *topicOf) take(_ time.Time, _ string, payload []byte, emit func(*template.Reading)) error {
	t.mu.Lock()
	entities := slices.Clone(t.entities)
	t.mu.Unlock()
	var whole any
	parsed := false
	var problem error
	for _, e := range entities {
		if !parsed && e.value.json {
			d := json.NewDecoder(bytes.NewReader(payload))
			d.UseNumber()
			if err := d.Decode(&whole); err != nil {
				return fmt.Errorf("the payload is not JSON: %w", err)
			}
			parsed = true
		}
		if err := e.read(string(payload), whole, emit); err != nil && problem == nil {
			problem = fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return problem
}

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	if len(s) <= mostText {
		return s
	}
	return strings.ToValidUTF8(s[:mostText], "") + "…"
}
