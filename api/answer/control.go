package answer

import (
	"encoding/json"
	"time"
)

// Holder is who holds what of control, and when: a command, a reservation, an override.
type Holder struct {
	Requester string     `json:"requester"`         // agent:<name>, person:<name>
	Task      string     `json:"task,omitempty"`    // of a reservation
	Command   string     `json:"command,omitempty"` // identifier, of a command
	Path      string     `json:"path,omitempty"`    // point, device or branch; the pattern of an override
	Level     int        `json:"level,omitempty"`   // of a command: 1, the most urgent, to 16
	From      *time.Time `json:"from,omitempty"`
	Until     *time.Time `json:"until,omitempty"` // missing: until released
	Reason    string     `json:"reason,omitempty"`
}

// ControlError says why something was not decided as wished, or was not carried out.
type ControlError struct {
	Kind    string   `json:"kind"` // a fault kind
	Message string   `json:"message"`
	Why     string   `json:"why,omitempty"`     // of a refusal, for programs: held, reserved, range, …
	Missing string   `json:"missing,omitempty"` // the capability, as a grant is written
	Holders []Holder `json:"holders,omitempty"` // who stands in the way
}

// Reading is a point as its device says it now.
type Reading struct {
	Point   string          `json:"point"`
	Time    *time.Time      `json:"time"` // null with an error
	Value   json.RawMessage `json:"value"`
	Kind    string          `json:"kind"`
	Quality string          `json:"quality"`
	Error   *ControlError   `json:"error,omitempty"`
}

// Freeze has a device copy its counters into frozen counters.
type Freeze struct {
	Device string `json:"device"`
	Clear  bool   `json:"clear,omitempty"` // and set them to zero
}

// Readings are points as their devices say them now, in the order of the request.
type Readings struct {
	Readings []Reading `json:"readings"`
}

// NewCommand is a wish to set a point.
type NewCommand struct {
	ID     string          `json:"id,omitempty"` // unique for who asks: a repeat gets the first answer; "" if the node is to choose
	Point  string          `json:"point"`
	Value  json.RawMessage `json:"value"`
	Level  int             `json:"level,omitempty"`                      // 1, the most urgent, to 16; 0: 16 of agents, 8 of people
	Lease  float64         `json:"lease,omitempty" api:"max=3153600000"` // seconds after which it ends by itself; 0: when released
	Reason string          `json:"reason,omitempty"`
	Task   string          `json:"task,omitempty"` // the reservation that it needs
}

// NewCommandList is read field by field, see Scan.
type NewCommandList []NewCommand

// NewCommands are commands that are decided together, each by itself.
type NewCommands struct {
	Commands NewCommandList `json:"commands"`
	Wait     *float64       `json:"wait,omitempty" api:"max=60"` // seconds to wait for what devices say; 0: not; nil: 10
}

// Commanded is what became of a command.
type Commanded struct {
	ID       string          `json:"id"`
	Point    string          `json:"point"`
	Status   string          `json:"status"`             // accepted, pending (a second person must agree), refused, failed (the device said no, for now or for good: it is gone, and its level is as it was)
	Wins     bool            `json:"wins"`               // the point follows it
	Until    *time.Time      `json:"until,omitempty"`    // when the lease or the time to approve ends
	Later    *time.Time      `json:"later,omitempty"`    // when the point can follow, if something holds it back
	Repeat   bool            `json:"repeat,omitempty"`   // it was decided before; this is that decision
	Output   string          `json:"output,omitempty"`   // idle, writing, waiting, held, differs, mismatch, failed, unknown
	Reported json.RawMessage `json:"reported,omitempty"` // what the device says
	Error    *ControlError   `json:"error,omitempty"`    // why it was refused, or not carried out
}

// CommandResults are what became of commands, in their order.
type CommandResults struct {
	Results []Commanded `json:"results"`
}

// CommandSelection chooses commands; what is left out chooses all.
type CommandSelection struct {
	Requester string  `json:"requester,omitempty"` // another one's; needs the role engineer
	Point     string  `json:"point,omitempty"`
	ID        string  `json:"id,omitempty"`
	Level     int     `json:"level,omitempty"`
	Task      string  `json:"task,omitempty"`
	All       bool    `json:"all,omitempty"`                        // of a release: every command and every reservation
	Lease     float64 `json:"lease,omitempty" api:"max=3153600000"` // of a renewal: seconds from now; 0: as long as each was
}

// Revert sends points back, whoever commands them.
type Revert struct {
	Path   string  `json:"path"`                             // with those below it: a device or a branch
	Spread float64 `json:"spread,omitempty" api:"max=86400"` // seconds over which the points go back, at most 86400; 0: all now
}

// Decided is what became of a request that was not refused.
type Decided struct {
	Status string     `json:"status"`           // accepted, pending
	Until  *time.Time `json:"until,omitempty"`  // when it ends by itself
	Lost   []Holder   `json:"lost,omitempty"`   // reservations that gave way
	Points int        `json:"points,omitempty"` // of a revert: how many go back
}

// Window is a device, point or branch for a span of time.
type Window struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // RFC 3339; "": now
	To   string `json:"to"`             // does not belong to it
}

// NewTask asks for windows, all or none.
type NewTask struct {
	ID       string   `json:"id,omitempty"` // unique for who asks: a repeat gets the first answer
	Task     string   `json:"task"`
	Priority string   `json:"priority,omitempty"` // high, low, low-preempt; "": low
	Reason   string   `json:"reason,omitempty"`
	Windows  []Window `json:"windows"`
}

// Task is a reservation.
type Task struct {
	Task      string   `json:"task"`
	Requester string   `json:"requester"`
	Priority  string   `json:"priority"`
	Reason    string   `json:"reason"`
	Windows   []Window `json:"windows"`   // that are left
	Active    []Window `json:"active"`    // of these, that have begun
	Started   bool     `json:"started"`   // its first window has begun
	Preempted bool     `json:"preempted"` // it ends soon, for another one
}

// Tasks are reservations, the oldest first.
type Tasks struct {
	Tasks []Task `json:"tasks"`
}

// Slot is a level of a priority array that is taken, or a command that waits.
type Slot struct {
	Holder
	Value json.RawMessage `json:"value"`
}

// Slots are commands, the oldest first.
type Slots struct {
	Commands []Slot `json:"commands"`
}

// Policy is what a point demands of commands. Times are in seconds, values in the point's unit; what is
// missing is not demanded.
type Policy struct {
	Reservation bool        `json:"reservation,omitempty"`  // only who has reserved the point
	Approval    bool        `json:"approval,omitempty"`     // a second person must agree
	Longest     float64     `json:"longest,omitempty"`      // a lease is demanded, of this length at most
	Range       *Limits     `json:"range,omitempty"`        // values that may be commanded
	Rate        *Rate       `json:"rate,omitempty"`         // how fast the point may change
	Assert      string      `json:"assert,omitempty"`       // when a value that the point lost is written again: return, always, never; "" is return
	AssertPause float64     `json:"assert_pause,omitempty"` // seconds between two such writes at least; 0 is 60
	Tolerance   float64     `json:"tolerance,omitempty"`    // how far a reading may be off, in the point's unit
	MinOn       float64     `json:"min_on,omitempty"`       // once on, it stays on
	MinOff      float64     `json:"min_off,omitempty"`      // once off, it stays off
	Interlocks  []Interlock `json:"interlocks,omitempty"`
}

// Limits are a span of numbers, ends included; a missing end is open.
type Limits struct {
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Rate bounds change: one step in a time, of a certain size at most.
type Rate struct {
	Most float64 `json:"most"`
	Per  float64 `json:"per"` // seconds
}

// Interlock allows values only while another point is within a range.
type Interlock struct {
	Guards *Limits `json:"guards,omitempty"` // own values that need it; missing: every one
	Other  string  `json:"other"`
	Needs  Limits  `json:"needs"`
}

// ControlPoint is a point as those see it who command it.
type ControlPoint struct {
	Point      string          `json:"point"`
	Device     string          `json:"device"`
	Unit       string          `json:"unit"`
	Kind       string          `json:"kind"`
	Writable   bool            `json:"writable"`
	Default    json.RawMessage `json:"default"`               // the relinquish default; null: none
	Revert     string          `json:"revert"`                // relinquish, default, before
	Policy     *Policy         `json:"policy,omitempty"`      // what it demands of commands; nil: nothing
	Array      []Slot          `json:"array"`                 // the levels that are taken, the most urgent first
	Overrides  []Holder        `json:"overrides"`             //
	Window     *Holder         `json:"window"`                // the reservation that holds it now; null: none
	Wish       json.RawMessage `json:"wish"`                  // what it should be; null: nothing is wished
	Reverting  bool            `json:"reverting"`             // the wish is what it goes back to
	Output     string          `json:"output"`                // idle, writing, waiting, held, differs, mismatch, failed, unknown
	Held       json.RawMessage `json:"held"`                  // what it was last set to, as far as known
	Reported   json.RawMessage `json:"reported"`              // what the device last answered
	Observed   json.RawMessage `json:"observed"`              // the last value that was read
	Later      *time.Time      `json:"later,omitempty"`       // when it goes on, if something holds it back
	Failures   int             `json:"failures"`              // of writes, in a row
	FailedWith string          `json:"failed_with,omitempty"` // the device's words
}

// ControlPoints is a page of points.
type ControlPoints struct {
	Points []ControlPoint `json:"points"`
	Next   string         `json:"next"` // the "after" of the next page; "" if this is the last
}

// Who says who holds a path, until when and why.
type Who struct {
	Points    []ControlPoint `json:"points"`    // at or below it, that are commanded or go back; a point itself always
	Tasks     []Task         `json:"tasks"`     // with windows above, at or below it
	Overrides []Holder       `json:"overrides"` // that select something of it
	Next      string         `json:"next"`      // there are more points: the "after" of control/points; "" if these are all
}

// NewOverride takes points out of control.
type NewOverride struct {
	ID       string  `json:"id,omitempty"`
	Pattern  string  `json:"pattern"`
	Reason   string  `json:"reason,omitempty"`
	Length   float64 `json:"length,omitempty" api:"max=3153600000"` // seconds; 0: until it is cleared
	Failsafe bool    `json:"failsafe,omitempty"`                    // every command ends and the points go back first
}

// Holders are overrides, the oldest first.
type Holders struct {
	Overrides []Holder `json:"overrides"`
}

// Approval is a second person's word about a command that waits.
type Approval struct {
	Requester string `json:"requester"`
	ID        string `json:"id"`
	Agree     *bool  `json:"agree"`
}

// ControlEvent is something that happened in control.
type ControlEvent struct {
	Event string `json:"event"` // command-started, command-ended, write-confirmed, window-started, …
	Holder
	Time  time.Time       `json:"time"`
	Cause string          `json:"cause,omitempty"`
	Value json.RawMessage `json:"value,omitempty"` // of a command or write; what the point reports, of a reading or mismatch
	Wish  json.RawMessage `json:"wish,omitempty"`  // what the point should report, of a mismatch
	By    string          `json:"by,omitempty"`
	Write uint64          `json:"write,omitempty"`
	Fault string          `json:"fault,omitempty"`
	Text  string          `json:"text,omitempty"`
}
