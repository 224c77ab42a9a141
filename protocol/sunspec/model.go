// Package sunspec finds the SunSpec information models of a Modbus device and says where their points are. Definitions are those
// that the SunSpec Alliance publishes as JSON (Device Information Model Specification 1.2).
package sunspec

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the definitions
	"encoding/json"
	"fmt"
	"sync"
)

// Model is the definition of one information model.
type Model struct {
	ID    uint16 `json:"id"`
	Group Group  `json:"group"`
}

// Group is points that lie one behind the other, and groups behind them.
type Group struct {
	Name   string          `json:"name"`
	Label  string          `json:"label,omitempty"`
	Count  json.RawMessage `json:"count,omitempty"` // a number, or the name of the point that holds it; 0 fills the rest of the model
	Points []Point         `json:"points,omitempty"`
	Groups []Group         `json:"groups,omitempty"`
}

// Point is the definition of a point.
type Point struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"` // such as uint16, acc32, sunssf
	Size    int             `json:"size"` // registers
	Scale   json.RawMessage `json:"sf,omitempty"`
	Units   string          `json:"units,omitempty"`
	Access  string          `json:"access,omitempty"` // RW for what can be written
	Label   string          `json:"label,omitempty"`
	Desc    string          `json:"desc,omitempty"`
	Symbols []Symbol        `json:"symbols,omitempty"`
}

// Symbol names a value of an enumeration, or a bit of a bit field.
type Symbol struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

//go:embed definitions/models.json.gz
var packed []byte

var definitions = sync.OnceValues(func() (map[uint16]*Model, error) { //nolint:gochecknoglobals // never changed
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read the definitions of SunSpec: %w", err)
	}
	var list []*Model
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the definitions of SunSpec: %w", err)
	}
	byID := make(map[uint16]*Model, len(list))
	for _, m := range list {
		byID[m.ID] = m
	}
	return byID, nil
})

// Definition returns the definition of a model; nil for one that is not published, such as a vendor's.
func Definition(id uint16) (*Model, error) {
	all, err := definitions()
	return all[id], err
}
