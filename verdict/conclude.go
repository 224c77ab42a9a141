package verdict

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"voltbus/internal/plural"
	"voltbus/verdict/count"
)

// Level is how a node is, in one word.
type Level string

// The levels.
const (
	Good  Level = "good" // nothing is wrong
	Wait  Level = "wait" // nothing is wrong, but devices were not read yet, or there are none
	Worth Level = "warn" // there are concerns, none of which is critical
	Bad   Level = "bad"  // a concern is critical
)

// Word is what people are told of a level.
func (l Level) Word() string {
	switch l {
	case Good:
		return "All is well"
	case Wait:
		return "Wait a moment"
	case Bad:
		return "Something is wrong"
	case Worth:
	}
	return "Worth a look"
}

// Verdict is all that is said of a node. Its level, sentence, counts and concerns come from the same facts.
type Verdict struct {
	Level    Level
	Sentence string // without a full stop
	Counts   count.Counts
	Concerns []Concern
}

// tally counts what is not well.
type tally struct {
	count.Counts

	devicesBelow, wellBelow int
}

// open says how many alarms of each priority are open.
func (c *tally) open() string {
	var list []string
	for _, of := range []struct {
		n    int
		word string
	}{{c.AlarmsCritical, "critical"}, {c.AlarmsHigh, "high"}, {c.AlarmsMedium, "medium"}, {c.AlarmsLow, "low"}, {c.AlarmsUnlisted, "more"}} {
		if of.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", of.n, of.word))
		}
	}
	return strings.Join(list, ", ")
}

// Conclude judges facts.
func Conclude(f *Facts) Verdict {
	c := tallied(f)
	v := Verdict{Concerns: Judge(f), Counts: c.Counts, Sentence: c.sentence(f)}
	switch {
	case len(v.Concerns) > 0 && v.Concerns[0].Severity == Critical:
		v.Level = Bad
	case len(v.Concerns) > 0:
		v.Level = Worth
	case c.DevicesStarting > 0, !f.gathers() && c.asked() == 0:
		v.Level = Wait
	default:
		v.Level = Good
	}
	return v
}

// gathers reports whether a node without devices has data of others.
func (f *Facts) gathers() bool { return len(f.Devices) == 0 && (len(f.Children) > 0 || f.Books.Others) }

// asked is how many devices should answer.
func (c *tally) asked() int { return c.Devices - c.DevicesDisabled }

func tallied(f *Facts) *tally {
	c := &tally{}
	c.Devices = len(f.Devices)
	for priority, n := range f.AlarmsBelow {
		c.Add(priority, n)
	}
	for i := range f.Alarms {
		if f.Alarms[i].Kept {
			c.AlarmsKept++
		} else {
			c.AlarmsHere++
			c.Add(f.Alarms[i].Priority, 1)
		}
	}
	for i := range f.Points {
		switch f.Points[i].Output {
		case "failed":
			c.CommandsFailed++
		case "unknown":
			c.CommandsUnconfirmed++
		default:
			c.CommandsDiffering++
		}
	}
	for i := range f.Devices {
		c.device(&f.Devices[i])
	}
	c.Agents, c.CommandsPending, c.RulesUnjudged = len(f.Agents), len(f.Proposals), len(f.Doubts)
	for i := range f.Children {
		c.child(&f.Children[i], f)
	}
	for i := range f.Files {
		if f.Files[i].Part == Destinations {
			c.Destinations++
		}
	}
	for _, of := range []func(*Facts) []Concern{replicas, sinks, history, logs, files, metering, trial} {
		c.Others += len(of(f))
	}
	c.Others += len(f.Unheard) - c.Destinations
	for _, trouble := range []string{f.Control, f.Unjudged} {
		if trouble != "" {
			c.Others++
		}
	}
	return c
}

func (c *tally) device(d *Device) {
	switch {
	case d.Silent:
		c.DevicesSilent++
	case d.Disabled:
		c.DevicesDisabled++
	case d.Starting:
		c.DevicesStarting++
	case d.Refuses:
		c.DevicesUnreadable++
	case d.Problem != "":
		c.DevicesPartial++
	}
}

func (c *tally) child(d *Child, f *Facts) {
	if d.Pending {
		c.NodesPending++
		return
	}
	c.Nodes, c.devicesBelow = c.Nodes+1, c.devicesBelow+d.All
	if !d.Away {
		c.wellBelow += d.All - d.Devices
	}
	switch {
	case d.Refused != "":
		c.NodesRefused++
	case d.Away:
		c.NodesAway++
	case d.late(f.Now):
		c.NodesBehind++
	case d.Crowded != "", unwell(d) != "":
		c.NodesUnwell++
	}
}

// sentence says first what is not well, and then what is.
func (c *tally) sentence(f *Facts) string {
	var s []string
	say := func(n int, thing, one, many string) {
		if n > 0 {
			s = append(s, plural.Of(n, thing)+" "+plural.Word(n, one, many))
		}
	}
	if f.Paused != "" {
		s = append(s, "nothing is recorded: "+f.Paused)
	}
	if n := c.Alarms; n > 0 {
		s = append(s, fmt.Sprintf("%s %s open (%s)", plural.Of(n, "alarm"), plural.Word(n, "is", "are"), c.open()))
	}
	say(c.RulesUnjudged, "alarm rule", "cannot be judged", "cannot be judged")
	say(c.CommandsFailed, "command", "failed", "failed")
	say(c.CommandsUnconfirmed, "command", "is not confirmed", "are not confirmed")
	say(c.CommandsDiffering, "point", "has another value than it was set to", "have other values than they were set to")
	s = append(s, c.devices(f))
	say(c.Agents, "agent", "does not work", "do not work")
	say(c.NodesPending, "node", "waits for approval", "wait for approval")
	say(c.CommandsPending, "command", "waits for approval", "wait for approval")
	say(c.Destinations, "destination", "is behind or refuses readings", "are behind or refuse readings")
	if c.Nodes > 0 {
		s = append(s, c.nodes())
	}
	if c.Others > 0 {
		s = append(s, plural.Of(c.Others, "other concern"))
	}
	if f.Paused == "" {
		s = append(s, f.Books.words())
	}
	text := strings.Join(s, "; ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// devices says how the devices of this node are: first those that are worst.
func (c *tally) devices(f *Facts) string {
	all := c.asked()
	some := func(n int, one, many string, is func(*Device) bool) string {
		return fmt.Sprintf("%d of %s %s (%s)", n, plural.Of(all, "device"), plural.Word(n, one, many), names(f.Devices, is))
	}
	switch {
	case c.Devices == 0 && f.gathers():
		return "no devices here"
	case c.Devices == 0:
		return "no devices are configured"
	case all == 0:
		return "all devices are disabled"
	case c.DevicesSilent > 0:
		return some(c.DevicesSilent, "does not answer", "do not answer", func(d *Device) bool { return d.Silent })
	case c.DevicesUnreadable > 0:
		return some(c.DevicesUnreadable, "gives no point", "give no point", func(d *Device) bool { return d.Refuses })
	case c.DevicesPartial > 0:
		return some(c.DevicesPartial, "answers only in part", "answer only in part", func(d *Device) bool { return d.Problem != "" })
	case c.DevicesStarting > 0:
		return fmt.Sprintf("%d of %s not read yet", c.DevicesStarting, plural.Of(all, "device"))
	case all == 1:
		return "the only device answers"
	case all == 2:
		return "both devices answer"
	}
	return fmt.Sprintf("all %d devices answer", all)
}

// names names the first of some devices.
func names(list []Device, is func(*Device) bool) string {
	const most = 3
	var some []string
	more := 0
	for i := range list {
		switch d := &list[i]; {
		case !is(d) || d.Disabled:
		case len(some) < most:
			some = append(some, path.Base(d.Path))
		default:
			more++
		}
	}
	text := strings.Join(some, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// nodes says how the descendants are.
func (c *tally) nodes() string {
	connected := c.Nodes - c.NodesAway
	var s []string
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{c.NodesRefused, "is refused", "are refused"}, {c.NodesBehind, "is behind", "are behind"}, {c.NodesUnwell, "is not well", "are not well"},
	} {
		if of.n > 0 {
			s = append(s, fmt.Sprintf("%d %s", of.n, plural.Word(of.n, of.one, of.many)))
		}
	}
	text := fmt.Sprintf("%d of %s %s connected", connected, plural.Of(c.Nodes, "descendant"), plural.Word(c.Nodes, "is", "are"))
	if len(s) > 0 {
		text += ", of which " + strings.Join(s, " and ")
	}
	return fmt.Sprintf("%s, %s there", text, answering(c.wellBelow, c.devicesBelow))
}

func answering(well, all int) string {
	return fmt.Sprintf("%d of %s %s", well, plural.Of(all, "device"), plural.Word(all, "answers", "answer"))
}

// Books says how much was recorded, of this node and of others.
type Books struct {
	Stored, Missing, Refused uint64
	Others                   bool   // some of it is of other nodes
	Unbalanced               string // an origin whose figures do not add up; "" for none
}

func (b *Books) words() string {
	text := thousands(b.Stored) + plural.Word(b.Stored, " sample", " samples") + " recorded, "
	switch {
	case b.Missing > 0:
		return text + thousands(b.Missing) + " lost"
	case b.Refused > 0:
		return text + thousands(b.Refused) + " refused"
	case b.Unbalanced != "":
		return text + "the figures of " + b.Unbalanced + " do not add up"
	}
	return text + "none lost"
}

// thousands writes a number with a comma between thousands.
func thousands(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
