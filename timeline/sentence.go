package timeline

import (
	"fmt"
	"strings"
)

// tell writes the sentence of an entry into an event.
type tell func(x *entry, out *Event)

// teller returns who tells of an action.
func teller(action string) (tell, bool) {
	if t, is := single()[action]; is {
		return t, true
	}
	part, _, _ := strings.Cut(action, ".")
	switch part {
	case "alarm":
		return tellAlarm, true
	case "config", "device", "document", "schedule", "calendar", "sinks", "template", "meter", "mqtt", "cluster", "sources", "judge":
		return tellChange, true
	case "agent":
		return tellAgent, true
	case "person", "token", "grants", "setup", "invitation":
		return tellAccess, true
	}
	return nil, false
}

// single lists the actions that have sentences of their own, and those of their parts that say nothing.
func single() map[string]tell {
	nothing := func(*entry, *Event) {}
	return map[string]tell{
		"node.start": tellStart, "node.stop": tellStop, "state.damaged": tellDamage, "state.authority": tellDamage,
		"control.command": tellCommand, "control.release": tellRelease, "control.revert": tellRelease, "control.override": tellOverride,
		"control.clear-override": tellOverride, "control.write-confirmed": tellConfirmed, "control.mismatch-ended": tellConfirmed,
		"control.write-differs": tellDiffers, "control.mismatch": tellDiffers, "control.write-failed": tellNotTaken, "control.write-unknown": tellNotTaken,
		"control.command-ended": tellEnded, "control.heartbeat-lost": tellHeartbeat, "control.heartbeat-back": tellHeartbeat,
		"device.lost": tellLost, "device.back": tellBack, "child.connected": tellLink, "child.lost": tellLink, "child.flapped": tellLink,
		"parent.connected": tellLink, "parent.lost": tellLink, "parent.flapped": tellLink, "child.join": tellJoin, "child.remove": tellJoin,
		"setup.admit": tellJoin, "refused": tellRefused, "login.failed": tellRefused, "device.try": nothing, "device.search": nothing,
		"device.survey": nothing, "config.check": nothing, "agent.call": nothing, "agent.refused": nothing, "sinks.try": nothing, "meter.read": nothing,
		"mqtt.certify": nothing,
	}
}

func tellStart(x *entry, out *Event) {
	out.Kind, out.Level, out.Text = Restarts, Good, "The node started"
	if x.detail.Version != "" {
		out.Text += ", version " + x.detail.Version
	}
	if x.detail.Before != "" && x.detail.Before != "stopped" {
		out.Text += "; before, it " + x.detail.Before
		if x.detail.Before != "never ran" {
			out.Level = Warn
		}
	}
}

func tellStop(_ *entry, out *Event) {
	out.Kind, out.Text = Restarts, "The node stopped"
}

func tellDamage(x *entry, out *Event) {
	out.Kind, out.Level, out.Text = Restarts, Bad, fmt.Sprintf("%s: %s", x.Subject, x.Outcome)
}

func tellCommand(x *entry, out *Event) {
	out.Kind, out.Point = Commands, true
	switch {
	case strings.HasPrefix(x.Outcome, "pending"):
		out.Level, out.Text = Warn, fmt.Sprintf("%s asked to set %s to %s, which waits for approval%s", who(x.Actor), x.Subject, value(x.detail.Value), reason(x.detail.Reason))
	case x.failed:
		out.Level, out.Text = Warn, fmt.Sprintf("%s could not set %s to %s: %s", who(x.Actor), x.Subject, value(x.detail.Value), why(x.Outcome))
	case !strings.HasPrefix(x.Outcome, "repeated: "):
		out.Text = fmt.Sprintf("%s set %s to %s%s", who(x.Actor), x.Subject, value(x.detail.Value), reason(x.detail.Reason))
	}
}

func tellRelease(x *entry, out *Event) {
	out.Kind, out.Point = Commands, true
	if out.Text = fmt.Sprintf("%s released %s", who(x.Actor), x.Subject); x.failed {
		out.Level, out.Text = Warn, fmt.Sprintf("%s could not release %s: %s", who(x.Actor), x.Subject, why(x.Outcome))
	}
}

func tellOverride(x *entry, out *Event) {
	out.Kind, out.Level = Commands, Warn
	verb := "locked out for maintenance"
	if x.Action == "control.clear-override" {
		verb, out.Level = "put back into control", Good
	}
	if out.Text = fmt.Sprintf("%s %s %s%s", who(x.Actor), verb, x.Subject, reason(x.detail.Reason)); x.failed {
		out.Text = fmt.Sprintf("%s tried to have %s %s: %s", who(x.Actor), x.Subject, verb, why(x.Outcome))
	}
}

func tellConfirmed(x *entry, out *Event) {
	out.Kind, out.Point, out.Level = Commands, true, Good
	out.Text = fmt.Sprintf("%s reports %s, as it was set", x.Subject, value(x.detail.Reported))
}

func tellDiffers(x *entry, out *Event) {
	out.Kind, out.Point, out.Level = Commands, true, Bad
	out.Text = fmt.Sprintf("%s reports %s", x.Subject, value(x.detail.Reported))
	if len(x.detail.Value) > 0 {
		out.Text += ", and was set to " + value(x.detail.Value)
	} else {
		out.Text += ", another value than it was set to"
	}
}

func tellNotTaken(x *entry, out *Event) {
	out.Kind, out.Point, out.Level = Commands, true, Bad
	out.Text = fmt.Sprintf("%s was to be set to %s: %s", x.Subject, value(x.detail.Value), x.Outcome)
}

func tellEnded(x *entry, out *Event) {
	out.Kind, out.Point = Commands, true
	if x.detail.Cause == "released" { // the release has been told
		return
	}
	by := x.detail.Requester
	if by == "" {
		by = x.Actor
	}
	out.Text = fmt.Sprintf("The command of %s on %s ended%s", strings.TrimPrefix(who(by), "The "), x.Subject, reason(x.detail.Cause))
}

func tellHeartbeat(x *entry, out *Event) {
	out.Kind, out.Point, out.Level = Commands, true, Good
	if out.Text = fmt.Sprintf("The heartbeat %s is written again", x.Subject); x.Action == "control.heartbeat-lost" {
		out.Level, out.Text = Bad, fmt.Sprintf("The heartbeat %s cannot be written: %s", x.Subject, x.Outcome)
	}
}

func tellLost(x *entry, out *Event) {
	out.Kind, out.Level, out.Text = Outages, Bad, fmt.Sprintf("%s stopped answering", x.Subject)
	if x.detail.Devices > 1 {
		out.Text = fmt.Sprintf("%d devices stopped answering, such as %s", x.detail.Devices, x.Subject)
	}
	if x.Outcome != "ok" {
		out.Text += ": " + x.Outcome
	}
}

func tellBack(x *entry, out *Event) {
	out.Kind, out.Level, out.Text = Outages, Good, fmt.Sprintf("%s answers again", x.Subject)
	if x.detail.Devices > 1 {
		out.Text = fmt.Sprintf("%d devices answer again, such as %s", x.detail.Devices, x.Subject)
	}
	if x.detail.Lasted != "" {
		out.Text += " after " + x.detail.Lasted
	}
}

func tellLink(x *entry, out *Event) {
	out.Kind, out.Level = Outages, Good
	name := "The node " + x.Subject
	if strings.HasPrefix(x.Action, "parent.") {
		name = "The parent"
	}
	switch {
	case strings.HasSuffix(x.Action, ".connected"):
		out.Text = name + " is connected"
	case strings.HasSuffix(x.Action, ".lost"):
		out.Level, out.Text = Bad, fmt.Sprintf("The connection to %s was lost: %s", lowered(name), x.Outcome)
	default:
		out.Level, out.Text = Warn, fmt.Sprintf("The connection to %s %s", lowered(name), x.Outcome)
	}
}

func lowered(name string) string { return strings.Replace(name, "The ", "the ", 1) }

func tellJoin(x *entry, out *Event) {
	out.Kind = Changes
	verb := map[string]string{"child.join": "asked to join", "child.remove": "was removed", "setup.admit": "was admitted"}[x.Action]
	if out.Text = fmt.Sprintf("The node %s %s", x.Subject, verb); x.Action != "child.join" {
		out.Text += " by " + strings.TrimPrefix(who(x.Actor), "The ")
	}
	if x.failed {
		out.Level, out.Text = Warn, out.Text+": "+why(x.Outcome)
	}
}

func tellRefused(x *entry, out *Event) {
	out.Kind, out.Level = Access, Warn
	if out.Text = fmt.Sprintf("%s was refused: %s", who(x.Actor), why(x.Outcome)); x.Action == "login.failed" {
		out.Text = fmt.Sprintf("A login as %s failed", x.Subject)
	}
}

// alarmAct is what is done to an alarm, as a verb.
func alarmAct(action string) string {
	return map[string]string{
		"alarm.acknowledge": "acknowledged", "alarm.reset": "reset", "alarm.shelve": "shelved", "alarm.unshelve": "unshelved",
		"alarm.remove-from-service": "took out of service", "alarm.return-to-service": "returned to service",
		"alarm.put-rule": "wrote the rule", "alarm.delete-rule": "deleted the rule",
	}[action]
}

func tellAlarm(x *entry, out *Event) {
	out.Kind = Alarms
	rule, point, is := strings.Cut(x.Subject, "@")
	if is {
		out.Subject, out.Point = point, true
	}
	name := x.Subject
	if is {
		name = fmt.Sprintf("%s of %s", rule, point)
	}
	if act := alarmAct(x.Action); act != "" {
		out.Text = fmt.Sprintf("%s %s %s%s", who(x.Actor), act, name, reason(x.detail.Note))
		if x.failed {
			out.Level, out.Text = Warn, fmt.Sprintf("%s tried in vain: %s, %s: %s", who(x.Actor), act, name, why(x.Outcome))
		}
		return
	}
	switch x.Action {
	case "alarm.opened":
		if out.Level = Warn; x.detail.Priority == "high" || x.detail.Priority == "critical" {
			out.Level = Bad
		}
		out.Text = fmt.Sprintf("Alarm %s%s, %s", name, at(value(x.detail.Value)), x.detail.Priority)
	case "alarm.returned":
		out.Level, out.Text = Good, fmt.Sprintf("%s returned to normal", name)
	case "alarm.shelf_expired":
		out.Text = fmt.Sprintf("The shelving of %s ended", name)
	}
}

func at(value string) string {
	if value == "nothing" || value == "" {
		return ""
	}
	return " at " + value
}

// change is what is done to a configuration, as a verb.
func change(action string) string {
	verbs := map[string]string{
		"config.apply": "changed the configuration", "config.reload": "read the configuration again", "config.confirm": "confirmed the configuration",
		"device.add": "added the device", "device.add_several": "added devices:", "device.rename": "renamed the device", "device.freeze": "froze the counters of",
		"document.set": "changed the document", "document.delete": "deleted the document", "document.rollback": "took back the document",
		"schedule.put": "wrote the schedule", "schedule.delete": "deleted the schedule", "schedule.hold": "held the schedule",
		"calendar.put": "wrote the calendar", "calendar.delete": "deleted the calendar", "sinks.put": "wrote the destination", "sinks.remove": "removed the destination",
		"cluster.add": "added the replica", "cluster.remove": "removed the replica", "cluster.drain": "drained the replica",
		"template.add": "added the template", "judge.release": "released withheld readings of", "judge.discard": "discarded withheld readings of",
		"meter.exchange": "exchanged the meter", "meter.install": "installed the meter", "meter.edit": "edited readings of", "meter.remove": "removed the meter",
		"meter.register": "registered the meter", "mqtt.add": "added the MQTT device", "mqtt.remove": "removed the MQTT device", "mqtt.rotate": "rotated the secret of",
		"mqtt.provision": "provisioned MQTT devices", "sinks.resend": "sent again what was refused by", "sinks.discard": "discarded what was refused by",
	}
	return verbs[action]
}

func tellChange(x *entry, out *Event) {
	verb := change(x.Action)
	if verb == "" {
		return
	}
	out.Kind, out.Text = Changes, fmt.Sprintf("%s %s %s%s", who(x.Actor), verb, x.Subject, reason(x.detail.Note))
	if strings.HasPrefix(x.Action, "config.") {
		out.Text = fmt.Sprintf("%s %s", who(x.Actor), verb)
	}
	if x.failed {
		out.Level, out.Text = Warn, out.Text+", without success: "+why(x.Outcome)
	}
}

func tellAgent(x *entry, out *Event) {
	verb := map[string]string{
		"agent.start": "started", "agent.stop": "stopped", "agent.restart": "restarted", "agent.install": "installed", "agent.remove": "removed",
		"agent.approve": "approved", "agent.enable": "enabled", "agent.disable": "disabled", "agent.rollback": "took back to the version before",
		"agent.add": "added", "agent.revoke": "revoked", "agent.ended": "saw the end of",
	}[x.Action]
	if verb == "" {
		return
	}
	if out.Kind, out.Text = Agents, fmt.Sprintf("%s %s the agent %s", who(x.Actor), verb, x.Subject); x.failed {
		out.Level, out.Text = Bad, fmt.Sprintf("%s: %s", out.Text, why(x.Outcome))
	}
}

func tellAccess(x *entry, out *Event) {
	out.Kind = Access
	verb := map[string]string{
		"person.set": "changed the account of", "person.remove": "removed the account of", "person.password": "changed the password of", "grants.set": "changed the rights of",
		"setup": "made the first account,", "token.issue": "issued a token:", "token.revoke": "revoked a token:", "invitation.add": "invited the node", "invitation.cancel": "took back the invitation",
	}[x.Action]
	if verb == "" {
		return
	}
	if out.Text = fmt.Sprintf("%s %s %s", who(x.Actor), verb, x.Subject); x.failed {
		out.Level, out.Text = Warn, out.Text+", without success: "+why(x.Outcome)
	}
}
