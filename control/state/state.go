// Package state defines the persistent state of commanded points: the records of a command, of a write and of a point. The records that
// each command changes are encoded field by field, as package json would: they are most of the cost of a call for many points.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"voltbus/control"
	"voltbus/point"
)

// Value is a value with its kind.
type Value struct{ point.Value }

// MarshalJSON writes {"float":"22.5"}, {"int":"3"}, {"bool":"true"}, {"text":"auto"} or null.
func (v Value) MarshalJSON() ([]byte, error) { return v.append(nil), nil }

func (v Value) append(dst []byte) []byte {
	if v.Kind() == point.None {
		return append(dst, "null"...)
	}
	dst = append(append(append(dst, `{"`...), v.Kind().String()...), `":`...)
	return append(point.AppendQuoted(dst, v.String()), '}')
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (v *Value) UnmarshalJSON(data []byte) error {
	var fields map[string]string
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("a value is no object: %w", err)
	}
	if len(fields) > 1 {
		return errors.New("a value has more than one kind")
	}
	for name, text := range fields {
		value, err := parseValue(name, text)
		if err != nil {
			return err
		}
		v.Value = value
	}
	return nil
}

func parseValue(name, text string) (point.Value, error) {
	switch kind, _ := point.ParseKind(name); kind {
	case point.Float:
		f, err := strconv.ParseFloat(text, 64)
		return point.FloatOf(f), err
	case point.Int:
		i, err := strconv.ParseInt(text, 10, 64)
		return point.IntOf(i), err
	case point.Bool:
		b, err := strconv.ParseBool(text)
		return point.BoolOf(b), err
	case point.Text:
		return point.TextOf(text), nil
	case point.None:
	}
	return point.Value{}, fmt.Errorf("%q is no kind of value", name)
}

// Command is a command with its times.
type Command struct {
	ID        string        `json:"id"`
	Point     point.Path    `json:"point"`
	Requester string        `json:"requester"`
	Task      string        `json:"task,omitempty"`
	Level     control.Level `json:"level"`
	Value     Value         `json:"value"`
	Reason    string        `json:"reason,omitempty"`
	Lease     time.Duration `json:"lease,omitempty"`
	Order     uint64        `json:"order"`
	Since     time.Time     `json:"since"`
	Until     time.Time     `json:"until,omitzero"`
	Fresh     bool          `json:"fresh,omitempty"`   // the device has not accepted it yet
	Returns   bool          `json:"returns,omitempty"` // the point was reverting before it
	Reverts   time.Time     `json:"reverts,omitzero"`  // when it ends because its point is reverted
	Reverter  string        `json:"reverter,omitempty"`
	Fence     control.Fence `json:"fence,omitzero"`
	Prior     *Command      `json:"prior,omitempty"` // what it replaced, to be restored if the device declines
}

// OfCommand returns the state of an accepted command.
func OfCommand(c *control.Command, order uint64, since, until time.Time) Command {
	return Command{
		ID: c.ID, Point: c.Point, Requester: c.Requester, Task: c.Task, Level: c.Level,
		Value: Value{c.Value}, Reason: c.Reason, Lease: c.Lease, Order: order, Since: since, Until: until, Fence: c.Fence,
	}
}

// Command returns the original command.
func (s *Command) Command() control.Command {
	return control.Command{
		ID: s.ID, Point: s.Point, Requester: s.Requester, Task: s.Task, Level: s.Level,
		Value: s.Value.Value, Reason: s.Reason, Lease: s.Lease, Fence: s.Fence,
	}
}

// Point is the state of a commanded point.
type Point struct {
	Commands  []Command      `json:"commands,omitempty"`
	Before    Value          `json:"before"`
	Reverting bool           `json:"reverting,omitempty"`
	Failsafe  bool           `json:"failsafe,omitempty"`
	Undo      bool           `json:"undo,omitempty"`    // the revert restores the value from before a command that was declined in part
	Partial   bool           `json:"partial,omitempty"` // the device may hold a part of a value that it declined
	Output    control.Output `json:"output"`
	Held      Value          `json:"held"`
	Reported  Value          `json:"reported"`
	Changed   time.Time      `json:"changed,omitzero"`
	Turned    time.Time      `json:"turned,omitzero"`

	AssertAt    time.Time     `json:"assert_at,omitzero"`     // a lost value is not written again before
	AssertPause time.Duration `json:"assert_pause,omitempty"` // the pause after the next such write

	Told     bool          `json:"told,omitempty"`      // the mismatch was reported
	SayAt    time.Time     `json:"say_at,omitzero"`     // the next one is not reported before
	SayPause time.Duration `json:"say_pause,omitempty"` // the pause after the next report

	control.Placement

	Sent *Write `json:"sent,omitempty"` // the write in progress
	Text string `json:"text,omitempty"`
}

// Write is a write in progress.
type Write struct {
	ID        uint64        `json:"id"`
	Value     Value         `json:"value"`
	Release   bool          `json:"release,omitempty"`
	Read      bool          `json:"read,omitempty"`
	Level     control.Level `json:"level,omitempty"`
	Cause     control.Cause `json:"cause,omitempty"`
	Requester string        `json:"requester,omitempty"`
	Command   string        `json:"command,omitempty"`
}
