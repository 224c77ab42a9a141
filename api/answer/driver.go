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
