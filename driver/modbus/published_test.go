package modbus

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver"
	"voltbus/internal/folder"
)

// published.csv is written after the documented form of VOLTTRON's registries, as its scripts write them: with a
// byte order mark, CRLF, quoted cells, rows without a point name, several words for true, and other columns.
func TestAPublishedRegisterMapIsTakenAsItIs(t *testing.T) {
	c := NewConfig()
	c.Address, c.Registry.File = "plc", "published.csv"
	var notes []string
	for _, problem := range append(c.Load(folder.Any("testdata")), c.Validate()...) {
		p, ok := errors.AsType[*driver.Problem](problem)
		if !ok || !p.Note {
			t.Errorf("problem: %v", problem)
			continue
		}
		notes = append(notes, fmt.Sprintf("%s:%d: %s", p.File, p.Row, p.Text))
	}
	if diff := cmp.Diff([]string{
		`published.csv:1: column "Device Class" means nothing to this driver and is left out`,
		"published.csv:2: 2 rows without a Volttron Point Name left out: 2, 7",
	}, notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]summary{
		{"SupplyAir", "input", 1001, 2, "float", "degF", false, ""},
		{"FanEnable", "coil", 1, 1, "bool", "", true, "true"},
		{"SpeedCommand", "holding", 1003, 1, "int", "%", true, "50"},
		{"Mode", "holding", 1004, 1, "int", "", true, "0"},
		{"State", "discrete", 3, 1, "bool", "", false, ""},
	}, summaries(c)); diff != "" {
		t.Errorf("registers differ (-want +got):\n%s", diff)
	}
}

func TestARowWithoutANameIsAnErrorInARegistryOfThisPlatform(t *testing.T) {
	c := NewConfig()
	c.Address, c.Registry.Entries = "plc", []Entry{{Address: "1", Type: "int16"}}
	for _, problem := range append(c.Load(folder.Any(".")), c.Validate()...) {
		if p, ok := errors.AsType[*driver.Problem](problem); ok && !p.Note && p.Key == "registry[0].name" {
			return
		}
	}
	t.Error("nothing is said of the name")
}
