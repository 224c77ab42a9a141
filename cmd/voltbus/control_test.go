package main

import (
	"encoding/json"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/cmd/voltbus/commands"
	"voltbus/cmd/voltbus/shell"
)

func TestAttackASetThatTheDeviceCutsDoesNotExitWithZero(t *testing.T) {
	soon := time.Date(2026, 3, 1, 12, 0, 10, 0, time.UTC)
	for _, tt := range []struct {
		result answer.Commanded
		code   int
	}{
		{answer.Commanded{Point: "p", Status: "accepted", Wins: true, Output: "held"}, 0},
		{answer.Commanded{Point: "p", Status: "accepted", Wins: true, Output: "differs", Reported: json.RawMessage("500")}, exitDiffers},
		{answer.Commanded{Point: "p", Status: "accepted", Wins: true, Output: "waiting", Later: &soon}, exitWaiting},
		{answer.Commanded{Point: "p", Status: "accepted", Wins: false, Output: "waiting"}, 0},
		{answer.Commanded{Point: "p", Status: "accepted", Wins: false, Output: "differs"}, 0}, // it waits behind another one
		{answer.Commanded{Point: "p", Status: "refused", Error: &answer.ControlError{Kind: "conflict", Message: "no"}}, exitRefused},
		{answer.Commanded{Point: "p", Status: "accepted", Error: &answer.ControlError{Kind: "conflict", Message: "it ended"}}, exitError},
		{answer.Commanded{Point: "p", Status: "failed", Output: "failed", Error: &answer.ControlError{Kind: "rejected", Message: "no"}}, exitError},
		{answer.Commanded{Point: "p", Status: "failed", Output: "failed", Error: &answer.ControlError{Kind: "unavailable", Message: "busy", Why: "declined"}}, exitError},
		{answer.Commanded{Point: "p", Status: "accepted", Wins: true, Output: "failed", Error: &answer.ControlError{Kind: "unreachable", Message: "no route"}}, exitUnreachable},
	} {
		code := 0
		if err := commands.Unfulfilled(&tt.result); err != nil {
			code = exitCode(err)
		}
		if code != tt.code {
			t.Errorf("%+v exits with %d, want %d", tt.result, code, tt.code)
		}
	}
}

func TestNegativeNumbersAreArguments(t *testing.T) {
	root := newRoot()
	for _, tt := range [][2][]string{
		{{"set", "p", "-7"}, {"set", "p", shell.Shield + "-7"}},
		{{"set", "p", "-.5", "q", "-1e3", "--lease", "5m"}, {"set", "p", shell.Shield + "-.5", "q", shell.Shield + "-1e3", "--lease", "5m"}},
		{{"set", "p", "7", "--level", "-3"}, {"set", "p", "7", "--level", "-3"}},
		{{"modbus", "write", "holding:1", "-7"}, {"modbus", "write", "holding:1", shell.Shield + "-7"}},
		{{"modbus", "decode", "-7"}, {"modbus", "decode", shell.Shield + "-7"}},
		{{"dnp3", "operate", "analog", "2", "-7"}, {"dnp3", "operate", "analog", "2", shell.Shield + "-7"}},
		{{"get", "-7"}, {"get", "-7"}},
	} {
		got := shell.Shielded(root, tt[0])
		for i := range got {
			if got[i] != tt[1][i] {
				t.Errorf("%q is %q", tt[0], got)
			}
		}
	}
}
