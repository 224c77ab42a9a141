package answer

import "encoding/json"

// Driver is a kind of device that the node can read.
type Driver struct {
	Kind   string          `json:"kind"`   // what stands as "driver" in the configuration
	Doc    string          `json:"doc"`    // one sentence
	Schema json.RawMessage `json:"schema"` // JSON Schema of its section: keys in order, with defaults and help
}

// Drivers are all kinds, by name.
type Drivers struct {
	Drivers []Driver `json:"drivers"`
}

// Trial is what a device answered when it was tried.
type Trial struct {
	Kind   string       `json:"kind"`   // "" if it answered, else a fault kind
	Detail string       `json:"detail"` // why it did not answer, in words
	TookMS float64      `json:"took_ms"`
	Total  int          `json:"total"`  // points of the device; the first of them are listed
	Points []TrialPoint `json:"points"` // none if it did not answer
	Notes  []string     `json:"notes"`  // what of the list of points was left out, and why
}

// TrialPoint is a point of a device that was tried.
type TrialPoint struct {
	Name        string          `json:"name"` // within the device
	Kind        string          `json:"kind"`
	Unit        string          `json:"unit"`
	Description string          `json:"description"`
	Writable    bool            `json:"writable"`
	Value       json.RawMessage `json:"value"` // see ParseValue
	Quality     string          `json:"quality"`

	Entry map[string]string `json:"entry,omitempty"` // of a point that was found: what its line of the list of points says
}
