package timeline_test

import (
	"encoding/json"
	"testing"
	"time"

	"voltbus/audit"
	"voltbus/timeline"
)

func TestEntriesBecomeSentences(t *testing.T) {
	for _, c := range []struct{ actor, action, subject, outcome, detail, kind, level, text string }{
		{"person:ada", "control.command", "b/fan", "accepted", `{"value":true,"level":8,"reason":"too warm"}`, "command", "info", "ada set b/fan to on (too warm)"},
		{"schedule:office", "control.command", "b/sp", "accepted", `{"value":21.5,"reason":"schedule office: Monday"}`, "command", "info", "The schedule office set b/sp to 21.5 (schedule office: Monday)"},
		{"agent:tune", "control.command", "b/sp", "refused: is read-only", `{"value":21.5}`, "command", "warn", "The agent tune could not set b/sp to 21.5: is read-only"},
		{"agent:tune", "control.command", "b/sp", "pending", `{"value":1}`, "command", "warn", "The agent tune asked to set b/sp to 1, which waits for approval"},
		{"agent:tune", "control.command", "b/sp", "repeated: accepted", `{"value":1}`, "", "", ""},
		{"node", "control.write-confirmed", "b/sp", "ok", `{"reported":21.5}`, "command", "good", "b/sp reports 21.5, as it was set"},
		{"node", "control.mismatch", "b/sp", "the device reports another value than the point was set to", `{"value":21.5,"reported":19}`, "command", "bad", "b/sp reports 19, and was set to 21.5"},
		{"node", "control.write-failed", "b/sp", "not carried out: timeout", `{"value":21.5}`, "command", "bad", "b/sp was to be set to 21.5: not carried out: timeout"},
		{"node", "control.command-ended", "b/sp", "ok", `{"requester":"agent:tune","cause":"lease"}`, "command", "info", "The command of agent tune on b/sp ended (lease)"},
		{"node", "alarm.opened", "hot@b/temp", "ok", `{"priority":"high","value":"31.2"}`, "alarm", "bad", "Alarm hot of b/temp at 31.2, high"},
		{"node", "alarm.returned", "hot@b/temp", "ok", `{"priority":"high","value":"24"}`, "alarm", "good", "hot of b/temp returned to normal"},
		{"person:ben", "alarm.acknowledge", "hot@b/temp", "ok", `{"note":"on my way"}`, "alarm", "info", "ben acknowledged hot of b/temp (on my way)"},
		{"node", "device.lost", "b/ahu", "timeout", `{"devices":1}`, "outage", "bad", "b/ahu stopped answering: timeout"},
		{"node", "device.back", "b/ahu", "ok", `{"devices":12,"lasted":"3m0s"}`, "outage", "good", "12 devices answer again, such as b/ahu after 3m0s"},
		{"child:b2", "child.lost", "b2", "the connection ended", ``, "outage", "bad", "The connection to the node b2 was lost: the connection ended"},
		{"node", "parent.connected", "campus", "ok", ``, "outage", "good", "The parent is connected"},
		{"node", "node.start", "b1", "ok", `{"version":"0.5","before":"was killed, or the power failed"}`, "restart", "warn", "The node started, version 0.5; before, it was killed, or the power failed"},
		{"person:ada", "config.apply", "", "ok", ``, "change", "info", "ada changed the configuration"},
		{"person:ada", "schedule.put", "office", "refused: x", `{"note":"winter"}`, "change", "warn", "ada wrote the schedule office (winter), without success: x"},
		{"node", "agent.start", "tune", "failed: no such file", ``, "agent", "bad", "The node started the agent tune: no such file"},
		{"person:eve", "refused", "config", "needs the role engineer", ``, "access", "warn", "eve was refused: needs the role engineer"},
		{"person:eve", "log.read", "b1", "ok", ``, "", "", ""},
		{"person:eve", "device.try", "modbus", "ok", ``, "", "", ""},
		{"person:eve", "alarm.acknowledge", "\x1b[31mhot@b/temp", "ok", `not json`, "alarm", "info", "eve acknowledged \x1b[31mhot of b/temp"},
	} {
		e := audit.Entry{Seq: 7, Time: time.Unix(1, 0), Actor: c.actor, Action: c.action, Subject: c.subject, Outcome: c.outcome, Detail: json.RawMessage(c.detail)}
		got, tells := timeline.Of(&e)
		if tells != (c.text != "") || got.Text != c.text || tells && (string(got.Kind) != c.kind || string(got.Level) != c.level || got.Number != 7) {
			t.Errorf("%s of %s gives %+v, want %s %s: %s", c.action, c.actor, got, c.kind, c.level, c.text)
		}
	}
}
