package client

import (
	"context"
	"encoding/json"
	"sync"

	"voltbus/api/answer"
)

// Config is a version of a configuration document.
type Config struct {
	answer.Document
	Content json.RawMessage `json:"content"` // what it says as JSON, with what it refers to in its place
}

// Config returns the newest version of one of the agent's own documents, such as "config";
// fault.NotFound if there is none.
func (c *Client) Config(ctx context.Context, name string) (d Config, err error) {
	return d, c.calls.node(ctx, "config_get", map[string]any{"name": name}, &d)
}

// ConfigChange describes a configuration document that changed.
type ConfigChange struct {
	Owner   string `json:"owner"`
	Name    string `json:"name"`
	Action  string `json:"action"` // set or delete; ConfigMissed after a new connection
	Version int    `json:"version"`
}

// ConfigMissed is the action of a change that names no document: the connection was lost and is there
// again, and any document may have changed meanwhile. Read again what matters.
const ConfigMissed = "missed"

// configs are who wants to know of changes.
type configs struct {
	telling sync.Mutex // one at a time

	mu   sync.Mutex
	next int
	list map[int]func(ConfigChange)
}

// tell calls all watchers.
func (c *configs) tell(change ConfigChange) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.mu.Lock()
	var all []func(ConfigChange)
	for _, f := range c.list {
		all = append(all, f)
	}
	c.mu.Unlock()
	for _, f := range all {
		f(change)
	}
}

// WatchConfig calls changed with every change of the agent's own and the shared documents, from one
// goroutine at a time, until stop is called. changed must return soon. What changes while there is no
// connection are not reported: each new connection is reported as a change with the action ConfigMissed.
func (c *Client) WatchConfig(changed func(ConfigChange)) (stop func()) {
	c.configs.mu.Lock()
	defer c.configs.mu.Unlock()
	if c.configs.list == nil {
		c.configs.list = map[int]func(ConfigChange){}
	}
	id := c.configs.next
	c.configs.next++
	c.configs.list[id] = changed
	return func() {
		c.configs.mu.Lock()
		defer c.configs.mu.Unlock()
		delete(c.configs.list, id)
	}
}
