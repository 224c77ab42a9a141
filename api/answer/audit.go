package answer

import (
	"encoding/json"
	"time"
)

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Seq     uint64          `json:"seq"`
	Segment uint64          `json:"segment"`
	Time    time.Time       `json:"time"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Outcome string          `json:"outcome"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Hash    string          `json:"hash"`
}

// Audit is a page of the audit log, the newest entry first.
type Audit struct {
	Entries []AuditEntry `json:"entries"`
	Next    uint64       `json:"next"` // the before of the next page; 0 if this is the last
	// Absent are archives that may hold more entries of those that were asked for, and are not in the folder.
	Absent []AuditArchive `json:"absent,omitempty"`
}

// AuditReport says whether the audit log is whole.
type AuditReport struct {
	Whole    bool           `json:"whole"`
	Entries  uint64         `json:"entries"`
	First    uint64         `json:"first"` // the number of the first entry; 0 if there is none
	Segments uint64         `json:"segments"`
	Head     string         `json:"head"` // number and hash of the last entry, to be kept elsewhere
	Problems []AuditProblem `json:"problems"`
	More     uint64         `json:"more"` // problems that are not listed
	Archives []AuditArchive `json:"archives,omitempty"`
}

// AuditProblem is a place where the chain does not hold.
type AuditProblem struct {
	Seq    uint64 `json:"seq"`
	Detail string `json:"detail"`
	// Accepted says by whom, when and why it was accepted; "" if it was not.
	Accepted string `json:"accepted,omitempty"`
}

// AuditArchive is a file with the oldest entries of the audit log, behind those of the one before.
type AuditArchive struct {
	File    string    `json:"file"` // in the folder audit.archive
	First   uint64    `json:"first"`
	Last    uint64    `json:"last"`
	From    time.Time `json:"from"` // the earliest time of an entry
	To      time.Time `json:"to"`
	SHA256  string    `json:"sha256"` // of the file
	Octets  int64     `json:"octets"`
	Here    bool      `json:"here"`    // the file is in the folder
	Removed bool      `json:"removed"` // by the node, because it was kept for long enough
}
