package control

import (
	"errors"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Status is the outcome of a request.
type Status string

// The statuses.
const (
	Accepted Status = "accepted"
	Pending  Status = "pending" // it needs the approval of a second person
	Refused  Status = "refused"
	// Unfulfilled is an accepted command that the device declined, because it does not accept the value or is
	// busy: the command no longer exists, and its level is as before.
	Unfulfilled Status = "failed"
)

// Why names the reason of a refusal for programs.
type Why string

// The reasons.
const (
	WhyInvalid     Why = "invalid"          // the request is malformed
	WhyUnknown     Why = "unknown"          // there is no such point, command, task or override
	WhyReadOnly    Why = "read-only"        //
	WhyRange       Why = "range"            // the value is out of range or of the wrong kind
	WhyLease       Why = "lease"            // a lease is missing or too long
	WhyHeld        Why = "held"             // another requester holds the level
	WhyReserved    Why = "reserved"         // another requester's reservation
	WhyUnreserved  Why = "unreserved"       // the point requires a reservation
	WhyOverridden  Why = "overridden"       //
	WhyFenced      Why = "fenced"           // a newer leader of the group commands
	WhyInterlock   Why = "interlock"        //
	WhyReused      Why = "reused"           // the identifier belongs to another request
	WhyTaskExists  Why = "task-exists"      //
	WhyNotYours    Why = "not-yours"        // the thing belongs to another requester
	WhySelf        Why = "conflict-in-self" // windows of one request overlap
	WhyConflict    Why = "conflict"         // windows of other tasks overlap
	WhyPriority    Why = "priority"         // the priority is missing or unknown
	WhyFull        Why = "full"             // a bound of Limits is reached
	WhyDisapproved Why = "disapproved"      // the second person disapproved
	WhyDeclined    Why = "declined"         // the device declined, for now or permanently
)

// Decision answers a request. A refused one changed nothing, except what became due at its time, whose
// effects it carries too.
type Decision struct {
	Status  Status
	Why     Why          // the reason of a refusal
	Err     *fault.Error // for a refusal, or an unfulfilled command, in words; nil otherwise
	Holders []Holder     // who stands in the way
	Lost    []Holder     // tasks that were pre-empted for it
	Until   time.Time    // when the lease, override or wait for approval ends; zero: when relinquished
	Wins    bool         // for a command: whether the point follows it
	Later   time.Time    // when the point can follow, if a rate or minimum time delays it; otherwise zero
	Points  int          // for a revert: how many points revert
	Repeat  bool         // the request was decided before: this is the earlier decision, without effects
	Effects
}

// Effects are the consequences: what to write, and what happened.
type Effects struct {
	Writes []Write
	Events []Event
}

// Holder is a holder of control, and what it holds and when.
type Holder struct {
	Requester string     `json:"requester"`
	Task      string     `json:"task,omitempty"`    // of a reservation
	Command   string     `json:"command,omitempty"` // identifier, of a command
	Path      point.Path `json:"path,omitempty"`    // point, device or subtree; the pattern of an override
	Level     Level      `json:"level,omitempty"`   // for a command
	From      time.Time  `json:"from,omitzero"`
	Until     time.Time  `json:"until,omitzero"` // zero: until relinquished
	Reason    string     `json:"reason,omitempty"`
	Fence     Fence      `json:"fence,omitzero"` // of the leader that commands, or whose term is the newest
}

// Write asks the caller to set a point, or only to read it. The caller reports the outcome with Answer.
type Write struct {
	ID        uint64
	Point     point.Path
	Value     point.Value
	Release   bool // release the point to the device; there is no value
	Read      bool // only read the point
	Again     bool // an earlier attempt failed, which was reported
	Level     Level
	Place     Level  // the level of the value in the device's array; 0: the device has none
	Back      Places // the levels of that array where the device may hold earlier commands
	Cause     Cause
	Requester string // of the command; "" for a revert
	Command   string // its identifier
}

// Cause is the reason why something happened.
type Cause string

// The causes.
const (
	CauseCommand   Cause = "command"
	CauseReleased  Cause = "released"
	CauseReplaced  Cause = "replaced"  // by the same requester's next command
	CauseReserved  Cause = "reserved"  // by a command of the requester that reserved the point
	CauseFenced    Cause = "fenced"    // by a command of a newer leader of the group
	CauseExpired   Cause = "expired"   // a lease, an override, or the time to approve
	CauseTask      Cause = "task"      // its reservation ended
	CausePreempted Cause = "preempted" //
	CauseCanceled  Cause = "canceled"  //
	CauseLeft      Cause = "left"      // the requester died or was revoked
	CauseOverride  Cause = "override"  //
	CauseInterlock Cause = "interlock" //
	CauseDevice    Cause = "device"    // the device declined
	CauseRemoved   Cause = "removed"   // the point no longer exists
	CauseRetry     Cause = "retry"     // a write is retried, or its outcome is queried
	CauseCheck     Cause = "check"     // a reading, or the start of the node, makes the state of the point doubtful
	CauseAssert    Cause = "assert"    // the point lost the value it was set to
)

// EventKind is what happened.
type EventKind string

// The kinds of event.
const (
	CommandStarted  EventKind = "command-started"
	CommandEnded    EventKind = "command-ended"
	LeaseRenewed    EventKind = "lease-renewed"
	ApprovalAsked   EventKind = "approval-asked"
	ApprovalEnded   EventKind = "approval-ended"
	WindowStarted   EventKind = "window-started"
	WindowAnnounced EventKind = "window-announced" // repeatedly while it is active
	WindowEnded     EventKind = "window-ended"
	TaskMade        EventKind = "task-made"
	TaskEnded       EventKind = "task-ended"
	OverrideStarted EventKind = "override-started"
	OverrideEnded   EventKind = "override-ended"
	WriteConfirmed  EventKind = "write-confirmed"
	WriteDiffers    EventKind = "write-differs" // the device reports another value
	WriteFailed     EventKind = "write-failed"
	WriteUnknown    EventKind = "write-unknown"    // it is unknown whether the device accepted it
	PointRead       EventKind = "point-read"       // its value after an unknown outcome, or when the value it already has was commanded
	CommandRestored EventKind = "command-restored" // the device refused the command that replaced it
	Mismatched      EventKind = "mismatch"         // a reading shows another value than the point was set to
	MismatchEnded   EventKind = "mismatch-ended"
)

// Event is something that happened, for the audit log, announcements and screens.
type Event struct {
	Kind      EventKind
	Holder                // whom and what it concerns
	Cause     Cause       // why
	Value     point.Value // for a command or write; for a reading, what the point reports
	Commanded point.Value // for a mismatch, the value the point should have
	By        string      // who caused it, if not the holder or the passing of time
	Write     uint64      // for a write: its identifier
	Fault     fault.Kind  // for a failed write
	Text      string      // the device's message; untrusted
}

// Refuse returns a refusal.
func Refuse(op string, why Why, kind fault.Kind, subject string, err error) Decision {
	return Decision{Status: Refused, Why: why, Err: fault.E("control."+op, kind, subject, err)}
}

// ErrNotYours says why a command or reservation of another requester stays.
var ErrNotYours = errors.New("it belongs to somebody else")
