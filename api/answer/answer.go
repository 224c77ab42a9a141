// Package answer holds the shapes of the HTTP API: what the server writes and the clients read.
// Their documentation for other languages is api/openapi.yaml, which a test compares.
package answer

import (
	"encoding/json"
	"time"
)

// Version is the program that answers.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Session is who is logged in.
type Session struct {
	User string `json:"user"`
	Role string `json:"role"` // viewer, operator, engineer, administrator
}

// Point describes a point.
type Point struct {
	Path        string            `json:"path"`
	Kind        string            `json:"kind"` // none, float, int, bool, text
	Unit        string            `json:"unit"`
	Description string            `json:"description"`
	Writable    bool              `json:"writable"`
	Device      string            `json:"device"`
	Interval    float64           `json:"interval"` // seconds; 0 if unknown
	Tags        map[string]string `json:"tags"`
}

// Points is a page of points.
type Points struct {
	Points []Point `json:"points"`
	Next   string  `json:"next"` // the "after" of the next page; "" if this is the last
}

// Sample is the newest value of a point.
type Sample struct {
	Point   string          `json:"point"`
	Time    time.Time       `json:"time"`
	Value   json.RawMessage `json:"value"` // see ParseValue
	Kind    string          `json:"kind"`
	Quality string          `json:"quality"`
}

// Latest is the newest value of several points.
type Latest struct {
	Samples []Sample `json:"samples"`
	Sources []Source `json:"sources,omitempty"`
}

// SourcesHeader is the header of an export that holds its sources: a list of Source as JSON in ASCII.
const SourcesHeader = "Voltbus-Sources"

// Source is another node of which points were asked for.
type Source struct {
	Node    string     `json:"node"`
	State   string     `json:"state"`             // stored, asked, unreachable, refused, late or failed
	From    *time.Time `json:"from,omitempty"`    // what it was, or should have been, asked for begins here
	To      *time.Time `json:"to,omitempty"`      // and ends here
	Samples int        `json:"samples"`           // that it gave
	Since   *time.Time `json:"since,omitempty"`   // it is not connected
	Waiting uint64     `json:"waiting,omitempty"` // samples that it had not sent when it last told
	Missing string     `json:"missing,omitempty"` // the capability
	Why     string     `json:"why,omitempty"`
}

// Series are the samples of a point.
type Series struct {
	Point     string  `json:"point"`
	Unit      string  `json:"unit"`
	Kind      string  `json:"kind"`
	Samples   []Tuple `json:"samples"`
	Expected  *int64  `json:"expected"` // null if the point's interval is unknown
	Present   int64   `json:"present"`
	Extra     int64   `json:"extra"` // of those present, the ones that the interval does not ask for
	Bad       int64   `json:"bad"`
	Truncated bool    `json:"truncated,omitempty"` // the limit cut the samples
}

// Range is the samples of several points; also a plot.
type Range struct {
	Series       []Series  `json:"series"`
	Completeness *float64  `json:"completeness"` // 0 to 1; null if no interval is known, or no sample is expected
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Step         *float64  `json:"step,omitempty"` // of a plot: seconds, or 0 for all samples
	Next         string    `json:"next,omitempty"` // the "after" of the next page of points; "" if this is the last
	Sources      []Source  `json:"sources,omitempty"`
}

// Bucket summarises a step. Figures are null where there are no numbers.
type Bucket struct {
	Start    time.Time           `json:"start"`
	End      time.Time           `json:"end"`
	Count    uint64              `json:"count"`
	Bad      uint64              `json:"bad"`
	Expected *int64              `json:"expected"` // null if the point's interval is unknown
	Mean     *float64            `json:"mean"`
	Min      *float64            `json:"min"`
	Max      *float64            `json:"max"`
	Sum      *float64            `json:"sum"`
	First    *float64            `json:"first"`
	Last     *float64            `json:"last"`
	Values   map[string]*float64 `json:"values,omitempty"` // of the functions asked for, by their names
}

// Summary is one point in steps.
type Summary struct {
	Point    string   `json:"point"`
	Unit     string   `json:"unit"`
	Buckets  []Bucket `json:"buckets"`
	Expected *int64   `json:"expected"`
	Present  int64    `json:"present"`
	Extra    int64    `json:"extra"` // of those present, the ones that the interval does not ask for
	Bad      int64    `json:"bad"`
}

// Aggregate is several points in steps.
type Aggregate struct {
	Series       []Summary `json:"series"`
	Completeness *float64  `json:"completeness"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Step         float64   `json:"step"` // seconds; of days and months on average
	StepName     string    `json:"step_name"`
	Zone         string    `json:"zone"` // "" if steps begin at from
	Next         string    `json:"next"` // the "after" of the next page of points; "" if this is the last
	Sources      []Source  `json:"sources,omitempty"`
}

// Completeness is a heat map: a row for each branch, a cell for each step.
type Completeness struct {
	From time.Time         `json:"from"`
	To   time.Time         `json:"to"`
	Step float64           `json:"step"` // seconds
	Rows []CompletenessRow `json:"rows"`
	Next string            `json:"next"` // the "after" of the next page; "" if this is the last
}

// CompletenessRow is a branch of a heat map.
type CompletenessRow struct {
	Path     string     `json:"path"`
	Points   int        `json:"points"`
	Present  int64      `json:"present"`  // of the expected samples
	Expected int64      `json:"expected"` // by the intervals of the points
	Coverage []*float64 `json:"coverage"` // of each step, 0 to 1; null if nothing was expected
}

// Device is a device's state.
type Device struct {
	Path          string     `json:"path"`
	Driver        string     `json:"driver"`
	Line          string     `json:"line"`
	State         string     `json:"state"`           // online, offline, starting, disabled, hung
	Interval      float64    `json:"interval"`        // seconds
	Concern       string     `json:"concern"`         // what health says of it or of its line; "" if all is well
	Problem       string     `json:"problem"`         // why points are bad although it answers, and what to do; "" if none
	LastRead      *time.Time `json:"last_read"`       // null before the first
	LastError     string     `json:"last_error"`      // stays after a recovery; "" if there was none
	LastErrorTime *time.Time `json:"last_error_time"` // of LastError; null if there was none
	ErrorKind     string     `json:"error_kind"`      // a fault kind, "" if there was none
	Reads         uint64     `json:"reads"`
	Failures      uint64     `json:"failures"`
	Points        int        `json:"points"`
	Reports       uint64     `json:"reports"`    // samples that the device sent by itself
	Lost          uint64     `json:"lost"`       // of these that were lost before they were taken
	Misdated      uint64     `json:"misdated"`   // samples whose time by the device's clock was out of bounds: they have the time of their arrival
	LatencyMS     float64    `json:"latency_ms"` // of the last read
}

// Devices are all devices of the node.
type Devices struct {
	Devices []Device `json:"devices"`
}

// Ledger shows that nothing was lost, or what was.
type Ledger struct {
	State   string   `json:"state"`  // ok, paused, …
	Reason  string   `json:"reason"` // why it is not ok
	Origins []Origin `json:"origins"`
	Gaps    []Gap    `json:"gaps"`
	Log     Log      `json:"log"`
	Damaged []Damage `json:"damaged"`
	// Overwritten counts samples in the place of which another value of the same point and time was stored. Repeats do
	// not count.
	Overwritten uint64 `json:"overwritten"`
	// Sentence says of the whole subtree whether something was lost, Sum counts, and Nodes are the
	// accounts of its nodes, this one first.
	Sentence string       `json:"sentence"`
	Sum      LedgerSum    `json:"sum"`
	Nodes    []LedgerNode `json:"nodes"`
}

// Origin is the account of one origin, in samples.
type Origin struct {
	Origin         string `json:"origin"`
	Own            bool   `json:"own"` // of this node, not of one below it
	Produced       uint64 `json:"produced"`
	Acknowledged   uint64 `json:"acknowledged"`
	Stored         uint64 `json:"stored"`
	Refused        uint64 `json:"refused"`
	Missing        uint64 `json:"missing"`
	Repeated       uint64 `json:"repeated"`
	Left           uint64 `json:"left_out"` // left out on the way here, because nobody selected them
	BacklogBlocks  uint64 `json:"backlog_blocks"`
	BacklogSamples uint64 `json:"backlog_samples"`
	Balanced       bool   `json:"balanced"`
}

// Gap is a run of blocks that never arrived.
type Gap struct {
	Origin  string    `json:"origin"`
	First   uint64    `json:"first"`
	Last    uint64    `json:"last"`
	Samples uint64    `json:"samples"`
	Reason  string    `json:"reason"`
	Noticed time.Time `json:"noticed"`
}

// Log is the state of the durable log.
type Log struct {
	Bytes          uint64 `json:"bytes"`
	MaxBytes       uint64 `json:"max_bytes"`
	Blocks         uint64 `json:"blocks"`
	DroppedBlocks  uint64 `json:"dropped_blocks"`
	DroppedSamples uint64 `json:"dropped_samples"`
}

// Damage is a piece of the history that cannot be read.
type Damage struct {
	File    string    `json:"file"`
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	Reason  string    `json:"reason"`
	Noticed time.Time `json:"noticed"`
}

// Health says whether all is well. Without a login only Status is there.
type Health struct {
	Status  string    `json:"status"`           // ok, degraded, failed, starting
	Summary string    `json:"summary,omitzero"` // one sentence
	Started time.Time `json:"started,omitzero"`
	Parts   []Part    `json:"parts,omitempty"`
	// Concerns is what is not well, what is critical first; health is ok if there is nothing.
	Concerns []Concern `json:"concerns,omitempty"`
}

// Concern is something that is not well.
type Concern struct {
	Part     string     `json:"part"`
	Severity string     `json:"severity"`       // warning or critical
	Subject  string     `json:"subject"`        // what it is about: a path, a line, an agent, a node; "" for the node itself
	Sentence string     `json:"sentence"`       // for people
	Kind     string     `json:"kind,omitempty"` // a fault kind, of devices
	Since    *time.Time `json:"since"`          // null: unknown
	Link     string     `json:"link"`           // the page that shows it, from the root of the node's page
}

// Part is the health of a part of the node.
type Part struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Reason string `json:"reason"` // why it is not ok, and what to do
}

// Problem is an error, as RFC 9457 wants it.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Kind     string `json:"kind"`              // a fault kind
	Subject  string `json:"subject,omitempty"` // what it is about
	Instance string `json:"instance"`          // the request's path
	Node     string `json:"node,omitempty"`    // the other node that says so
	Missing  string `json:"missing,omitempty"` // of a refusal there: the capability

	Ingested *Ingested `json:"ingested,omitempty"` // of a body of which nothing was recorded

	Problems []ConfigProblem `json:"problems,omitempty"` // of a configuration that is wrong: all of them

	Raised *Raised `json:"raised,omitempty"` // by a method of an agent that was called

	Why     string   `json:"why,omitempty"`     // of a refusal of control, for programs: held, reserved, conflict, …
	Holders []Holder `json:"holders,omitempty"` // who stands in the way
}
