package bacnet

import "context"

// WatchPatterns is what Run does beside other things.
func (g *Gateway) WatchPatterns(ctx context.Context) { g.watchPatterns(ctx) }
