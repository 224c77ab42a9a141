package acquisition

import (
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Status is the state of a device.
type Status uint8

// The statuses.
const (
	Starting  Status = iota // not read yet
	Online                  // the last scan was answered, even if with an error; a declined request does not change this
	Offline                 // the last scan or request was not answered, or its line is lost
	Disabled                // by configuration
	Hung                    // its line's driver has not returned; see State.LastError
	Elsewhere               // another replica reads it; see State.Owner
)

var statusNames = [...]string{"starting", "online", "offline", "disabled", "hung", "elsewhere"}

// String returns "starting", "online", "offline", "disabled", "hung" or "elsewhere".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler with String.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is the state of one device at the time of the call. Every slot of a device counts in exactly one of
// Reads, Failures, Skipped and Overruns; reads and writes on request count too.
type State struct {
	Path     point.Path
	Driver   string        // name of its driver
	Line     string        // name of its line
	Points   int           // number of points
	Interval time.Duration // between two reads; 0 if it only reports
	Status   Status
	Owner    string    // the replica that reads it if that is another one; "" if none does at the moment
	Since    time.Time // start of this status, UTC; zero while starting
	LastRead time.Time // last answer, UTC; zero if none

	Problem     string     // why points are bad although the device answers, and what to do; "" for none
	ProblemKind fault.Kind // of Problem
	Refuses     bool       // it answers, but no point can be read; Problem tells why

	LastError     string     // for people; stays after a recovery; "" if none
	LastErrorKind fault.Kind // of LastError
	LastErrorTime time.Time  // of LastError, UTC

	Reads    uint64        // requests that were answered
	Failures uint64        // requests that were not answered, or with an error
	Skipped  uint64        // slots reported as bad without a request: back-off
	Overruns uint64        // slots that passed while the line was busy
	Reports  uint64        // samples that the device sent on its own
	Lost     uint64        // reports lost before they were taken; see driver.Lossy
	Misdated uint64        // samples whose time was rejected; see driver.Dated
	Latency  time.Duration // of the last request
}
