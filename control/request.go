package control

import (
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
)

// Command asks for a point to be set to a value.
type Command struct {
	ID        string // unique for its requester: a repeat gets the first answer
	Point     point.Path
	Requester string // agent, account or part; the caller vouches for it
	Task      string // the own reservation that it needs; "": it belongs to the one that is active, if any
	Level     Level
	Value     point.Value
	Reason    string        // for people
	Lease     time.Duration // ends by itself after this, unless renewed; 0: until relinquished
}

// Ref names a request: identifiers are unique for each requester.
type Ref struct{ Requester, ID string }

// Ref names the command.
func (c *Command) Ref() Ref { return Ref{c.Requester, c.ID} }

// Mark says whether two commands with one identifier are the same.
func (c *Command) Mark() uint64 {
	return Fingerprint(string(c.Point), c.Task, c.Value.Kind().String(), c.Value.String(), c.Reason,
		strconv.Itoa(int(c.Level)), strconv.FormatInt(int64(c.Lease), 10))
}

// Fingerprint hashes texts.
func Fingerprint(texts ...string) uint64 {
	hash := fnv.New64a()
	for _, text := range texts {
		_, _ = hash.Write([]byte(text))
		_, _ = hash.Write([]byte{0})
	}
	return hash.Sum64()
}

// Selection chooses commands of one requester; a field left empty chooses all.
type Selection struct {
	Command string     // identifier
	Point   point.Path // with those below it: a device or a branch chooses all of its points
	Level   Level
	Task    string
}

// Has reports whether the selection chooses a command.
func (s *Selection) Has(c *Command) bool {
	return (s.Command == "" || s.Command == c.ID) && (s.Point == "" || Covers(s.Point, c.Point)) &&
		(s.Level == 0 || s.Level == c.Level) && (s.Task == "" || s.Task == c.Task)
}

// Approval is the decision about a command that needs approval.
type Approval struct {
	Requester string // of the command
	Command   string // its identifier
	By        string // who decides, another one than the requester
	Agree     bool
}

// Override takes points out of control: no command reaches them while it lasts.
type Override struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Pattern   point.Pattern
	Requester string
	Reason    string
	Length    time.Duration // 0: until it is cleared
	// Failsafe ends every command of the points and reverts them first. Without it they stay as they
	// are, commands wait, and the points follow them when the override ends.
	Failsafe bool
}

// Mark says whether two overrides with one identifier are the same.
func (o *Override) Mark() uint64 {
	return Fingerprint(string(o.Pattern), o.Reason, o.Length.String(), strconv.FormatBool(o.Failsafe))
}

// Reversion ends all commands of points, whoever made them. Reservations and overrides stay.
type Reversion struct {
	Path point.Path // a point, or a device or branch for every point below it
	By   string
	// Spread is the time over which the points go back, so that a plant does not change at once: the first
	// now, the others after equal pauses, in the order of their paths. 0: all now.
	Spread time.Duration
}

// Priority says whom a reservation gives way to.
type Priority string

// The priorities. Only a reservation of priority High pre-empts others.
const (
	High       Priority = "high"        // gives way to nobody
	Low        Priority = "low"         // gives way until its first window starts
	LowPreempt Priority = "low-preempt" // always gives way; a running window keeps Limits.Grace
)

// Reservation asks for windows, all or none.
type Reservation struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Requester string
	Task      string // its name, unique on the node while it lasts
	Priority  Priority
	Windows   []Window
	Reason    string
}

// Mark says whether two reservations with one identifier are the same.
func (r *Reservation) Mark() uint64 {
	texts := []string{r.Task, string(r.Priority), r.Reason}
	for _, w := range r.Windows {
		texts = append(texts, string(w.Path), w.From.UTC().String(), w.Until.UTC().String())
	}
	return Fingerprint(texts...)
}

// Window is a device, point or subtree for a span of time; Until does not belong to it, so windows
// that touch do not overlap.
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

// Covers reports whether a path is a or lies below it.
func Covers(a, path point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(a))
	return found && (rest == "" || rest[0] == '/')
}

// Outcome is what came of a Write.
type Outcome struct {
	Write uint64      // its ID
	Value point.Value // what the point then reports; the zero Value if it reports nothing
	Err   error       // nil if it was carried out; its fault.Kind says what is known otherwise
	// Declined says that the request came to the device, or to its driver, and Err is its answer: no, for now or
	// for good. Without it an Err of a kind that may pass says that the device was not reached.
	Declined bool
	// Partial says that the device declined a value, and has not got the one before any more.
	Partial bool
}
