// Package report holds the answers about devices that are tested, and those that a driver finds by itself.
package report

import "encoding/json"

// Search is what a driver found.
type Search struct {
	TookMS  float64     `json:"took_ms" api:"min=0"`
	Total   int         `json:"total" api:"min=0" doc:"Devices; at most the first 2,000 are listed"`
	Devices []Neighbour `json:"devices"`
	Gone    []string    `json:"gone" doc:"Paths of configured devices of the network that was asked, and did not answer"`
}

// Neighbour is a device that was found.
type Neighbour struct {
	Name   string            `json:"name" doc:"Of the device, made readable; empty if it has none"`
	Detail string            `json:"detail" doc:"What and where it is"`
	Note   string            `json:"note" doc:"What to know before it is added; empty for nothing"`
	Config json.RawMessage   `json:"config" api:"object" doc:"What the search found out for its configuration"`
	Facts  map[string]string `json:"facts" doc:"Columns of a table of devices, such as vendor, model, instance, address and objects, as far as the device tells them"`
	Device string            `json:"device" doc:"Path of the device in the configuration; empty if it is new"`
	Parts  []DevicePart      `json:"parts" doc:"What the device consists of, such as the models of SunSpec; empty if its protocol has no parts"`
}

// DevicePart is a part of a device.
type DevicePart struct {
	Number int    `json:"number" api:"min=0" doc:"Of the standard, such as 103 for a three-phase inverter"`
	Name   string `json:"name" doc:"In the standard; empty if its definition is not published"`
	At     string `json:"at" doc:"Where it is, such as holding 40070"`
	Points int    `json:"points" api:"min=0" doc:"That the device has"`
}

// Survey is what devices have.
type Survey struct {
	Devices []Surveyed `json:"devices" doc:"In the order of the request"`
}

// Surveyed is what one device has.
type Surveyed struct {
	Kind     string   `json:"kind" doc:"Empty if its points were found and can be added, else a fault kind"`
	Detail   string   `json:"detail" doc:"Why not"`
	Points   int      `json:"points" api:"min=0"`
	Guesses  int      `json:"guesses" api:"min=0" doc:"Points with a guess of what they are in the tag haystack_guess, which nobody has checked"`
	Registry string   `json:"registry" doc:"The list of its points as CSV, to stand as registry in its configuration"`
	Added    []string `json:"added" doc:"Of a configured device: names of points that its configuration lacks"`
	Gone     []string `json:"gone" doc:"Of a configured device: points of its configuration that it has no more"`
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
