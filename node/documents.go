package node

import (
	"encoding/json"
	"log/slog"
	"strings"

	"voltbus/bus"
	"voltbus/document"
	"voltbus/wire"
)

// notifyOfDocument notifies an agent that the meaning of one of its documents has changed. to is nil before the bus is open.
func notifyOfDocument(to *bus.Bus, log *slog.Logger, c document.Change) {
	agent, ok := strings.CutPrefix(c.Owner, "agent/")
	if !ok || to == nil {
		return
	}
	body, err := json.Marshal(struct {
		Owner   string `json:"owner"`
		Name    string `json:"name"`
		Action  string `json:"action"`
		Version int    `json:"version"`
	}{c.Owner, c.Name, c.Action, c.Version})
	if err == nil {
		err = to.Notify(agent, wire.NewsConfig, body)
	}
	if err != nil { // the agent asks again when it reconnects
		log.Warn("an agent is not told of its document", slog.String("agent", agent), slog.String("document", c.Name), slog.Any("err", err))
	}
}
