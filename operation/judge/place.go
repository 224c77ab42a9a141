package judge

import (
	"context"
	"errors"

	"voltbus/fault"
	"voltbus/judge/aside"
	"voltbus/judge/setting"
	"voltbus/uplink/judged"
)

// place is where readings are withheld from: a destination, or the parent.
type place interface {
	withheld(rule string, skip, limit int) ([]aside.Reading, error)
	release(ctx context.Context, rule string) (int, error)
	dismiss(rule string) (int, error)
	kept() int // that wait for a person
}

var errNoParent = errors.New("no rule holds for the parent; write parent in the key to of a rule of the section judge")

// at returns the place of a name.
func (p *Part) at(name string) (place, error) {
	switch {
	case name != setting.Parent:
		return destinationOf{p.Destinations, name}, nil
	case p.Parent == nil:
		return nil, fault.E("judge", fault.NotFound, name, errNoParent)
	}
	return parentOf{p.Parent}, nil
}

type destinationOf struct {
	Destinations

	name string
}

func (d destinationOf) withheld(rule string, skip, limit int) ([]aside.Reading, error) {
	return d.Withheld(d.name, rule, skip, limit)
}

func (d destinationOf) release(ctx context.Context, rule string) (int, error) {
	return d.Release(ctx, d.name, rule)
}

func (d destinationOf) dismiss(rule string) (int, error) { return d.Dismiss(d.name, rule) }

func (d destinationOf) kept() int {
	for _, s := range d.States(context.Background()) { // what it asks for is on this machine
		if s.Name == d.name {
			return s.Held
		}
	}
	return 0
}

type parentOf struct{ log *judged.Log }

func (p parentOf) withheld(rule string, skip, limit int) ([]aside.Reading, error) {
	return p.log.Withheld(rule, skip, limit)
}

func (p parentOf) release(_ context.Context, rule string) (int, error) { return p.log.Release(rule) }

func (p parentOf) dismiss(rule string) (int, error) { return p.log.Dismiss(rule) }

func (p parentOf) kept() int { return p.log.State().Held }
