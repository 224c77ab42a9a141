package nodes

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"voltbus/api/answer"
)

func TestTheCostOfALinkIsToldInWords(t *testing.T) {
	for name, c := range map[string]struct {
		link answer.LiveLink
		want []string
	}{
		"nothing was ever said": {},
		"nobody listens":        {answer.LiveLink{Connected: true}, []string{"live up: nobody listens", "live down: nobody listens"}},
		"what is wanted, and what it cost": {
			answer.LiveLink{Connected: true, Up: answer.LiveFlow{Subjects: []string{"a", "b", "c", "d"}, Wanted: 30, Messages: 2, Bytes: 300, Dropped: 1}},
			[]string{"live up: 30 subjects wanted: a, b, c, …; 2 messages, 300 bytes, 1 dropped", "live down: nobody listens"},
		},
		"what was refused after the end": {
			answer.LiveLink{Refused: 1, Reason: "no"},
			[]string{"live up: nobody listens", "live down: nobody listens", "live refused: 1 message; the last: no"},
		},
		"what is withheld": {
			answer.LiveLink{Connected: true, Up: answer.LiveFlow{Subjects: []string{"live.scan.b1.>"}, Wanted: 1, Withheld: []answer.LiveWithheld{
				{Subject: "live.scan.b1.>", Node: "b1", Allow: "subscribe **"}, {Subject: "live.point.b1.>", Node: "ahu", Part: true, Allow: "subscribe x"},
			}}},
			[]string{
				"live up: 1 subject wanted: live.scan.b1.>",
				`live withheld: live.scan.b1.> does not come: b1 does not let it go up live; add "subscribe **" to its uplink.allow`,
				`live withheld: live.point.b1.> comes in part only: ahu does not let it go up live; add "subscribe x" to its uplink.allow`,
				"live down: nobody listens",
			},
		},
	} {
		var got []string
		showLive(&c.link, func(name, text string) { got = append(got, name+": "+text) })
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestTailSaysOnceWhatANodeWithholdsOfWhatIsShown(t *testing.T) {
	list := []answer.LiveWithheld{
		{Subject: "live.scan.b1.>", Node: "b1", Allow: "subscribe **"},
		{Subject: "live.point.b1.>", Node: "b1", Allow: "subscribe **"},
		{Subject: "msg.*.b2.>", Node: "b2", Allow: "subscribe **"},
		{Subject: "live.scan.b3.>", Node: "b3", Allow: "subscribe **"},
	}
	var said bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&said)
	told := map[string]bool{}
	for range 2 {
		tellWithheld(cmd.PrintErrln, list, "b1/ahu", told)
		tellWithheld(cmd.PrintErrln, list[2:3], "", told)
	}
	if want := "live.scan.b1.> does not come: b1 does not let it go up live; add \"subscribe **\" to its uplink.allow\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
