package outside

import (
	"context"
	"slices"

	"voltbus/judge/function"
	rules "voltbus/judge/setting"
	"voltbus/point"
	"voltbus/uplink/judged"
)

// Parent is the log as the parent gets it.
type Parent = judged.Log

// OpenParent returns the log as the parent gets it; nil if no rule holds for the parent, and none did before. selected are the points that are
// sent to the parent, all for none; shared reports whether it stores into the same database.
func OpenParent(ctx context.Context, c *Config, origin string, selected []point.Pattern, shared func() bool) (*Parent, error) {
	f := c.Functions
	f.Data, f.Now, f.Log = c.Dir, c.Now, c.Log
	return judged.Open(ctx, judged.Config{
		Rules: c.Judge.For(rules.Parent), Function: function.New(f).Make, Origin: origin, Dir: c.Dir, Blocks: c.Blocks, Shared: shared, Now: c.Now, Log: c.Log,
		Selects: func(path point.Path) bool {
			return len(selected) == 0 || slices.ContainsFunc(selected, func(p point.Pattern) bool { return p.Match(path) })
		},
	})
}
