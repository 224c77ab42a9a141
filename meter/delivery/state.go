package delivery

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"voltbus/internal/atomicfile"
	"voltbus/meter/concentrator"
)

// saved is what is remembered over a restart. Place and counts belong together: a reading is counted once, however often it was sent.
type saved struct {
	Log     string              `json:"log"`
	Place   concentrator.Place  `json:"place"`
	Counts  concentrator.Counts `json:"counts"`
	Ends    map[string]uint64   `json:"ends"`              // samples of each origin of readings, up to the place
	Refused []Refused           `json:"refused,omitempty"` // the newest
}

// Refused is a reading that a system refused.
type Refused struct {
	Meter   string    `json:"meter"`
	Event   string    `json:"event,omitempty"` // the kind of an event, whose time is End
	Channel int       `json:"channel,omitempty"`
	Type    string    `json:"readingType,omitempty"`
	End     time.Time `json:"end"`
	Value   float64   `json:"value"`
	Reason  string    `json:"reason"`
	System  string    `json:"system"`
	At      time.Time `json:"at"` // when it was refused
}

// mostRefused is how many refused readings are listed.
const mostRefused = 200

// Check returns what is wrong with the content of the file of a delivery.
func Check(content []byte) error { return json.Unmarshal(content, &saved{}) }

// recall reads the file; one that is not there is as none.
func recall(file string) (saved, error) {
	var s saved
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return saved{}, err
	}
	return s, nil
}

func (s *saved) save(file string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Writer{}.Write(file, data, 0o600)
}
