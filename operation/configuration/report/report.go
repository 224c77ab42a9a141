// Package report holds the answers about devices that a driver finds by itself.
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
