package cluster

import (
	"reflect"
	"testing"
	"time"

	"voltbus/protocol/mqtt/session"
)

func sample() *Entry {
	m := &session.Message{Topic: "a/b", Payload: []byte("1"), Properties: []byte{}, QoS: 2, Expires: time.Unix(9, 0), Sender: "d\x00c"}
	return &Entry{
		Replica: "r1", Epoch: 7, Number: 8, Applied: 9,
		Messages: []Message{{Message: m, All: true, Groups: []Target{{"r2", "g", "a/+"}}}},
		Sessions: []Session{{Key: "d\x00c", State: []byte{1, 2}, To: "r3", After: 6}, {Key: "d\x00e"}},
		Retained: []Retained{{Topic: "a/b", Device: "d", Message: m}, {Topic: "a/c"}},
		Claims:   []Claim{{From: "r3"}, {From: "r3", Key: "d\x00c"}},
		Devices:  []Device{{Name: "d", State: []byte("{}")}, {Name: "e"}},
	}
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	want := sample()
	got, err := ParseEntry(want.Append(nil))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v is read as %+v, %v", want, got, err)
	}
}

// An entry that is cut off is refused wherever it is cut.
func TestAttackAnEntryThatIsCutOffIsRefused(t *testing.T) {
	wire := sample().Append(nil)
	for n := range wire {
		if e, err := ParseEntry(wire[:n]); err == nil {
			t.Errorf("%d of %d bytes are read as %+v", n, len(wire), e)
		}
	}
	if _, err := ParseEntry(append(wire, 0)); err == nil {
		t.Error("an entry with more behind it is read")
	}
}

// A turn that is too large for one record keeps its order, and only its last part says up to where the sessions have their messages.
func TestALargeTurnIsSplit(t *testing.T) {
	e := &Entry{Applied: 5}
	big := &session.Message{Topic: "a", Payload: make([]byte, mostEntry/2+1)}
	for range 3 {
		e.Messages = append(e.Messages, Message{Message: big})
	}
	e.Sessions = append(e.Sessions, Session{Key: "a", State: []byte{1}})
	parts := e.split()
	if len(parts) != 3 {
		t.Fatalf("there are %d parts", len(parts))
	}
	for i, p := range parts {
		last := i == len(parts)-1
		if len(p.Messages) != 1 || (len(p.Sessions) == 1) != last || (p.Applied == 5) != last {
			t.Errorf("part %d is %d messages, %d sessions, up to %d", i, len(p.Messages), len(p.Sessions), p.Applied)
		}
	}
}

func TestARouteThatWasTakenOverStaysUntilItsOwnerKnows(t *testing.T) {
	r := newRoutes()
	r.hear("r1", "a/#", Members{1, 1}, 10)
	r.inheritAll("r2", "r1", 20)
	if r.has("r1") || !r.has("r2") {
		t.Error("the filters of the lost replica are not those of the other one")
	}
	r.hear("r2", "a/#", Members{}, 15) // it has not read that far
	if !r.has("r2") {
		t.Error("a filter that was taken over is forgotten too early")
	}
	r.hear("r2", "a/#", Members{}, 20)
	if r.has("r2") {
		t.Error("a filter that ended stays")
	}
}
