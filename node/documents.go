package node

import (
	"encoding/json"
	"log/slog"
	"strings"

	"voltbus/document"
	"voltbus/wire"
)

// tellOfDocument tells an agent that one of its documents means something else now.
func (n *Node) tellOfDocument(c document.Change) {
	agent, ok := strings.CutPrefix(c.Owner, "agent/")
	if !ok || n.bus == nil {
		return
	}
	body, err := json.Marshal(struct {
		Owner   string `json:"owner"`
		Name    string `json:"name"`
		Action  string `json:"action"`
		Version int    `json:"version"`
	}{c.Owner, c.Name, c.Action, c.Version})
	if err == nil {
		err = n.bus.Notify(agent, wire.NewsConfig, body)
	}
	if err != nil { // the agent asks again when it returns
		n.log.Warn("an agent is not told of its document", slog.String("agent", agent), slog.String("document", c.Name), slog.Any("err", err))
	}
}
