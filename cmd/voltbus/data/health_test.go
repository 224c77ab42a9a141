package data

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/cmd/voltbus/agents"
	"voltbus/cmd/voltbus/shell"
)

func TestTheTracebackOfAnAgentIsReadable(t *testing.T) {
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	line := answer.ProcessLine{Level: "error", Stream: "stderr", Message: "a method raised", Extra: map[string]any{
		"method": "tick", "trace": "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: \x1bodd\n",
	}}
	if err := agents.PrintLine(shell.Session{Command: cmd}, line); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(out.String(), "a method raised")
	want := " {\"method\":\"tick\"}\nTraceback (most recent call last):\n  File \"a.py\", line 3\nValueError: "
	if !strings.HasPrefix(text, want) || strings.Contains(text, "\x1b") {
		t.Errorf("it is printed as %q", out.String())
	}
}

func TestHealthPrintsTheConcernsThatTheNodeTold(t *testing.T) {
	for _, tt := range []struct {
		health answer.Health
		want   []string
	}{
		{answer.Health{Status: "ok", Verdict: "All is well", Summary: "The only device answers"}, []string{"All is well: The only device answers"}},
		{
			answer.Health{Status: "degraded", Verdict: "Something is wrong", Summary: "0 of 1 device answer", Concerns: []answer.Concern{
				{Part: "devices", Severity: "critical", Sentence: "a does not answer: no \x1broute"},
				{Part: "alerts", Severity: "warning", Sentence: "warning of b: warm"},
			}},
			[]string{"Something is wrong (2 concerns): 0 of 1 device answer", "critical  devices", "a does not answer: no ", "warning of b: warm"},
		},
	} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		if err := printHealth(cmd, &tt.health); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "\x1b") {
				t.Errorf("%q is not in %q", want, out.String())
			}
		}
	}
}
