package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/point"
)

// Command is how a point is commanded: where a value goes, and as what.
type Command struct {
	Point, Device point.Path
	Unit          string
	Kind          point.Kind
	setting.Set               // without names in braces in its topics
	Initial       point.Value // what Set.Default says, the zero Value for nothing
	// Payload returns what is sent for a value. The error says why the point cannot have it.
	Payload func(point.Value) ([]byte, error)
	// Detail is what the maker of the command needs to make it again.
	Detail string
}

// Wait returns how long the device may take to report a value.
func (c *Command) Wait() time.Duration { return c.Set.Wait() }

// command returns how the point of a field is commanded, nil if it cannot be.
func (m *Match) command(place int) *Command {
	if m.commands == nil {
		return nil
	}
	return m.commands[place]
}

// Commands lists how the points of the topic are commanded, as far as they can be.
func (m *Match) Commands() []*Command {
	var list []*Command
	for _, c := range m.commands {
		if c != nil {
			list = append(list, c)
		}
	}
	return list
}

// makeCommands puts the levels of the topic into the topics of commands.
func (m *Match) makeCommands(topic string) {
	var pairs []string
	for i, text := range strings.Split(topic, "/") {
		if i < len(m.t.levels) && m.t.levels[i].name != "" {
			pairs = append(pairs, m.t.levels[i].name, text)
		}
	}
	levels := strings.NewReplacer(pairs...)
	m.commands = make([]*Command, len(m.t.points))
	for i := range m.t.points {
		f := &m.t.points[i]
		if f.Set.Topic == "" {
			continue
		}
		c := &Command{
			Point: m.Device.Join(m.name(f.Name)), Device: m.Device, Unit: f.Unit, Kind: f.kind(), Set: f.Set, Initial: f.initial, Payload: f.payload,
		}
		c.Topic, c.Ask = levels.Replace(f.Set.Topic), levels.Replace(f.Set.Ask)
		m.commands[i] = c
	}
}

// kind is that of the point's values.
func (f *field) kind() point.Kind {
	switch f.Type {
	case "bool":
		return point.Bool
	case "int":
		return point.Int
	case "text":
		return point.Text
	}
	return point.Float
}

var errWrite = errors.New("cannot be written")

// payload is what is sent for a value.
func (f *field) payload(v point.Value) ([]byte, error) {
	plain, literal, err := f.written(v)
	if err != nil {
		return nil, err
	}
	s := &f.Set
	switch {
	case s.To != "":
		way, err := setting.ParseWay(s.To)
		if err != nil {
			return nil, err
		}
		out := literal
		for _, step := range slices.Backward(way) {
			out = "{" + quoted(step.Key) + ":" + out + "}"
		}
		return []byte(out), nil
	case s.Payload == "" || s.Payload == setting.ValueName:
		return []byte(plain), nil
	case json.Valid([]byte(strings.ReplaceAll(s.Payload, setting.ValueName, "null"))):
		return []byte(strings.ReplaceAll(s.Payload, setting.ValueName, literal)), nil
	}
	return []byte(strings.ReplaceAll(s.Payload, setting.ValueName, plain)), nil
}

// written returns a value as text, and as JSON.
func (f *field) written(v point.Value) (plain, literal string, err error) {
	if f.kind() == point.Text {
		return v.Text(), quoted(v.Text()), nil
	}
	if f.kind() == point.Bool {
		on, words := v.Bool(), f.Off
		if on {
			words = f.On
		}
		if len(words) == 0 {
			return strconv.FormatBool(on), strconv.FormatBool(on), nil
		}
		if json.Valid([]byte(words[0])) { // a number, or true
			return words[0], words[0], nil
		}
		return words[0], quoted(words[0]), nil
	}
	n, is := v.Number()
	if !is || math.IsNaN(n) || math.IsInf(n, 0) {
		return "", "", fmt.Errorf("%v %w: it is not a number", v, errWrite)
	}
	n = (n - f.Offset) / f.Scale
	if f.Type == "int" {
		n = math.Round(n)
	}
	plain = strconv.FormatFloat(n, 'f', -1, 64)
	if f.Scale != 1 { // 0.1 has no exact binary form
		plain = strconv.FormatFloat(n, 'g', precision, 64)
		if short, err := strconv.ParseFloat(plain, 64); err == nil {
			plain = strconv.FormatFloat(short, 'f', -1, 64)
		}
	}
	return plain, plain, nil
}

// precision is how many digits a number has that was divided by a factor.
const precision = 12

func quoted(s string) string {
	b, _ := json.Marshal(s) // a text always has a form
	return string(b)
}
