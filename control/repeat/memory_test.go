package repeat

import (
	"fmt"
	"testing"

	"voltbus/control"
	"voltbus/control/step"
)

func TestWhatIsForgottenTakesNoRoom(t *testing.T) {
	m := New(step.New(control.Limits{Answers: 10}))
	accept := func() control.Decision { return control.Decision{Status: control.Accepted} }
	for i := range 5000 {
		m.Once(control.Ref{Requester: "ann", ID: fmt.Sprint(i)}, 1, accept)
		if i%7 == 6 {
			m.Close()
		}
	}
	if len(m.known) != 10 || len(m.ring) != 10 || len(m.sheets) > 3 {
		t.Errorf("there are %d answers, %d places and %d sheets, want 10, 10 and 3 at most", len(m.known), len(m.ring), len(m.sheets))
	}
}
