package gate

import (
	"context"
	"time"

	"voltbus/point"
	"voltbus/wire"
)

// numbered hands blocks of one origin to the log. One goroutine at a time uses it.
type numbered struct {
	origin  string
	forward Forward
	now     func() time.Time
	last    Position
	encoder wire.Encoder
}

// hand numbers a block and hands it to the log.
func (n *numbered) hand(ctx context.Context, block *point.Block) (wait func(context.Context) error, err error) {
	block.Origin, block.Sequence, block.Before = n.origin, n.last.Sequence+1, n.last.Samples
	block.Created = n.now()
	data, err := n.encoder.AppendBlock(nil, block)
	if err != nil {
		return nil, err
	}
	if wait, err = n.forward(ctx, block, data); err == nil {
		n.last = Position{block.Sequence, block.End()}
	}
	return wait, err
}
