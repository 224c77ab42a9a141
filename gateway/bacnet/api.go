package bacnet

import (
	"context"
	"errors"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/control"
)

// API is a node asked over HTTP with a token.
type API struct{ *client.Client }

// deviceWait is how many seconds a command waits for what its device says: less than the 3 s that most BACnet clients wait for an answer.
const deviceWait = 2.0

// ControlPoints returns a page of points as those see them who command them.
func (a API) ControlPoints(ctx context.Context, pattern, after string) (answer.ControlPoints, error) {
	return client.Do(ctx, a.Client, control.List, control.Page{Pattern: pattern, After: after, Limit: 1000})
}

var errNoResult = errors.New("the node answered a command without a result")

// Command sets a point, and waits a while for what its device says.
func (a API) Command(ctx context.Context, c answer.NewCommand) (answer.Commanded, error) {
	wait := deviceWait
	out, err := client.Do(ctx, a.Client, control.Command, answer.NewCommands{Commands: answer.NewCommandList{c}, Wait: &wait})
	switch {
	case err != nil:
		return answer.Commanded{}, err
	case len(out.Results) != 1:
		return answer.Commanded{}, fault.E("gateway.Command", fault.Corrupt, c.Point, errNoResult)
	}
	return out.Results[0], nil
}

// Release ends commands.
func (a API) Release(ctx context.Context, s answer.CommandSelection) error {
	_, err := client.Do(ctx, a.Client, control.Release, s)
	return err
}
