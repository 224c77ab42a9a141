// Package fleet knows how the nodes of a tree are. Each node tells its parent how it is every ten
// seconds, only what changed, and passes on what those below it told, so that every node knows all
// below it. The package is given a function that asks the parent, and knows no bus.
package fleet

import (
	"encoding/json"
	"errors"
	"math"
	"time"
	"unicode/utf8"
)

// ReportMethod is what a child asks of its parent: a Report, answered with a Reception.
const ReportMethod = "fleet.report"

// Bounds of what a child tells.
const (
	maxFacts  = 96      // of a node
	maxValue  = 512     // octets of a fact
	maxName   = 64      // octets of the name of a node or a fact
	maxNodes  = 10_000  // below a child
	maxReport = 1 << 20 // octets of a report; senders stay far below

	maxOctets  = 64 << 20 // of the facts of all nodes below a child, in memory
	factOctets = 64       // of a fact beside its name and value
)

// Status is how a node is, as it says itself. What it cannot know is zero. The names of its fields in
// JSON are the facts of a report; a node passes on facts that it does not know.
type Status struct {
	Version string   `json:"version,omitempty"` // of the program
	Roles   []string `json:"roles,omitempty"`   // what it is there for
	Started int64    `json:"started,omitempty"` // seconds since 1970, by its clock

	Link     string  `json:"link,omitempty"`      // connecting, connected or refused; "" without a parent
	LinkNote string  `json:"link_note,omitempty"` // why it is not connected, or why its data is not taken
	RTT      float64 `json:"rtt_ms,omitempty"`    // of a report and its answer
	Offset   float64 `json:"offset_ms,omitempty"` // its clock less that of its parent

	Waiting       uint64 `json:"waiting,omitempty"`        // samples that its parent does not have yet
	WaitingOctets uint64 `json:"waiting_octets,omitempty"` // of them in its log, about
	WaitingSince  int64  `json:"waiting_since,omitempty"`  // when the oldest was recorded, seconds since 1970 by its clock

	Disk        int64    `json:"disk,omitempty"`      // octets left for its data
	DiskSize    int64    `json:"disk_size,omitempty"` // octets
	Temperature *float64 `json:"celsius,omitempty"`   // of the board; nil if it does not tell
	Memory      int64    `json:"memory,omitempty"`    // octets
	CPU         float64  `json:"cpu,omitempty"`       // processors in use

	Devices        int      `json:"devices,omitempty"`
	DevicesFailing int      `json:"devices_failing,omitempty"`
	Points         int      `json:"points,omitempty"` // of its own devices
	Agents         int      `json:"agents,omitempty"`
	AgentsFailing  int      `json:"agents_failing,omitempty"`
	Alerts         int      `json:"alerts,omitempty"`
	Outages        []Outage `json:"outages,omitempty"` // of its way to its parent, as that knows them, the newest first
	Health         string   `json:"health,omitempty"`  // ok or degraded
	Audit          string   `json:"audit,omitempty"`   // where its audit log ends, signed by it, so that it believes it when it comes back
	Note           string   `json:"note,omitempty"`    // what a person should know, such as that it went back to an older configuration
}

// facts is a status, field by field. The values belong to the map.
type facts map[string]json.RawMessage

func factsOf(s *Status) facts {
	s.Version, s.LinkNote, s.Note = clip(s.Version), clip(s.LinkNote), clip(s.Note)
	text, err := json.Marshal(s)
	var f facts
	if err != nil || json.Unmarshal(text, &f) != nil { // texts and numbers are always written
		return facts{}
	}
	return f
}

// clip bounds a text to what fits into a fact, however it is escaped.
func clip(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// status reads facts. What another version means by a fact that has another form is left out.
func (f facts) status() (s Status) {
	text, err := json.Marshal(f)
	if err == nil && json.Unmarshal(text, &s) == nil {
		return s
	}
	s = Status{}
	for name, value := range f {
		one, err := json.Marshal(facts{name: value})
		before := s
		if err != nil || json.Unmarshal(one, &s) != nil {
			s = before
		}
	}
	return s
}

// Entry is what is told of a node.
type Entry struct {
	Node string `json:"n,omitempty"` // "" for the one that tells
	Full bool   `json:"f,omitempty"` // facts that are not here are no more
	// Age is how many milliseconds ago the node told it.
	Age   int64 `json:"a,omitempty"`
	Facts facts `json:"s,omitempty"` // those that changed; null for one that is no more
}

// Report is what a node tells its parent.
type Report struct {
	Time  time.Time `json:"time"` // the clock of the one that tells
	Nodes []Entry   `json:"nodes"`
}

// Reception is the answer.
type Reception struct {
	Time time.Time `json:"time"` // the clock of the parent
	// Again asks for everything once more: what changed is told of a node of which nothing is known.
	Again bool `json:"again,omitempty"`
	// Audit is the newest of what the child told as Status.Audit before this report.
	Audit string `json:"audit,omitempty"`
}

var (
	errReport = errors.New("is not a report of how nodes are; is the version of that node's program much newer than this one's?")
	errLong   = errors.New("holds more than a node has to say of itself")
)

// check judges an entry that somebody sent.
func (e *Entry) check() error {
	if len(e.Node) > maxName || len(e.Facts) > maxFacts {
		return errLong
	}
	for name, value := range e.Facts {
		if len(name) > maxName || len(value) > maxValue {
			return errLong
		}
	}
	return nil
}

// Rounded is a figure with so many digits that it does not change with every look.
func Rounded(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
