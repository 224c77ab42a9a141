package main

import (
	"strings"
	"testing"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/declared"
)

// renaming says which device gets which name.
type renaming struct {
	Device string `json:"device" api:"required,max=300" doc:"Its path"`
	Name   string `json:"name" api:"required,max=64" doc:"The new last part of the path"`
}

// Renamed is a result that no other operation has.
type Renamed struct {
	Path  string   `json:"path" doc:"That the device has now"`
	State string   `json:"state" api:"one-of=online|offline"`
	Moved []string `json:"moved,omitempty" doc:"Points that have another path now"`
}

// What a stranger writes of an operation is its declaration alone.
func TestAnOperationThatIsDeclaredIsInEveryDocument(t *testing.T) {
	rename := operation.Declare[renaming, Renamed](operation.Spec{
		Name: "device.rename", Method: "device_rename", HTTP: "POST /devices/{device}/rename", Role: identity.Engineer, Remote: true, Audited: true, Body: 4 << 10,
		Summary: "Give a device another name", Result: "The device",
	})
	files, err := written("../../", append(declared.All(), rename.Declared()))
	if err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string][]string{
		documentFile: {
			"  /api/v1/devices/{device}/rename:\n    post:\n      summary: Give a device another name; needs the role engineer\n",
			"- { name: device, in: path, required: true, description: Its path, schema: { type: string, minLength: 1, maxLength: 300 } }",
			`schema: { $ref: "#/components/schemas/Renamed" }`,
			"    Renamed:\n      type: object\n      required: [path, state]\n",
			"        state: { type: string, enum: [online, offline] }\n",
			"        moved: { type: array, items: { type: string }, description: Points that have another path now }\n",
		},
		busFile: {
			"  device_rename:\n    action: send\n    summary: Give a device another name.\n",
			"    device_rename_args:\n      type: object\n      additionalProperties: false\n      required: [device, name]\n",
			"    device_rename_answer:\n", "    Renamed:\n",
		},
		pythonFile: {
			"    async def device_rename(\n        self,\n        *,\n        device: str,\n        name: str,\n",
			"    ) -> Renamed:\n        \"\"\"Give a device another name.\n", "        ``name``: The new last part of the path.\n",
		},
		rightsFile: {"| `device.rename` | `POST /devices/{device}/rename` | `device_rename` | engineer | `call node:device.rename` | `device.rename` |\n"},
	} {
		for _, part := range parts {
			if !strings.Contains(files[name], part) {
				t.Errorf("%s lacks\n%s", name, part)
			}
		}
	}
}

// Two types of a name would be one schema.
func TestTwoTypesOfANameAreRefused(t *testing.T) {
	type Devices struct {
		Rooms int `json:"rooms"`
	}
	of := operation.Declare[struct{}, Devices](operation.Spec{Name: "room.list", HTTP: "GET /rooms", Role: identity.Viewer})
	if _, err := written("../../", append(declared.All(), of.Declared())); err == nil || !strings.Contains(err.Error(), "both called Devices") {
		t.Errorf("two types called Devices give %v", err)
	}
}
