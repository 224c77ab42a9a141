package remote

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/alarms"
	"voltbus/operation/alarms/below"
	"voltbus/uplink/replica"
)

// Nodes knows the descendants. Package uplink/replica implements it.
type Nodes interface{ Nodes() []replica.Node }

// Alarms knows the alarms of descendants, which it asks as this node. Run it.
type Alarms struct {
	*below.Below

	asker *Asker
}

// NewAlarms returns the alarms of descendants. name is that of this node.
func NewAlarms(asker *Asker, nodes Nodes, name string, now func() time.Time) *Alarms {
	who := operation.Caller{Name: neighbourKind + name, Role: identity.Viewer}
	return &Alarms{below.New(below.Options{
		Now: now,
		Nodes: func() []below.Node {
			list := nodes.Nodes()
			out := make([]below.Node, len(list))
			for i := range list {
				out[i] = below.Node{Name: list[i].Name, Away: list[i].Away}
			}
			return out
		},
		Ask: func(ctx context.Context, node, known string) (list alarms.Alarms, err error) {
			text, err := json.Marshal(known)
			if err != nil {
				return list, err
			}
			data, err := asker.Operation(ctx, &who, node, alarms.List.Name, operation.Arguments{"local": json.RawMessage("true"), "known": text})
			if err != nil {
				return list, err
			}
			err = json.Unmarshal(data, &list)
			return list, err
		},
	}), asker}
}

// Operation has another node carry out an operation, as Asker does, and asks for its alarms at once if that was about them.
func (a *Alarms) Operation(ctx context.Context, who *operation.Caller, node, name string, args operation.Arguments) (json.RawMessage, error) {
	result, err := a.asker.Operation(ctx, who, node, name, args)
	if strings.HasPrefix(name, "alarm.") {
		a.Again(node)
	}
	return result, err
}
