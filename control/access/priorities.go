package access

import (
	"context"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
)

// Priorities returns the commands of all sources in the priority array of a point's device, including other systems.
func (a *Access) Priorities(ctx context.Context, who *Who, path point.Path) (answer.Priorities, error) {
	if err := path.Validate(); err != nil {
		return answer.Priorities{}, fault.E("access.Priorities", fault.Invalid, "path", err)
	}
	if err := who.See(path); err != nil {
		return answer.Priorities{}, err
	}
	array, err := a.cfg.Priorities(ctx, path)
	if err != nil {
		return answer.Priorities{}, err
	}
	out := answer.Priorities{Point: string(path), Levels: []answer.Priority{}}
	for i, v := range array {
		if v.Kind() != point.None {
			out.Levels = append(out.Levels, answer.Priority{Level: i + 1, Value: v.AppendJSON(nil)})
		}
	}
	return out, nil
}
