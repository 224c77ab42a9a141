package answer

import (
	"encoding/json"
	"time"
)

// Holder is a holder of control, and what it holds and when: a command, a reservation or an override.
type Holder struct {
	_ struct{} `api:"schema=ControlHolder" doc:"Who holds what, and when"`

	Requester string     `json:"requester" doc:"Such as agent:tune or person:ada"`
	Task      string     `json:"task,omitempty" doc:"Of a reservation"`
	Command   string     `json:"command,omitempty" doc:"Identifier of a command"`
	Path      string     `json:"path,omitempty" doc:"Point, device or branch; of an override its pattern"`
	Level     int        `json:"level,omitempty" api:"min=1,max=16"` // of a command: 1, the most urgent, to 16
	From      *time.Time `json:"from,omitempty"`
	Until     *time.Time `json:"until,omitempty" doc:"Missing: until it is released"`
	Reason    string     `json:"reason,omitempty"`
	Fence     *Fence     `json:"fence,omitempty" doc:"Of the leader that commands; of a refusal the newest one"`
}

// ControlError says why something was refused or not carried out.
type ControlError struct {
	Kind    string   `json:"kind" api:"schema=FaultKind"` // a fault kind
	Message string   `json:"message" doc:"What to do"`
	Why     string   `json:"why,omitempty" doc:"Of a refusal: invalid, unknown, read-only, range, lease, held, reserved, unreserved, overridden, fenced, interlock, reused, task-exists, not-yours, conflict-in-self, conflict, priority, full or disapproved"`
	Missing string   `json:"missing,omitempty" doc:"The capability, as a grant is written"`
	Holders []Holder `json:"holders,omitempty" doc:"Who stands in the way"`
}

// Reading is a point's current value according to its device.
type Reading struct {
	_ struct{} `api:"schema=ControlReading"`

	Point   string          `json:"point"`
	Time    *time.Time      `json:"time"` // null with an error
	Value   json.RawMessage `json:"value" api:"schema=Value"`
	Kind    string          `json:"kind" api:"one-of=none|float|int|bool|text"`
	Quality string          `json:"quality" api:"schema=Quality"`
	Error   *ControlError   `json:"error,omitempty"`
}

// Freeze makes a device copy its counters into frozen counters.
type Freeze struct {
	Device string `json:"device"`
	Clear  bool   `json:"clear,omitempty"` // and set them to zero
}

// Priorities is the priority array of a point in its device, with what all systems command there.
type Priorities struct {
	Point   string          `json:"point"`
	Levels  []Priority      `json:"levels" doc:"Those in use, the most urgent first"`
	Default json.RawMessage `json:"default" api:"schema=Value" doc:"The relinquish default of the device; null if it does not tell"`
	Own     int             `json:"own" api:"min=0,max=16" doc:"The level at which this node commands it now; 0 if at none"`
}

// Priority is a level in use.
type Priority struct {
	Level int             `json:"level" api:"min=1,max=16"`
	Value json.RawMessage `json:"value" api:"schema=Value"`
}

// Readings are current values according to the devices, in the order of the request.
type Readings struct {
	_ struct{} `api:"schema=ControlReadings"`

	Readings []Reading `json:"readings"`
}

// NewCommand asks to set a point.
type NewCommand struct {
	_ struct{} `doc:"What is wrong with one of many commands is in its result"`

	ID     string          `json:"id,omitempty" doc:"Unique for who asks, at most 255 bytes: a repeat gets the first answer"`
	Point  string          `json:"point" api:"optional" doc:"Needed"`
	Value  json.RawMessage `json:"value" api:"optional" doc:"Needed: a number, true, false or a text"`
	Level  int             `json:"level,omitempty" doc:"From 1, the most urgent, to 16: the smallest wins; left out: 8, of agents 16"`
	Lease  float64         `json:"lease,omitempty" api:"max=3153600000" doc:"Seconds after which it ends by itself; without it when it is released"`
	Reason string          `json:"reason,omitempty" doc:"For people"`
	Task   string          `json:"task,omitempty" doc:"The own reservation that it belongs to"`
	Fence  *Fence          `json:"fence,omitempty" doc:"Of the leader that commands: once a newer leader of its group commanded anything at the node, it is refused as fenced"`
}

// Fence says in which term of a group of controllers a leader commands.
type Fence struct {
	_      struct{} `api:"schema=ControlFence" doc:"A group of controllers, and the term of its leader"`
	Group  string   `json:"group" api:"judged"`
	Term   uint64   `json:"term" api:"judged" doc:"From 1; each leader has a higher one than those before"`
	Leader string   `json:"leader,omitempty" api:"judged" doc:"Of the term"`
}

// NewCommandList is decoded field by field, see Scan.
type NewCommandList []NewCommand

// NewCommands are commands that are sent together and decided individually.
type NewCommands struct {
	Commands NewCommandList `json:"commands" api:"judged,min=1,max=10000"`
	Wait     *float64       `json:"wait,omitempty" api:"max=60,min=0,default=10" doc:"Seconds to wait for what devices say; 0 to wait only until it is decided and kept"`
}

// Commanded is the outcome of a command.
type Commanded struct {
	ID       string          `json:"id"`
	Point    string          `json:"point"`
	Status   string          `json:"status" api:"one-of=accepted|pending|refused|failed" doc:"pending: a second person must agree; failed: the device refused it, so that it ended, and its level is as it was before"`
	Wins     bool            `json:"wins" doc:"The point follows it"`
	Until    *time.Time      `json:"until,omitempty" doc:"When the lease or the time to approve ends"`
	Later    *time.Time      `json:"later,omitempty" doc:"When the point can follow, if a rate or minimum time holds it back: the output is then waiting"`
	Repeat   bool            `json:"repeat,omitempty" doc:"It was decided before"`
	Output   string          `json:"output,omitempty" doc:"idle, writing, waiting, held, differs, mismatch, failed or unknown"`
	Reported json.RawMessage `json:"reported,omitempty" api:"schema=Value"` // what the device says
	Error    *ControlError   `json:"error,omitempty"`                       // why it was refused, or not carried out
}

// CommandResults are the outcomes of commands, in their order.
type CommandResults struct {
	Results []Commanded `json:"results"`
}

// CommandSelection chooses commands; an empty field selects all.
type CommandSelection struct {
	Requester string  `json:"requester,omitempty" api:"judged,max=255" doc:"Another one, such as agent:tune"`
	Point     string  `json:"point,omitempty" api:"judged,max=1024" doc:"With those below it, of a device or branch"`
	ID        string  `json:"id,omitempty" api:"judged,max=255"`
	Level     int     `json:"level,omitempty" doc:"From 1 to 16"`
	Task      string  `json:"task,omitempty" api:"judged,max=255"`
	All       bool    `json:"all,omitempty" doc:"Of a release: every command and every reservation"`
	Lease     float64 `json:"lease,omitempty" api:"max=3153600000,min=0" doc:"Of a renewal: seconds from now; without it as long as each was"`
}

// Revert ends all commands of points, whoever made them.
type Revert struct {
	_ struct{} `api:"schema=ControlRevert"`

	Path   string  `json:"path" api:"judged,min=1,max=1024" doc:"With those below it, of a device or branch"`
	Spread float64 `json:"spread,omitempty" api:"max=86400,min=0" doc:"Seconds over which the points go back; without it all go back now"`
}

// Decided is the outcome of a request that was not refused.
type Decided struct {
	_ struct{} `api:"schema=ControlDecided"`

	Status string     `json:"status" api:"one-of=accepted|pending"` // accepted, pending
	Until  *time.Time `json:"until,omitempty"`                      // when it ends by itself
	Lost   []Holder   `json:"lost,omitempty" doc:"Reservations that gave way"`
	Points int        `json:"points,omitempty" doc:"Of a revert: how many go back"`
}

// Window is a device, point or branch for a period.
type Window struct {
	_ struct{} `api:"schema=ControlWindow"`

	Path string `json:"path" api:"max=1024"`
	From string `json:"from,omitempty" api:"schema=Time" doc:"Without it now"`
	To   string `json:"to" api:"schema=Time" doc:"Does not belong to it"`
}

// NewTask requests windows, all or none.
type NewTask struct {
	ID       string   `json:"id,omitempty" api:"judged,max=255" doc:"Unique for who asks: a repeat gets the first answer"`
	Task     string   `json:"task" api:"judged,max=255" doc:"Its name"`
	Priority string   `json:"priority,omitempty" api:"judged,one-of=high|low|low-preempt,default=low" doc:"high: gives way to nobody and takes the place of others; low: gives way until it begins; low-preempt: always gives way"`
	Reason   string   `json:"reason,omitempty"`
	Windows  []Window `json:"windows" api:"judged,min=1,max=1000"`
}

// Task is a reservation.
type Task struct {
	_ struct{} `api:"schema=ControlTask"`

	Task      string   `json:"task"`
	Requester string   `json:"requester"`
	Priority  string   `json:"priority" api:"one-of=high|low|low-preempt"`
	Reason    string   `json:"reason"`
	Windows   []Window `json:"windows" doc:"That are left"`
	Active    []Window `json:"active" doc:"That have begun"`
	Started   bool     `json:"started" doc:"Its first window has begun"`
	Preempted bool     `json:"preempted" doc:"It ends soon, for another one"`
}

// Tasks are reservations, oldest first.
type Tasks struct {
	_ struct{} `api:"schema=ControlTasks"`

	Tasks []Task `json:"tasks"`
}

// Slot is an occupied level of a priority array, or a pending command.
type Slot struct {
	_ struct{} `api:"schema=ControlSlot" doc:"A level that is taken"`

	Holder
	Value json.RawMessage `json:"value" api:"schema=Value"`
}

// Slots are commands, oldest first.
type Slots struct {
	_ struct{} `api:"schema=ControlSlots"`

	Commands []Slot `json:"commands"`
}

// Policy is what a point requires of commands. Times are in seconds, values in the point's unit; an absent field requires nothing.
type Policy struct {
	_ struct{} `api:"schema=ControlPolicy" doc:"What a point demands of commands: times in seconds, values in its unit"`

	Reservation bool        `json:"reservation,omitempty" doc:"Only who has reserved the point"`
	Approval    bool        `json:"approval,omitempty" doc:"A second person must agree"`
	Longest     float64     `json:"longest,omitempty" doc:"A lease is demanded, of so many seconds at most"`
	Range       *Limits     `json:"range,omitempty"` // values that may be commanded
	Rate        *Rate       `json:"rate,omitempty" doc:"It follows in steps"`
	Assert      string      `json:"assert,omitempty" api:"one-of=return|always|never" doc:"When a value that the point lost is written again; missing: return, after it could not be read"`
	AssertPause float64     `json:"assert_pause,omitempty" doc:"Seconds between two such writes at least; missing for 60"`
	Tolerance   float64     `json:"tolerance,omitempty" doc:"How far a reading may be off, in the unit of the point"`
	MinOn       float64     `json:"min_on,omitempty" doc:"Once on, it stays on for so many seconds"`
	MinOff      float64     `json:"min_off,omitempty" doc:"Once off, it stays off for so many seconds"`
	Interlocks  []Interlock `json:"interlocks,omitempty"`
}

// Limits are an inclusive range of numbers; a missing end is open.
type Limits struct {
	_ struct{} `api:"schema=ControlRange" doc:"Numbers, ends included; a missing end is open"`

	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Rate bounds changes: at most one step of at most a given size in a given time.
type Rate struct {
	Most float64 `json:"most" doc:"The size of a step at most"`
	Per  float64 `json:"per" doc:"Seconds between two steps at least"`
}

// Interlock allows values only while another point is within a range.
type Interlock struct {
	Guards *Limits `json:"guards,omitempty"` // the point's own values that need it; missing: all
	Other  string  `json:"other" doc:"The point that must be within needs"`
	Needs  Limits  `json:"needs"`
}

// ControlPoint is a point as its commanders see it.
type ControlPoint struct {
	Point       string          `json:"point"`
	Device      string          `json:"device"`
	Description string          `json:"description" doc:"Of the registry; empty if it has none"`
	Unit        string          `json:"unit"`
	Kind        string          `json:"kind" api:"one-of=none|float|int|bool|text"`
	Writable    bool            `json:"writable"`
	Default     json.RawMessage `json:"default" api:"schema=Value"` // the relinquish default; null: none
	Revert      string          `json:"revert" api:"one-of=relinquish|default|before" doc:"What it is set to when its last command ended"`
	Policy      *Policy         `json:"policy,omitempty"` // what it requires of commands; nil: nothing
	Array       []Slot          `json:"array" doc:"The levels that are taken, the most urgent first"`
	InDevice    bool            `json:"array_in_device" doc:"Its device has a priority array of its own for it, see listPriorities"`
	Overrides   []Holder        `json:"overrides"`
	Window      *Holder         `json:"window" doc:"The reservation that holds it now"`
	Commanded   json.RawMessage `json:"commanded" api:"schema=Value"` // the commanded value; null: there is none
	Wish        json.RawMessage `json:"wish" api:"schema=Value"`      // the same, under its name before 0.5
	Reverting   bool            `json:"reverting" doc:"The commanded value is what the point goes back to"`
	Output      string          `json:"output" api:"one-of=idle|writing|waiting|held|differs|mismatch|failed|unknown"` // idle, writing, waiting, held, differs, mismatch, failed, unknown
	Held        json.RawMessage `json:"held" api:"schema=Value"`                                                       // what it was last set to, if known
	Reported    json.RawMessage `json:"reported" api:"schema=Value"`                                                   // what the device last answered
	Observed    json.RawMessage `json:"observed" api:"schema=Value"`                                                   // the last value read
	Later       *time.Time      `json:"later,omitempty" doc:"When it goes on, if something holds it back"`
	Failures    int             `json:"failures" doc:"Of writes, in a row"`
	FailedWith  string          `json:"failed_with,omitempty" doc:"The device's words"`
}

// ControlPoints is a page of points.
type ControlPoints struct {
	Points []ControlPoint `json:"points"`
	Next   string         `json:"next" doc:"The after of the next page; empty if this is the last"`
}

// Who reports who controls a path, until when and why.
type Who struct {
	_ struct{} `api:"schema=WhoHolds"`

	Points    []ControlPoint `json:"points" doc:"At or below the path, that are commanded or go back; the point itself always"`
	Tasks     []Task         `json:"tasks"`     // with windows above, at or below it
	Overrides []Holder       `json:"overrides"` // that select some of it
	Next      string         `json:"next" doc:"There are more points"`
}

// NewOverride takes points out of control.
type NewOverride struct {
	ID       string  `json:"id,omitempty" api:"judged,max=255"`
	Pattern  string  `json:"pattern" api:"judged,min=1,max=1024"`
	Reason   string  `json:"reason,omitempty"`
	Length   float64 `json:"length,omitempty" api:"max=3153600000,min=0" doc:"Seconds; without it until it is cleared"`
	Failsafe bool    `json:"failsafe,omitempty" doc:"Every command of the points ends and they go back first"`
}

// Holders are overrides, oldest first.
type Holders struct {
	_ struct{} `api:"schema=ControlOverrides"`

	Overrides []Holder `json:"overrides"`
}

// Approval is a second person's decision on a pending command.
type Approval struct {
	Requester string `json:"requester" api:"required,judged,max=255"`
	ID        string `json:"id" api:"required,judged,max=255"`
	Agree     *bool  `json:"agree" api:"required,judged"`
}

// ControlEvent is an event of control.
type ControlEvent struct {
	Event string `json:"event" doc:"command-started, command-ended, lease-renewed, approval-asked, approval-ended, window-started, window-announced, window-ended, task-made, task-ended, override-started, override-ended, write-confirmed, write-differs, write-failed, write-unknown, point-read, command-restored, mismatch or mismatch-ended"`
	Holder
	Time      time.Time       `json:"time"`
	Cause     string          `json:"cause,omitempty"`
	Value     json.RawMessage `json:"value,omitempty" api:"schema=Value"`     // for a command or write; for a reading or mismatch, what the point reports
	Commanded json.RawMessage `json:"commanded,omitempty" api:"schema=Value"` // for a mismatch, what the point should report
	Wish      json.RawMessage `json:"wish,omitempty" api:"schema=Value"`      // the same, under its name before 0.5
	By        string          `json:"by,omitempty"`
	Write     uint64          `json:"write,omitempty"`
	Fault     string          `json:"fault,omitempty" api:"schema=FaultKind"`
	Text      string          `json:"text,omitempty" doc:"The device's words"`
}

// Value returns the commanded value, also from the answer of a node before 0.5.
func (p *ControlPoint) Value() json.RawMessage {
	if p.Commanded == nil {
		return p.Wish
	}
	return p.Commanded
}
