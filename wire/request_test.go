package wire_test

import (
	"testing"

	"voltbus/fault"
	"voltbus/wire"
)

func TestArgumentsMayBeMissingAndNothingElseMayBeThere(t *testing.T) {
	for _, body := range []string{"", " ", "{}", `{"args":[1]}`, `{"kwargs":{"a":null}}`, `{"args":[],"kwargs":{}}`} {
		if _, err := wire.ParseArguments([]byte(body)); err != nil {
			t.Errorf("%s gives %v", body, err)
		}
	}
	for _, body := range []string{"7", "[]", `{"arg":[]}`, `{"args":{}}`, `{} {}`, `{"args":[1}`} {
		if _, err := wire.ParseArguments([]byte(body)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s gives %v", body, err)
		}
	}
}
