package answer

import "encoding/json"

// Driver is a type of device that the node can read.
type Driver struct {
	Kind     string          `json:"kind" doc:"What stands as driver in the configuration"`
	Doc      string          `json:"doc"` // one sentence
	Searches bool            `json:"searches,omitempty" doc:"It can find devices by itself"`
	Schema   json.RawMessage `json:"schema" api:"object" doc:"JSON Schema of its section: keys in order, with defaults and help"`
}

// Drivers are all drivers, by name.
type Drivers struct {
	Drivers []Driver `json:"drivers"`
}

// Trial is what a device answered when tested.
type Trial struct {
	Kind   string       `json:"kind" doc:"Empty if it answered, else a fault kind"`
	Detail string       `json:"detail" doc:"Why it did not answer"`
	TookMS float64      `json:"took_ms" api:"min=0"`
	Total  int          `json:"total" api:"min=0" doc:"Points of the device; at most the first 500 are listed"`
	Points []TrialPoint `json:"points"` // none if it did not answer
	Notes  []string     `json:"notes" doc:"What of the list of points was left out, and why"`
}

// TrialPoint is a point of a tested device.
type TrialPoint struct {
	Name        string          `json:"name" doc:"Within the device"`
	Kind        string          `json:"kind" api:"schema=Kind"`
	Unit        string          `json:"unit"`
	Description string          `json:"description"`
	Writable    bool            `json:"writable"`
	Value       json.RawMessage `json:"value" api:"schema=Value"` // see ParseValue
	Quality     string          `json:"quality" api:"schema=Quality"`

	Entry map[string]string `json:"entry,omitempty" doc:"Only if the trial found the point - what the list of points must say to have it, by column"`
}
