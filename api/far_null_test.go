package api

import (
	"encoding/json"
	"testing"

	"voltbus/fault"
	"voltbus/identity"
)

func TestACommandThatIsNullIsRefusedAndNoDefect(t *testing.T) {
	for _, text := range []string{`[null]`, `[{"point":"a","value":1},null]`, `7`} {
		args := map[string]json.RawMessage{"commands": json.RawMessage(text)}
		if err := mayLevel(identity.User{Name: "ada", Role: identity.Operator}, args); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}
