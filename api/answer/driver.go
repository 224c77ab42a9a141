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

// TrialOrder is the value of a point if its bytes stand in an order.
type TrialOrder struct {
	Order string          `json:"order" api:"one-of=ABCD|CDAB|BADC|DCBA" doc:"A is the most significant byte"`
	Value json.RawMessage `json:"value" api:"schema=Value"` // see ParseValue; null: the bytes mean none
	Used  bool            `json:"used" doc:"The configuration says this order"`
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

	At     string       `json:"at,omitempty" doc:"Where the device keeps it, such as holding 0–1; only if the driver says so, as modbus does"`
	Raw    []uint16     `json:"raw,omitempty" doc:"The words of 16 bits that the device sent for it; only if the driver shows them"`
	Orders []TrialOrder `json:"orders,omitempty" doc:"Its value in each order of the bytes; of numbers of several words"`

	Entry map[string]string `json:"entry,omitempty" doc:"Only if the trial found the point - what the list of points must say to have it, by column"`
}
