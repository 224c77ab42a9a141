package outstation

import (
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/attribute"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/event"
	"voltbus/protocol/dnp3/outstation/filetransfer"
)

// Config describes an outstation.
type Config struct {
	// Points is the database. Indexes need not be contiguous.
	Points []PointConfig
	// EventLimits bounds the events kept for each master by kind of point. A kind that
	// is not named keeps up to 1000; 0 keeps none. Nothing is allocated in advance.
	EventLimits map[object.Kind]int
	// EmptyStrings allows octet strings of no octets, which are sent as variation 0; the
	// standard has no such variation. Without it a string that was never set is sent as
	// one zero octet.
	EmptyStrings bool
	// Attributes are the device attributes (g0) of set 0 by number, 1 to 253.
	Attributes map[uint8]object.Attribute
	// PrivateAttributes are those of the sets 1 to 255, which the standard leaves to makers
	// and users, by set and number.
	PrivateAttributes map[uint8]map[uint8]object.Attribute
	// SelectTimeout is how long a select is good for; 0 means 10 s.
	SelectTimeout time.Duration
	// MaxControls is the most commands in one request; 0 means 64.
	MaxControls int
	// TimeSync is how often the master is asked for the time (IIN1.4), 0 for never.
	TimeSync time.Duration
	// Files are served to all masters.
	Files filetransfer.Service
	// Callbacks connect the application.
	Callbacks Callbacks
}

// PointConfig describes one point.
type PointConfig struct {
	Kind  object.Kind
	Index uint32
	// Class is the event class, one of Class1 to Class3, or 0 for a point that makes
	// no events.
	Class app.Classes
	// Static and Event are the variations it is reported in; 0 means g1v2, g2v2, g3v2,
	// g4v2, g10v2, g11v2, g20v1, g22v5, g21v1, g23v5, g30v1, g32v3, g40v1, g42v3. Integers
	// (KindInteger) are g102v1 and times (KindTime) g50v4; they have no events.
	Static, Event object.Variation
	// CommandClass is the event class in which commands to a binary or analog output are
	// reported, whatever their source and outcome; 0 for not at all.
	CommandClass app.Classes
	// CommandEvent is the variation of these events; 0 means g13v2 or g43v3.
	CommandEvent object.Variation
	// NotInClass0 leaves the point out of integrity polls; reads by index still find it.
	NotInClass0 bool
	// Deadband is by how much an analog or counter must differ from the value last
	// reported to make an event; 0 means by anything.
	Deadband float64
	// Initial is the first value; the point begins with FlagRestart.
	Initial object.Value
}

// SessionConfig describes the session with one master.
type SessionConfig struct {
	// Master is the master's link address, given to callbacks.
	Master link.Address
	// Unsolicited allows reports unasked. They begin with an empty one after a start
	// and carry events of the classes that the master enables.
	Unsolicited bool
	// ConfirmTimeout is how long a confirmation may take; 0 means 5 s.
	ConfirmTimeout time.Duration
	// Retries is how often an unconfirmed report is repeated before its events are put
	// back and sent anew, 0 for without end.
	Retries int
	// Holdoff is how long events may be collected before they are reported, 0 for not
	// at all; HoldoffEvents, if not 0, is the number that is not held any longer.
	Holdoff       time.Duration
	HoldoffEvents int
}

// Defaults.
const (
	defaultSelect   = 10 * time.Second
	defaultConfirm  = 5 * time.Second
	defaultControls = 64
)

// Reasons why a configuration is refused.
var (
	errKind      = errors.New("is no kind of point with a current value: use an input, output, counter, frozen value, octet string, integer (g102) or time (g50)")
	errIndex     = errors.New("exists twice: give each point of a kind its own index from 0 to 65535")
	errClass     = errors.New("has more than one class: use Class1, Class2, Class3 or 0")
	errStatic    = errors.New("has no events: leave its class and event variation out")
	errCommand   = errors.New("is no output: leave its CommandClass out")
	errVariation = errors.New("cannot be reported in this variation: use one of its own group")
	errDeadband  = errors.New("has a dead-band below zero")
	errLimit     = errors.New("event limit must be 0 to 16777216")
	errNegative  = errors.New("times, retries and counts must not be negative")
)

func (c *Config) validate() error {
	for kind, limit := range c.EventLimits {
		switch s := database.SlotOf(kind); {
		case s == database.Slots:
			return fmt.Errorf("outstation: event limit of %v %w", kind, errKind)
		case database.TraitsOf(s).Event == 0:
			return fmt.Errorf("outstation: event limit of %v: %w", kind, errStatic)
		}
		if limit < 0 || limit > event.MaxLimit {
			return fmt.Errorf("outstation: %v: %w", kind, errLimit)
		}
	}
	if c.SelectTimeout < 0 || c.MaxControls < 0 || c.TimeSync < 0 {
		return fmt.Errorf("outstation: %w", errNegative)
	}
	if err := attribute.Validate(c.Attributes, c.PrivateAttributes); err != nil {
		return err
	}
	if err := c.Files.Validate(); err != nil {
		return err
	}
	for i := range c.Points {
		if err := c.Points[i].validate(); err != nil {
			return fmt.Errorf("outstation: %v %d %w", c.Points[i].Kind, c.Points[i].Index, err)
		}
	}
	return nil
}

func (p *PointConfig) validate() error {
	s := database.SlotOf(p.Kind)
	switch {
	case s >= database.Values:
		return errKind
	case p.Index > math.MaxUint16:
		return errIndex
	case !single(p.Class) || !single(p.CommandClass):
		return errClass
	case database.TraitsOf(s).Event == 0 && (p.Class != 0 || p.Event != 0):
		return errStatic
	case p.CommandClass != 0 && database.CommandSlot(s) == database.Slots:
		return errCommand
	case p.CommandClass != 0 && !fits(p.CommandEvent, database.TraitsOf(database.CommandSlot(s)).Event):
		return errVariation
	case !fits(p.Static, database.TraitsOf(s).Static) || !fits(p.Event, database.TraitsOf(s).Event):
		return errVariation
	case s == database.Time && p.Static != 0 && p.Static != object.G50V4:
		return errVariation
	case p.Deadband < 0 || math.IsNaN(p.Deadband):
		return errDeadband
	}
	return nil
}

// single reports whether there is at most one event class.
func single(c app.Classes) bool {
	return c == 0 || c == app.Class1 || c == app.Class2 || c == app.Class3
}

// fits reports whether a variation is of the group of its default, or not given.
func fits(v, byDefault object.Variation) bool {
	if v == 0 {
		return true
	}
	return v.Known() && v.Group() == byDefault.Group() && v.Number() != 0
}
