package control

import (
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
)

// Command requests that a point be set to a value.
type Command struct {
	ID        string // unique for its requester: a repeat gets the first answer
	Point     point.Path
	Requester string // agent, account or part; guaranteed by the caller
	Task      string // the requester's reservation that it needs; "": the active one, if any
	Level     Level
	Value     point.Value
	Reason    string        // for people
	Lease     time.Duration // ends by itself after this, unless renewed; 0: until relinquished
	Fence     Fence         // of the leader that commands; the zero Fence if there is none
}

// Ref identifies a request: identifiers are unique per requester.
type Ref struct{ Requester, ID string }

// Ref identifies the command.
func (c *Command) Ref() Ref { return Ref{c.Requester, c.ID} }

// Mark tells whether two commands with the same identifier are equal.
func (c *Command) Mark() uint64 {
	texts := []string{
		string(c.Point), c.Task, c.Value.Kind().String(), c.Value.String(), c.Reason, strconv.Itoa(int(c.Level)), strconv.FormatInt(int64(c.Lease), 10),
	}
	if f := c.Fence; f.Group != "" { // marks of commands without one are stored, and stay as they are
		texts = append(texts, f.Group, strconv.FormatUint(f.Term, 10), f.Leader)
	}
	return Fingerprint(texts...)
}

// Fingerprint hashes strings.
func Fingerprint(texts ...string) uint64 {
	hash := fnv.New64a()
	for _, text := range texts {
		_, _ = hash.Write([]byte(text))
		_, _ = hash.Write([]byte{0})
	}
	return hash.Sum64()
}

// Selection selects commands of one requester; an empty field selects all.
type Selection struct {
	Command string     // identifier
	Point   point.Path // including those below it: a device or a branch selects all of its points
	Level   Level
	Task    string
}

// Has reports whether the selection includes a command.
func (s *Selection) Has(c *Command) bool {
	return (s.Command == "" || s.Command == c.ID) && (s.Point == "" || Covers(s.Point, c.Point)) &&
		(s.Level == 0 || s.Level == c.Level) && (s.Task == "" || s.Task == c.Task)
}

// Approval is the decision about a command pending approval.
type Approval struct {
	Requester string // of the command
	Command   string // its identifier
	By        string // who decides, other than the requester
	Agree     bool
}

// Override takes points out of control: no command reaches them while it is in force.
type Override struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Pattern   point.Pattern
	Requester string
	Reason    string
	Length    time.Duration // 0: until it is cleared
	// Failsafe ends every command of the points and reverts them first. Without it they stay as they are,
	// commands are held back, and the points follow them when the override ends.
	Failsafe bool
}

// Mark tells whether two overrides with the same identifier are equal.
func (o *Override) Mark() uint64 {
	return Fingerprint(string(o.Pattern), o.Reason, o.Length.String(), strconv.FormatBool(o.Failsafe))
}

// Reversion ends all commands of points, whoever gave them. Reservations and overrides stay.
type Reversion struct {
	Path point.Path // a point, or a device or branch with every point below it
	By   string
	// Spread is the time over which the points revert, so that a plant does not change at once: the first
	// now, the others at equal intervals, in the order of their paths. 0: all now.
	Spread time.Duration
}

// Priority determines to whom a reservation gives way.
type Priority string

// The priorities. Only a reservation of priority High pre-empts others.
const (
	High       Priority = "high"        // gives way to nobody
	Low        Priority = "low"         // gives way until its first window starts
	LowPreempt Priority = "low-preempt" // always gives way; a running window keeps Limits.Grace
)

// Reservation requests windows, all or none.
type Reservation struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Requester string
	Task      string // its name, unique on the node while it exists
	Priority  Priority
	Windows   []Window
	Reason    string
}

// Mark tells whether two reservations with the same identifier are equal.
func (r *Reservation) Mark() uint64 {
	texts := []string{r.Task, string(r.Priority), r.Reason}
	for _, w := range r.Windows {
		texts = append(texts, string(w.Path), w.From.UTC().String(), w.Until.UTC().String())
	}
	return Fingerprint(texts...)
}

// Window is a device, point or subtree for a period; Until is exclusive, so adjacent windows do not overlap.
type Window struct {
	Path  point.Path `json:"path"`
	From  time.Time  `json:"from"`
	Until time.Time  `json:"until"`
}

// Overlaps reports whether two windows share a path and a time.
func (w *Window) Overlaps(other *Window) bool {
	return w.From.Before(other.Until) && other.From.Before(w.Until) &&
		(Covers(w.Path, other.Path) || Covers(other.Path, w.Path))
}

// Covers reports whether a path is at or below another.
func Covers(a, path point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(a))
	return found && (rest == "" || rest[0] == '/')
}

// Outcome is the outcome of a Write.
type Outcome struct {
	Write uint64      // its ID
	Value point.Value // what the point reports afterwards; the zero Value if nothing
	Err   error       // nil if it was carried out; otherwise its fault.Kind says what is known
	// Declined says that the request reached the device, or its driver, and Err is its refusal, for now or for
	// good. Without it, an Err of a temporary kind means that the device was not reached.
	Declined bool
	// Partial says that the device declined a value and no longer has the previous one.
	Partial bool
}
