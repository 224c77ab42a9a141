package upload

import (
	"testing"

	"voltbus/fault"
)

func TestAttackUploadsOfOnePersonLeavePlacesForOthers(t *testing.T) {
	u := New(t.TempDir())
	var ends []func()
	for range eachUploads {
		end, err := u.begin("person:eve")
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if _, err := u.begin("person:eve"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one more of the same person: %v", err)
	}
	end, err := u.begin("person:ada")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range append(ends, end) {
		end()
	}
	if u.all != 0 || len(u.of) != 0 {
		t.Errorf("left: %d, %v", u.all, u.of)
	}
}
