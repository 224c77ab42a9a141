package replica

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// Status is a node's own report of its state. Unknown values are zero. Its JSON field names are parts of its
// document; a node forwards parts that it does not know.
type Status struct {
	Version string   `json:"version,omitempty"` // of the program
	Roles   []string `json:"roles,omitempty"`   // its roles
	Started int64    `json:"started,omitempty"` // seconds since 1970, by its clock

	Link     string  `json:"link,omitempty"`      // connecting, connected or refused; "" without a parent
	LinkNote string  `json:"link_note,omitempty"` // why it is not connected, or why its data is not taken
	RTT      float64 `json:"rtt_ms,omitempty"`    // of a report and its answer
	Offset   float64 `json:"offset_ms,omitempty"` // its clock minus its parent's

	Waiting      uint64 `json:"waiting,omitempty"`       // samples that its parent does not have yet
	WaitingBytes uint64 `json:"waiting_bytes,omitempty"` // their approximate size in its log
	WaitingSince int64  `json:"waiting_since,omitempty"` // when the oldest was recorded, seconds since 1970 by its clock

	Disk        int64    `json:"disk,omitempty"`      // bytes left for its data
	DiskSize    int64    `json:"disk_size,omitempty"` // bytes
	Temperature *float64 `json:"celsius,omitempty"`   // of the board; nil if not reported
	Memory      int64    `json:"memory,omitempty"`    // bytes
	CPU         float64  `json:"cpu,omitempty"`       // processors in use

	Devices        int      `json:"devices,omitempty"`
	DevicesFailing int      `json:"devices_failing,omitempty"`
	Points         int      `json:"points,omitempty"` // of its own devices
	Agents         int      `json:"agents,omitempty"`
	AgentsFailing  int      `json:"agents_failing,omitempty"`
	Alerts         int      `json:"alerts,omitempty"`  // its own open alarms, of which alerts are some
	Outages        []Outage `json:"outages,omitempty"` // of its link to its parent, as known to the parent, newest first
	Health         string   `json:"health,omitempty"`  // ok or degraded
	Audit          string   `json:"audit,omitempty"`   // the end of its audit log, signed by it, so that it can verify it when it comes back
	Note           string   `json:"note,omitempty"`    // a message for people, for example that it reverted to an older configuration
}

// parts returns a status field by field. The map owns the values.
func (s *Status) parts() parts {
	s.Version, s.LinkNote, s.Note = clip(s.Version), clip(s.LinkNote), clip(s.Note)
	text, err := json.Marshal(s)
	var p parts
	if err != nil || json.Unmarshal(text, &p) != nil { // strings and numbers cannot fail
		return parts{}
	}
	return p
}

// clip bounds a string to what fits into a fact even when escaped.
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

// status decodes the parts of a status. Parts in another version's form are ignored.
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

// Outage is a time in which a node was not connected to its parent, as counted by the parent. Times are
// milliseconds since 1970 by the parent's clock, figures are samples.
type Outage struct {
	From    int64  `json:"f"`
	Unknown int64  `json:"u,omitempty"` // since when, before From, its presence is unknown; 0: From was observed
	To      int64  `json:"t,omitempty"` // 0: it is still away
	Waited  uint64 `json:"w,omitempty"` // samples that the node had and its parent did not, when it came back
	Coming  uint64 `json:"c,omitempty"` // those still not there
	Missing uint64 `json:"m,omitempty"` // those that it could no longer send
	Left    uint64 `json:"l,omitempty"` // those left out on purpose
	Done    int64  `json:"d,omitempty"` // when the last was on the parent's disk; 0: not yet
}

// Rounded rounds a figure so that it does not change with every reading.
func Rounded(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
