package app_test

import (
	"strings"
	"testing"

	"voltbus/protocol/dnp3/app"
)

func TestSequencesWrap(t *testing.T) {
	if got := app.Sequence(15).Next(); got != 0 {
		t.Errorf("15 is followed by %d", got)
	}
	c := app.Sequence(9).Single()
	if !c.First() || !c.Final() || c.Confirm() || c.Unsolicited() || c.Sequence() != 9 {
		t.Errorf("control is %v", c)
	}
}

func TestOnlySomeRequestsAreAnswered(t *testing.T) {
	var silent []string
	for f := range app.Function(132) {
		if f.Known() && !f.Answered() {
			silent = append(silent, f.String())
		}
	}
	want := "CONFIRM DIRECT_OPERATE_NR IMMED_FREEZE_NR FREEZE_CLEAR_NR FREEZE_AT_TIME_NR AUTH_REQ_NO_ACK " +
		"RESPONSE UNSOLICITED_RESPONSE AUTHENTICATE_RESP"
	if got := strings.Join(silent, " "); got != want {
		t.Errorf("silent: %s", got)
	}
}

func TestNamesReadLikeTheStandard(t *testing.T) {
	for got, want := range map[string]string{
		app.FuncDirectOperateNoAck.String():               "DIRECT_OPERATE_NR",
		app.Function(99).String():                         "function 99",
		(app.IINDeviceRestart | app.IINNeedTime).String(): "90 00 NEED_TIME|DEVICE_RESTART",
		app.IIN(0).String():                               "00 00",
		app.Control(0xF3).String():                        "FIR=1 FIN=1 CON=1 UNS=1 seq=3",
		app.Reason(99).String():                           "reason 99",
		app.Truncated.String():                            "truncated",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
