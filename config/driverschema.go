package config

import (
	"encoding/json"
	"regexp"
)

// schemaRef is a reference from one part of the schema to another.
var schemaRef = regexp.MustCompile(`"#/\$defs/([^"]+)"`)

// DriverSchema returns the JSON Schema of a driver's section, with the definitions that it refers to under
// "$defs"; nil for a driver that the schema does not know.
func DriverSchema(driver string) json.RawMessage {
	var all struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	var entry struct {
		AllOf []struct {
			If struct {
				Properties struct {
					Driver struct {
						Const string `json:"const"`
					} `json:"driver"`
				} `json:"properties"`
			} `json:"if"`
			Then json.RawMessage `json:"then"`
		} `json:"allOf"`
	}
	if json.Unmarshal(schemaText, &all) != nil || json.Unmarshal(all.Defs["config.Entry"], &entry) != nil {
		return nil
	}
	for _, choice := range entry.AllOf {
		if m := schemaRef.FindSubmatch(choice.Then); choice.If.Properties.Driver.Const == driver && m != nil {
			return withDefs(string(m[1]), all.Defs)
		}
	}
	return nil
}

// withDefs returns a part of the schema with all definitions that it refers to.
func withDefs(name string, defs map[string]json.RawMessage) json.RawMessage {
	needed := map[string]json.RawMessage{}
	var collect func(json.RawMessage)
	collect = func(part json.RawMessage) {
		for _, m := range schemaRef.FindAllSubmatch(part, -1) {
			if def := string(m[1]); needed[def] == nil && defs[def] != nil {
				needed[def] = defs[def]
				collect(defs[def])
			}
		}
	}
	collect(defs[name])
	out := append([]byte(nil), defs[name]...)
	if len(needed) == 0 {
		return out
	}
	list, err := json.Marshal(needed)
	if err != nil {
		return nil
	}
	out = append(out[:len(out)-1], `,"$defs":`...)
	return append(append(out, list...), '}')
}
