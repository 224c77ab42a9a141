package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/operation"
)

const (
	usualTrial  = time.Minute
	confirmWait = time.Second // between two attempts to confirm a configuration
)

// push changes the configuration of another node on trial, and confirms it once the node answers. A node that cannot be reached in time
// reverts it by itself.
func push(ctx context.Context, c *operation.Call, in *Change, ask operation.Ask) (out answer.ConfigApplied, err error) {
	bound := usualTrial
	if in.Confirm != nil {
		if bound = time.Duration(*in.Confirm * float64(time.Second)); bound < time.Second || bound > maxTrial {
			return out, fault.E("config.apply", fault.Invalid, "confirm", errBound)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	args := operation.Arguments{"text": written(*in.Text), "version": written(in.Version), "confirm": written(bound.Seconds())}
	result, err := ask(ctx, Apply.Name, args)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return out, fault.E("config.apply", fault.Corrupt, c.Node, fmt.Errorf("its answer cannot be read: %w", err))
	}
	c.Did(c.Node, map[string]any{"node": c.Node, "to": out.Version, "changes": out.Changes.Words})
	return out, confirmed(ctx, c.Node, out.Version, ask)
}

var errLostContact = errors.New("the configuration was applied there, but the node could not be reached to confirm it; it goes back to the one before by itself")

// written encodes a string or number as JSON, which cannot fail.
func written(v any) json.RawMessage {
	text, _ := json.Marshal(v) //nolint:errchkjson // texts and numbers
	return text
}

// confirmed records that a node was reached with its new configuration.
func confirmed(ctx context.Context, node, version string, ask operation.Ask) error {
	const op = "config.apply"
	again := time.NewTicker(confirmWait)
	defer again.Stop()
	for {
		_, err := ask(ctx, Confirm.Name, operation.Arguments{"version": written(version)})
		switch {
		case err == nil:
			return nil
		case !fault.Is(err, fault.Unreachable) && !fault.Is(err, fault.Timeout) && !fault.Is(err, fault.Unavailable):
			return fault.E(op, fault.KindOf(err), node, fmt.Errorf("the configuration was applied there and is not confirmed; the node goes back by itself: %w", err))
		}
		select {
		case <-ctx.Done():
			return fault.E(op, fault.Unreachable, node, fmt.Errorf("%w (%w)", errLostContact, err))
		case <-again.C:
		}
	}
}
