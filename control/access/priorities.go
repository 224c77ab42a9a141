package access

import (
	"context"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
)

// Priorities returns what all systems command a point to in its device, and which of that this node does.
func (a *Access) Priorities(ctx context.Context, who *Who, path point.Path) (answer.Priorities, error) {
	if err := path.Validate(); err != nil {
		return answer.Priorities{}, fault.E("access.Priorities", fault.Invalid, "path", err)
	}
	if err := who.See(path); err != nil {
		return answer.Priorities{}, err
	}
	v, err := a.cfg.Dispatcher.View(ctx, path)
	if err != nil {
		return answer.Priorities{}, err
	}
	array, err := a.cfg.Priorities(ctx, path)
	if err != nil {
		return answer.Priorities{}, err
	}
	out := answer.Priorities{Point: string(path), Levels: []answer.Priority{}, Default: array.Default.AppendJSON(nil), Own: int(v.Place)}
	for i, v := range array.Levels {
		if v.Kind() != point.None {
			out.Levels = append(out.Levels, answer.Priority{Level: i + 1, Value: v.AppendJSON(nil)})
		}
	}
	return out, nil
}
