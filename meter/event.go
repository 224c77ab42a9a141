package meter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// EventCode is the code of IEC 61968-9, annex E, in four numbers: type of device, domain, sub-domain, and event
// or action, such as "3.26.0.85".
type EventCode [4]uint16

// ParseEventCode reads the text of a code.
func ParseEventCode(text string) (EventCode, error) {
	var c EventCode
	parts := strings.Split(text, ".")
	if len(parts) != len(c) {
		return EventCode{}, fmt.Errorf("event code %q: write four numbers with dots between, such as 3.26.0.85", clip(text))
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || p[0] == '+' {
			return EventCode{}, fmt.Errorf("event code %q: %q: write a number from 0 to 65535", clip(text), clip(p))
		}
		c[i] = uint16(n)
	}
	return c, nil
}

// String returns the code as text.
func (c EventCode) String() string { return fmt.Sprintf("%d.%d.%d.%d", c[0], c[1], c[2], c[3]) }

// EventKind says what an event means to the program, whatever code a maker gives it. The numbers may be stored:
// never change them.
type EventKind uint8

// The kinds of event.
const (
	OtherEvent    EventKind = iota
	LastGasp                // the meter lost its supply and says so with what power it has left
	Restoration             // the supply is back
	Tamper                  // cover, terminal or magnetic field
	ReverseFlow             // energy flows against the direction that was agreed
	VoltageHigh             // above its limit
	VoltageLow              // below its limit
	ClockSet                // the clock was set by more than its limit
	BatteryLow              //
	RegisterReset           // a register began again at 0
	Disconnected            // the switch of the meter opened
	Connected               // the switch of the meter closed
)

var eventNames = [...]string{
	"other", "last-gasp", "restoration", "tamper", "reverse-flow", "voltage-high", "voltage-low", "clock-set",
	"battery-low", "register-reset", "disconnected", "connected",
}

// String returns the name, such as "last-gasp".
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return eventNames[OtherEvent]
}

// ParseEventKind is the inverse of String.
func ParseEventKind(name string) (EventKind, error) {
	for i, n := range eventNames {
		if n == name {
			return EventKind(i), nil
		}
	}
	return 0, fmt.Errorf("event kind %q: write one of %s", clip(name), strings.Join(eventNames[:], ", "))
}

// Severity orders events. The numbers may be stored: never change them.
type Severity uint8

// The severities.
const (
	Information Severity = iota
	Warning
	Critical
)

var severityNames = [...]string{"information", "warning", "critical"}

// String returns the name.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("severity(%d)", uint8(s))
}

// Severity returns how severe the kind is where nobody says otherwise.
func (k EventKind) Severity() Severity {
	switch k {
	case LastGasp, Tamper:
		return Critical
	case ReverseFlow, VoltageHigh, VoltageLow, BatteryLow, RegisterReset, Disconnected:
		return Warning
	default:
		return Information
	}
}

// Event is what a meter reports beside readings.
type Event struct {
	Meter    string
	At       time.Time // by the clock of the meter
	Kind     EventKind
	Code     EventCode // as the meter gave it; zero if it gave none
	Severity Severity
	Detail   string // text of the device: escape it before it is shown
}

// ParseSeverity is the inverse of Severity.String.
func ParseSeverity(name string) (Severity, error) {
	for i, n := range severityNames {
		if n == name {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("severity %q: write information, warning or critical", clip(name))
}

// MaxDetail is the most bytes of Event.Detail.
const MaxDetail = 256

// Text returns what an event is beside its meter and time, in one line: kind, severity and code, and the detail behind them.
func (e *Event) Text() string {
	text := e.Kind.String() + " " + e.Severity.String() + " " + e.Code.String()
	if e.Detail != "" {
		text += " " + e.Detail
	}
	return text
}

// SetText is the inverse of Text.
func (e *Event) SetText(text string) (err error) {
	parts := strings.SplitN(text, " ", 4)
	if len(parts) < 3 {
		return fmt.Errorf("event %q: kind, severity and code are expected", clip(text))
	}
	if e.Kind, err = ParseEventKind(parts[0]); err != nil {
		return err
	}
	if e.Severity, err = ParseSeverity(parts[1]); err != nil {
		return err
	}
	if e.Code, err = ParseEventCode(parts[2]); err != nil {
		return err
	}
	e.Detail = strings.Join(parts[3:], "")
	return nil
}
