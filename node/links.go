package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/audit"
	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/fleet"
)

// turnedBelow notes that the link of a child was made or lost.
func (n *Node) turnedBelow(p bus.ConnectionEvent) {
	if child, is := strings.CutPrefix(p.Name, identity.ChildPrefix); is {
		n.links.Note(fleet.Turn{
			Neighbour: child, Up: p.Ended == "", Reason: p.Ended, Address: p.Address, Key: identity.KeyPrint(p.Key),
		})
	}
}

// turnedAbove notes that the parent was reached or lost.
func (n *Node) turnedAbove(parent string, lost error) {
	t := fleet.Turn{Neighbour: parent, Above: true, Up: lost == nil}
	if lost != nil {
		t.Reason = lost.Error()
		if f, is := errors.AsType[*fault.Error](lost); is && f.Err != nil {
			t.Reason = f.Err.Error() // whose link it is stands beside it
		}
	}
	n.links.Note(t)
}

// linkDetail is what the audit log has of a link beside the outcome: texts and numbers.
type linkDetail struct {
	Address string     `json:"address,omitempty"`
	Key     string     `json:"fingerprint,omitempty"`
	Ended   uint64     `json:"ended,omitempty"`
	Back    uint64     `json:"returned,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Up      *bool      `json:"connected,omitempty"`
}

// tellOfLink writes into the audit log that a link was made or lost, or a sum of that.
func (n *Node) tellOfLink(t fleet.Turn) {
	e := audit.Entry{Actor: "child:" + t.Neighbour, Action: "child.connected", Subject: t.Neighbour, Outcome: "ok"}
	detail := linkDetail{Address: t.Address, Key: t.Key, Ended: t.Lost, Back: t.Made}
	word := "connected"
	switch {
	case !t.Since.IsZero():
		word, e.Outcome = "flapped", flapped(&t)
		since := t.Since.UTC()
		detail.Since, detail.Up = &since, &t.Up
	case !t.Up:
		word, e.Outcome = "lost", t.Reason
	}
	e.Action = "child." + word
	if t.Above {
		e.Actor, e.Action = "node", "parent."+word
	}
	if detail != (linkDetail{}) {
		e.Detail, _ = json.Marshal(detail)
	}
	n.audit.Offer(e)
}

// flapped says in words what became of a link.
func flapped(t *fleet.Turn) string {
	var words []string
	for _, count := range []struct {
		word  string
		times uint64
	}{{"ended", t.Lost}, {"returned", t.Made}} {
		switch count.times {
		case 0:
		case 1:
			words = append(words, count.word+" once")
		default:
			words = append(words, fmt.Sprintf("%s %d times", count.word, count.times))
		}
	}
	text := strings.Join(words, " and ") + ", and is away now"
	if t.Up {
		text = strings.Join(words, " and ") + ", and is connected now"
	}
	if t.Reason != "" {
		text += "; the last end: " + t.Reason
	}
	return text
}
