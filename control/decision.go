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
	// Unfulfilled is what an accepted command has become to which the device said no, because it does not take
	// the value or is busy: it is gone, and its level is as it was before.
	Unfulfilled Status = "failed"
)

// Why names the reason of a refusal for programs.
type Why string

// The reasons.
const (
	WhyInvalid     Why = "invalid"          // the request is malformed
	WhyUnknown     Why = "unknown"          // there is no such point, command, task or override
	WhyReadOnly    Why = "read-only"        //
	WhyRange       Why = "range"            // the value does not fit
	WhyLease       Why = "lease"            // a lease is missing or too long
	WhyHeld        Why = "held"             // another requester holds the level
	WhyReserved    Why = "reserved"         // another requester's reservation
	WhyUnreserved  Why = "unreserved"       // the point demands a reservation
	WhyOverridden  Why = "overridden"       //
	WhyInterlock   Why = "interlock"        //
	WhyReused      Why = "reused"           // the identifier stands for another request
	WhyTaskExists  Why = "task-exists"      //
	WhyNotYours    Why = "not-yours"        // the thing belongs to another requester
	WhySelf        Why = "conflict-in-self" // windows of one request overlap
	WhyConflict    Why = "conflict"         // windows of other tasks overlap
	WhyPriority    Why = "priority"         // the priority is missing or unknown
	WhyFull        Why = "full"             // a bound of Limits is reached
	WhyDisapproved Why = "disapproved"      // the second person said no
	WhyDeclined    Why = "declined"         // the device said no, for now or for good
)

// Decision answers a request. A refused one changed nothing, apart from what became due at its time,
// whose effects it carries too.
type Decision struct {
	Status  Status
	Why     Why          // of a refusal
	Err     *fault.Error // of a refusal, or of an unfulfilled command, in words; nil otherwise
	Holders []Holder     // who stands in the way
	Lost    []Holder     // tasks that were pre-empted for it
	Until   time.Time    // when the lease, override or waiting for approval ends; zero: when relinquished
	Wins    bool         // of a command: whether the point follows it
	Later   time.Time    // when the point can follow, if a rate or minimum time holds it back; else zero
	Points  int          // of a revert: how many go back
	Repeat  bool         // the request was decided before: this is that decision, without effects
	Effects
}

// Effects is what follows: what is to be written, and what happened.
type Effects struct {
	Writes []Write
	Events []Event
}

// Holder is who holds what, and when.
type Holder struct {
	Requester string     `json:"requester"`
	Task      string     `json:"task,omitempty"`    // of a reservation
	Command   string     `json:"command,omitempty"` // identifier, of a command
	Path      point.Path `json:"path,omitempty"`    // point, device or subtree; the pattern of an override
	Level     Level      `json:"level,omitempty"`   // of a command
	From      time.Time  `json:"from,omitzero"`
	Until     time.Time  `json:"until,omitzero"` // zero: until relinquished
	Reason    string     `json:"reason,omitempty"`
}

// Write is a demand to the caller: set a point, or only read it. Its outcome comes back by Answer.
type Write struct {
	ID        uint64
	Point     point.Path
	Value     point.Value
	Release   bool // give the point back to the device; there is no value
	Read      bool // do not write: read the point
	Again     bool // an earlier try failed, which was told
	Level     Level
	Place     Level  // of the value in the array of the device; 0: it has none
	Back      Places // of that array: where the device may have what was commanded before
	Cause     Cause
	Requester string // of the command; "" of a revert
	Command   string // its identifier
}

// Cause says why something happened.
type Cause string

// The causes.
const (
	CauseCommand   Cause = "command"
	CauseReleased  Cause = "released"
	CauseReplaced  Cause = "replaced"  // by the same requester's next command
	CauseReserved  Cause = "reserved"  // by the command of who has reserved the point
	CauseExpired   Cause = "expired"   // a lease, an override, or the time to approve
	CauseTask      Cause = "task"      // its reservation ended
	CausePreempted Cause = "preempted" //
	CauseCanceled  Cause = "canceled"  //
	CauseLeft      Cause = "left"      // the requester died or was revoked
	CauseOverride  Cause = "override"  //
	CauseInterlock Cause = "interlock" //
	CauseDevice    Cause = "device"    // the device said no
	CauseRemoved   Cause = "removed"   // the point is no longer there
	CauseRetry     Cause = "retry"     // a write is tried again, or its outcome is asked for
	CauseCheck     Cause = "check"     // a reading, or the start of the node, makes it doubtful what the point holds
	CauseAssert    Cause = "assert"    // the point lost what it was set to
)

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	CommandStarted  EventKind = "command-started"
	CommandEnded    EventKind = "command-ended"
	LeaseRenewed    EventKind = "lease-renewed"
	ApprovalAsked   EventKind = "approval-asked"
	ApprovalEnded   EventKind = "approval-ended"
	WindowStarted   EventKind = "window-started"
	WindowAnnounced EventKind = "window-announced" // again and again while it is active
	WindowEnded     EventKind = "window-ended"
	TaskMade        EventKind = "task-made"
	TaskEnded       EventKind = "task-ended"
	OverrideStarted EventKind = "override-started"
	OverrideEnded   EventKind = "override-ended"
	WriteConfirmed  EventKind = "write-confirmed"
	WriteDiffers    EventKind = "write-differs" // the device reports another value
	WriteFailed     EventKind = "write-failed"
	WriteUnknown    EventKind = "write-unknown"    // whether the device took it is not known
	PointRead       EventKind = "point-read"       // what it holds after an unknown outcome, or when somebody asked for what it was set to already
	CommandRestored EventKind = "command-restored" // the device refused the command that replaced it
	Mismatched      EventKind = "mismatch"         // a reading shows another value than the point was set to
	MismatchEnded   EventKind = "mismatch-ended"
)

// Event is something that happened, for the audit, for announcements and for screens.
type Event struct {
	Kind      EventKind
	Holder                // who and what it is about
	Cause     Cause       // why
	Value     point.Value // of a command or write; what the point reports, of a reading
	Commanded point.Value // what the point should have, of a mismatch
	By        string      // who caused it, if it was not the holder or the course of time
	Write     uint64      // identifier, of a write
	Fault     fault.Kind  // of a write that failed
	Text      string      // the device's words; hostile
}

// Refuse makes a refusal.
func Refuse(op string, why Why, kind fault.Kind, subject string, err error) Decision {
	return Decision{Status: Refused, Why: why, Err: fault.E("control."+op, kind, subject, err)}
}

// ErrNotYours says why a command or reservation of another requester stays.
var ErrNotYours = errors.New("it belongs to somebody else")
