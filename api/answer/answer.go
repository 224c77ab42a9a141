// Package answer defines the types of the HTTP API that the server writes and clients read. api/openapi.yaml documents them for other
// languages; a test compares the two.
package answer

import (
	"encoding/json"
	"time"

	"voltbus/verdict/count"
)

// Version identifies the program that answers.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Point describes a point.
type Point struct {
	Path        string            `json:"path"`
	Kind        string            `json:"kind" api:"schema=Kind"` // none, float, int, bool, text
	Unit        string            `json:"unit"`
	Description string            `json:"description"`
	Writable    bool              `json:"writable"`
	Device      string            `json:"device"`
	Interval    float64           `json:"interval" api:"min=0" doc:"Seconds; 0 if unknown"`
	Tags        map[string]string `json:"tags"`
}

// Points is a page of points.
type Points struct {
	Points []Point `json:"points"`
	Next   string  `json:"next" doc:"The \"after\" of the next page; empty if this is the last"`
}

// Sample is the newest value of a point.
type Sample struct {
	Point   string          `json:"point"`
	Time    time.Time       `json:"time"`
	Value   json.RawMessage `json:"value" api:"schema=Value"` // see ParseValue
	Kind    string          `json:"kind" api:"schema=Kind"`
	Quality string          `json:"quality" api:"schema=Quality"`
}

// Latest holds the newest values of several points.
type Latest struct {
	Samples []Sample `json:"samples"`
	Sources []Source `json:"sources,omitempty" api:"schema=Sources"`
}

// SourcesHeader is the header of an export that lists its sources: a list of Source as ASCII JSON.
const SourcesHeader = "Voltbus-Sources"

// Source is another node whose points were queried.
type Source struct {
	Node    string     `json:"node"`
	State   string     `json:"state" api:"one-of=stored|asked|unreachable|refused|late|failed" doc:"stored: what it has of the time is stored here, it was not asked. asked: it answered. Otherwise what it did not send yet is missing: it is unreachable, refused that its points are read, was late, or failed"`
	From    *time.Time `json:"from,omitempty" doc:"What may be missing here of its points begins here; absent for the beginning"`
	To      *time.Time `json:"to,omitempty" doc:"What it was asked for ends here; absent for the newest"`
	Samples int        `json:"samples" api:"min=0" doc:"That it gave"`
	Since   *time.Time `json:"since,omitempty" doc:"Not connected since"`
	Waiting uint64     `json:"waiting,omitempty" doc:"Samples that it had not sent when it last told"`
	Missing string     `json:"missing,omitempty" doc:"The capability that it misses, such as read site/**"`
	Why     string     `json:"why,omitempty" doc:"What that means for the answer"`
}

// Series are the samples of a point.
type Series struct {
	Point     string  `json:"point"`
	Unit      string  `json:"unit"`
	Kind      string  `json:"kind" api:"schema=Kind"`
	Samples   []Tuple `json:"samples"`
	Expected  *int64  `json:"expected" api:"schema=Expected"` // null if the point's interval is unknown
	Present   int64   `json:"present" api:"schema=Count"`
	Extra     int64   `json:"extra" api:"schema=Extra"` // samples present beyond those that the interval expects
	Bad       int64   `json:"bad" api:"schema=Count"`
	Truncated bool    `json:"truncated,omitempty" doc:"The limit cut the samples; the counts are of the whole range"`
}

// Range holds the samples of several points; it also answers plots.
type Range struct {
	Series       []Series  `json:"series"`
	Completeness *float64  `json:"completeness" api:"schema=Completeness"` // 0 to 1; null if no interval is known, or no sample is expected
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Step         *float64  `json:"step,omitempty"`                            // for a plot: seconds, or 0 for all samples
	Next         string    `json:"next,omitempty" api:"schema=Next,required"` // "after" for the next page of points; "" on the last
	Sources      []Source  `json:"sources,omitempty" api:"schema=Sources"`
}

// Bucket summarises a step. Figures are null if there are no numbers.
type Bucket struct {
	Start    time.Time           `json:"start"`
	End      time.Time           `json:"end"`
	Count    uint64              `json:"count"`
	Bad      uint64              `json:"bad"`
	Expected *int64              `json:"expected" api:"schema=Expected"` // null if the point's interval is unknown
	Mean     *float64            `json:"mean" api:"schema=Figure"`
	Min      *float64            `json:"min" api:"schema=Figure"`
	Max      *float64            `json:"max" api:"schema=Figure"`
	Sum      *float64            `json:"sum" api:"schema=Figure"`
	First    *float64            `json:"first" api:"schema=Figure"`
	Last     *float64            `json:"last" api:"schema=Figure"`
	Values   map[string]*float64 `json:"values,omitempty" api:"items=Figure" doc:"Of the functions asked for, by name"`
}

// Summary summarises one point in steps.
type Summary struct {
	Point    string   `json:"point"`
	Unit     string   `json:"unit"`
	Buckets  []Bucket `json:"buckets"`
	Expected *int64   `json:"expected" api:"schema=Expected"`
	Present  int64    `json:"present" api:"schema=Count"`
	Extra    int64    `json:"extra" api:"schema=Extra"` // samples present beyond those that the interval expects
	Bad      int64    `json:"bad" api:"schema=Count"`
}

// Aggregate summarises several points in steps.
type Aggregate struct {
	Series       []Summary `json:"series"`
	Completeness *float64  `json:"completeness" api:"schema=Completeness"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Step         float64   `json:"step" doc:"Seconds; of days and months on average"`
	StepName     string    `json:"step_name" doc:"As it was asked for"`
	Zone         string    `json:"zone" doc:"Empty if steps begin at from"`
	Next         string    `json:"next" api:"schema=Next"` // "after" for the next page of points; "" on the last
	Sources      []Source  `json:"sources,omitempty" api:"schema=Sources"`
}

// Completeness is a heat map: a row for each branch, a cell for each step.
type Completeness struct {
	_ struct{} `api:"schema=CompletenessMap"`

	From time.Time         `json:"from"`
	To   time.Time         `json:"to"`
	Step float64           `json:"step" api:"min=0" doc:"Seconds"`
	Rows []CompletenessRow `json:"rows"`
	Next string            `json:"next" doc:"The \"after\" of the next page; empty if this is the last"`
}

// CompletenessRow is a branch of a heat map.
type CompletenessRow struct {
	Path     string     `json:"path"`
	Points   int        `json:"points" api:"schema=Count"`
	Present  int64      `json:"present" api:"min=0" doc:"Of the expected samples those with a usable value"`
	Expected int64      `json:"expected" api:"min=0" doc:"Samples that the intervals of the points ask for"`
	Coverage []*float64 `json:"coverage" doc:"Cell i is about the time from from + i·step, from 0 to 1; null if nothing was expected in it"`
}

// Device is a device's state.
type Device struct {
	Path          string     `json:"path"`
	Driver        string     `json:"driver"`
	Line          string     `json:"line"`
	State         string     `json:"state" api:"one-of=online|offline|starting|disabled|hung|elsewhere" doc:"hung: the driver of its line does not return; elsewhere: another replica may read it, see owner"`
	Owner         string     `json:"owner" api:"optional" doc:"The replica that reads it, if that is another one; empty if none does at the moment"`
	Interval      float64    `json:"interval" doc:"Seconds"`
	Concern       string     `json:"concern" doc:"What health says of it or of its line; empty if all is well"`
	Problem       string     `json:"problem" doc:"Why points are bad although the device answers, and what to do; empty if there is nothing"`
	LastRead      *time.Time `json:"last_read"` // null before the first read
	LastError     string     `json:"last_error" doc:"Stays after a recovery; empty if there was none"`
	LastErrorTime *time.Time `json:"last_error_time" doc:"Of last_error; null if there was none"`
	ErrorKind     string     `json:"error_kind"` // a fault kind, "" if there was none
	Reads         uint64     `json:"reads"`
	Failures      uint64     `json:"failures"`
	Points        int        `json:"points" api:"schema=Count"`
	Reports       uint64     `json:"reports" doc:"Samples that the device sent by itself"`
	Lost          uint64     `json:"lost" doc:"Reports that were lost before they were taken, one for each time that the device said it lost some"`
	Misdated      uint64     `json:"misdated" doc:"Samples whose time by the device's clock was out of bounds: they have the time of their arrival"`
	LatencyMS     float64    `json:"latency_ms"` // of the last read
}

// Devices are all devices of the node.
type Devices struct {
	Devices []Device `json:"devices"`
}

// Ledger shows that nothing was lost, or what was lost.
type Ledger struct {
	State   string   `json:"state"`  // ok, paused, …
	Reason  string   `json:"reason"` // why it is not ok
	Origins []Origin `json:"origins"`
	Gaps    []Gap    `json:"gaps"`
	Log     Log      `json:"log"`
	Damaged []Damage `json:"damaged"`
	// Overwritten counts samples that replaced another value of the same point and time. Repeats do not count.
	Overwritten uint64 `json:"overwritten" doc:"Samples in the place of which another value of the same point and time was stored; repeats do not count"`
	// Sentence says whether anything was lost in the whole subtree. Sum has its totals, and Nodes the accounts of its nodes, this one first.
	Sentence string       `json:"sentence" api:"optional" doc:"Of all nodes: whether something was lost, and what and why"`
	Sum      LedgerSum    `json:"sum" api:"optional"`
	Nodes    []LedgerNode `json:"nodes" api:"optional" doc:"This node first, then those below it, each after the one above it"`
}

// Origin is the account of one origin, in samples.
type Origin struct {
	Origin         string `json:"origin" doc:"A node's data directory, name~xxxxxx, or its urgent lane, name~xxxxxx!"`
	Own            bool   `json:"own" doc:"Whether it is of this node, not of one below it"`
	Produced       uint64 `json:"produced"`
	Acknowledged   uint64 `json:"acknowledged"`
	Stored         uint64 `json:"stored"`
	Refused        uint64 `json:"refused"`
	Missing        uint64 `json:"missing"`
	Repeated       uint64 `json:"repeated"`
	Left           uint64 `json:"left_out"` // not sent here, because nobody selected them or a rule withheld them
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

// Damage is a part of the history that cannot be read.
type Damage struct {
	File    string    `json:"file"`
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	Reason  string    `json:"reason"`
	Noticed time.Time `json:"noticed"`
}

// Health reports whether everything works. Without a login only Status is set.
type Health struct {
	Status  string `json:"status" api:"one-of=ok|degraded|failed|starting"` // ok, degraded, failed, starting
	Level   string `json:"level,omitzero" api:"one-of=good|wait|warn|bad" doc:"good: nothing is wrong; wait: devices were not read yet, or there are none; warn: there are concerns; bad: a concern is critical"`
	Summary string `json:"summary,omitzero" doc:"One sentence: first what is not well, and then what is"`
	Verdict string `json:"verdict,omitzero" doc:"The level in words"`

	Started  time.Time     `json:"started,omitzero"`
	Parts    []Part        `json:"parts,omitempty"`
	Counts   *count.Counts `json:"counts,omitempty"`
	Concerns []Concern     `json:"concerns,omitempty" doc:"What is not well, what is critical first; status is ok if there is nothing"`
}

// Concern is one thing that is wrong.
type Concern struct {
	_ struct{} `doc:"Something that is not well"`

	Part     string     `json:"part" api:"one-of=recorder|replicas|store|history|audit|state|metering|control|devices|registers|agents|alarms|alerts|approvals|configuration|nodes|destinations|uplink"`
	Severity string     `json:"severity" api:"one-of=warning|critical"` // warning or critical
	Subject  string     `json:"subject" doc:"What it is about: a path, a line, an agent, a node; empty for the node itself"`
	Sentence string     `json:"sentence" doc:"For people; may hold text of devices and agents"`
	Kind     string     `json:"kind,omitempty" doc:"A fault kind, of devices"`
	Since    *time.Time `json:"since" doc:"null: unknown"`
	Link     string     `json:"link" doc:"The page that shows it, from the root of the node's page"`
}

// Part is the health of a part of the node.
type Part struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Reason string `json:"reason"` // why it is not ok, and what to do
}

// Problem is an error in the form of RFC 9457.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Kind     string `json:"kind" api:"schema=FaultKind"` // a fault kind
	Subject  string `json:"subject,omitempty"`           // what it is about
	Instance string `json:"instance"`                    // the request's path
	Node     string `json:"node,omitempty" doc:"The other node that says so, if it is not the one that was asked"`
	Missing  string `json:"missing,omitempty" doc:"Of a refusal there: the capability, as a grant is written"`

	Ingested *Ingested `json:"ingested,omitempty"` // for a body of which nothing was recorded

	Problems []ConfigProblem `json:"problems,omitempty" doc:"All that is wrong with a configuration"`

	Raised *Raised `json:"raised,omitempty"` // by the method of an agent that was called

	Why     string   `json:"why,omitempty" doc:"Of a refusal of control, for programs: held, reserved, conflict, and others"`
	Holders []Holder `json:"holders,omitempty" doc:"Who stands in the way"`
}
