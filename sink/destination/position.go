package destination

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/judge"
)

// position is the content of a destination's file: how far it is, and what became of the readings so far.
type position struct {
	Log      string `json:"log"`
	Sequence uint64 `json:"sequence"`
	Counts
	// Ends is, for each origin, the number of samples that it had recorded up to the last block seen. A later block that begins
	// above it tells how many are missing.
	Ends    map[string]uint64     `json:"ends,omitempty"`
	Begun   *int64                `json:"begun,omitempty"`   // the sum of Ends when the destination was added
	Newest  int64                 `json:"newest,omitempty"`  // time of the newest reading seen, microseconds since 1970 UTC
	Rules   map[string]RuleCounts `json:"rules,omitempty"`   // by name
	History *span                 `json:"history,omitempty"` // what is still to be sent from the history
}

// Counts are what became of the readings for a destination since it was added.
type Counts struct {
	Sent     uint64 `json:"sent"`               // accepted there
	Left     uint64 `json:"left"`               // not chosen by the configuration
	Refused  uint64 `json:"refused"`            // not accepted there
	Withheld uint64 `json:"withheld,omitempty"` // by a rule
	Missing  uint64 `json:"missing"`            // dropped by the log before they could be sent
	Filled   uint64 `json:"filled"`             // sent from the history, beside those above

	// Of those that were refused:
	Accepted  uint64 `json:"accepted"`  // later
	Discarded uint64 `json:"discarded"` // by a person

	// Of those that were withheld, and of those withheld from the history, which are beside the account, too:
	Released  uint64 `json:"released,omitempty"`  // sent later, because a person said so
	Dismissed uint64 `json:"dismissed,omitempty"` // discarded by a person
	Unkept    uint64 `json:"unkept,omitempty"`    // not kept, because there was no room
}

// RuleCounts are what a rule found in the readings for a destination.
type RuleCounts = judge.Counts

// accounted is of how many samples it is known what became of them, beside those of the history.
func (c *Counts) accounted() uint64 { return c.Sent + c.Left + c.Refused + c.Withheld + c.Missing }

// ended is the number of samples up to the last blocks seen, of all origins together.
func (p *position) ended() (n int64) {
	for _, end := range p.Ends {
		n += int64(end)
	}
	return n
}

// completed has the position of an earlier version begin where its account is balanced.
func (p *position) completed() {
	if p.Begun == nil {
		begun := p.ended() - int64(p.accounted())
		p.Begun = &begun
	}
}

// span is a part of the history that is being sent.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Next time.Time `json:"next"` // everything before it was sent
	// Log and Sequence are the position in the log that the history must have reached before it is read.
	Log      string `json:"log"`
	Sequence uint64 `json:"sequence"`
}

const folder = "sinks"

func positionFile(dir, name string) string { return filepath.Join(dir, folder, name+".json") }

// readPosition returns the content of a position file; false if there is none.
func readPosition(file string) (p position, found bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, false, fault.E("sinks.Open", fault.Corrupt, file, fmt.Errorf(
			"the position of the destination cannot be read: %w; remove the file: sending then begins with what is recorded next, and voltbus sinks backfill sends what is missing from the history", err))
	}
	return p, true, nil
}

func keepPosition(file string, p *position) error {
	data, err := json.Marshal(p)
	if err == nil {
		err = (atomicfile.Writer{}).Write(file, data, 0o600)
	}
	if err != nil {
		return fault.E("sinks.Append", fault.Unavailable, file, err)
	}
	return nil
}
