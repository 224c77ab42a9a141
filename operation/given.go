package operation

import (
	"encoding/json"
	"fmt"

	"voltbus/fault"
)

// Given returns the arguments that a value of type In sets: those with non-zero values. A pointer to a zero value is set, too.
func (d *Declared) Given(in any) (Arguments, error) {
	text, err := json.Marshal(in)
	args := Arguments{}
	if err == nil {
		err = json.Unmarshal(text, &args)
	}
	if err != nil {
		return nil, fault.E("operation.Given", fault.Invalid, d.Name, fmt.Errorf("the arguments cannot be written: %w", err))
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		switch text := string(args[f.Name]); {
		case text == "null", !f.Pointer && (text == `""` || text == "0" || text == "false"):
			delete(args, f.Name)
		}
	}
	return args, nil
}
