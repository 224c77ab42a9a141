package replica

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// Status is how a node is, as it says itself. What it cannot know is zero. The names of its fields in
// JSON are parts of its document; a node passes on parts that it does not know.
type Status struct {
	Version string   `json:"version,omitempty"` // of the program
	Roles   []string `json:"roles,omitempty"`   // what it is there for
	Started int64    `json:"started,omitempty"` // seconds since 1970, by its clock

	Link     string  `json:"link,omitempty"`      // connecting, connected or refused; "" without a parent
	LinkNote string  `json:"link_note,omitempty"` // why it is not connected, or why its data is not taken
	RTT      float64 `json:"rtt_ms,omitempty"`    // of a report and its answer
	Offset   float64 `json:"offset_ms,omitempty"` // its clock less that of its parent

	Waiting      uint64 `json:"waiting,omitempty"`       // samples that its parent does not have yet
	WaitingBytes uint64 `json:"waiting_bytes,omitempty"` // of them in its log, about
	WaitingSince int64  `json:"waiting_since,omitempty"` // when the oldest was recorded, seconds since 1970 by its clock

	Disk        int64    `json:"disk,omitempty"`      // bytes left for its data
	DiskSize    int64    `json:"disk_size,omitempty"` // bytes
	Temperature *float64 `json:"celsius,omitempty"`   // of the board; nil if it does not tell
	Memory      int64    `json:"memory,omitempty"`    // bytes
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

// parts returns a status field by field. The values belong to the map.
func (s *Status) parts() parts {
	s.Version, s.LinkNote, s.Note = clip(s.Version), clip(s.LinkNote), clip(s.Note)
	text, err := json.Marshal(s)
	var p parts
	if err != nil || json.Unmarshal(text, &p) != nil { // texts and numbers are always written
		return parts{}
	}
	return p
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

// status reads the parts that are a status. What another version means by a part that has another form is left out.
func (p parts) status() (s Status) {
	own := make(parts, len(p))
	for name, value := range p {
		if isFact(name) {
			own[name] = value
		}
	}
	text, err := json.Marshal(own)
	if err == nil && json.Unmarshal(text, &s) == nil {
		return s
	}
	s = Status{}
	for name, value := range own {
		one, err := json.Marshal(parts{name: value})
		before := s
		if err != nil || json.Unmarshal(one, &s) != nil {
			s = before
		}
	}
	return s
}

// Outage is a time in which a node was not connected to its parent, as that counted it. Times are milliseconds
// since 1970 by the parent's clock, figures are samples.
type Outage struct {
	From    int64  `json:"f"`
	Unknown int64  `json:"u,omitempty"` // since when nobody knows before From; 0: From was seen
	To      int64  `json:"t,omitempty"` // 0: it is still away
	Waited  uint64 `json:"w,omitempty"` // that were at the node and not at its parent, when it came back
	Coming  uint64 `json:"c,omitempty"` // of them those that are still not there
	Missing uint64 `json:"m,omitempty"` // of them those that it could not send any more
	Left    uint64 `json:"l,omitempty"` // of them those that were left out on purpose
	Done    int64  `json:"d,omitempty"` // when the last was on the parent's disk; 0: not yet
}

// Rounded is a figure with so many digits that it does not change with every look.
func Rounded(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
