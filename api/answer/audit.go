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
	Actor   string          `json:"actor" doc:"person:<name>, token:<name>, agent:<name> or node"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Outcome string          `json:"outcome" doc:"ok, or why it did not happen"`
	Detail  json.RawMessage `json:"detail,omitempty" doc:"More"`
	Hash    string          `json:"hash" api:"min=64,max=64" doc:"SHA-256, hexadecimal"`
}

// Audit is a page of the audit log, newest entry first.
type Audit struct {
	Entries []AuditEntry `json:"entries"`
	Next    uint64       `json:"next" doc:"The before of the next page; 0 if this is the last"`
	// Absent lists archives that may hold further matching entries but are not in the folder.
	Absent []AuditArchive `json:"absent,omitempty" doc:"Archives that may hold more entries of those that were asked for, and are not in the folder"`
}

// AuditReport reports whether the audit log is intact.
type AuditReport struct {
	Whole    bool           `json:"whole"`
	Entries  uint64         `json:"entries"`
	First    uint64         `json:"first" doc:"The number of the first entry; 0 if there is none"`
	Segments uint64         `json:"segments"`
	Head     string         `json:"head" doc:"Number and hash of the last entry, to be kept elsewhere"`
	Problems []AuditProblem `json:"problems"`
	More     uint64         `json:"more" doc:"Problems that are not listed"`
	Archives []AuditArchive `json:"archives,omitempty"`
}

// AuditProblem is a place where the chain is broken.
type AuditProblem struct {
	Seq    uint64 `json:"seq"`
	Detail string `json:"detail"`
	// Accepted says by whom, when and why the problem was accepted; "" if it was not.
	Accepted string `json:"accepted,omitempty" doc:"By whom, when and why it was accepted; absent if it was not"`
}

// AuditArchive is a file with the oldest entries of the audit log; they follow those of the previous archive.
type AuditArchive struct {
	File    string    `json:"file" doc:"Its name in the folder audit.archive"`
	First   uint64    `json:"first"`
	Last    uint64    `json:"last"`
	From    time.Time `json:"from" doc:"The earliest time of an entry"`
	To      time.Time `json:"to"`
	SHA256  string    `json:"sha256" doc:"Of the file"`
	Bytes   int64     `json:"octets" api:"min=0"`
	Here    bool      `json:"here" doc:"The file is in the folder"`
	Removed bool      `json:"removed" doc:"By the node, because it was kept for long enough"`
}
