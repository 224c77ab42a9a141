package verdict

import "time"

// Facts are what a node knows of itself at a moment. What is zero is well. Texts may come from devices, agents and
// other nodes, and are hostile then.
type Facts struct {
	Now      time.Time
	Paused   string // why nothing is recorded; "" if it is
	Sinks    []Sink
	History  string // why the history cannot be asked; "" if it can
	Damaged  []Damage
	Losses   []Loss
	Audit    string // what is wrong with the audit log
	Files    []File // small files of the data directory that are damaged
	Metering []Metering
	Replicas Replicas
	Control  string // why commands cannot be kept
	Points   []Point
	Devices  []Device
	Agents   []Agent
	Unjudged string // why alarms of rules are not kept; "" if they are
	Alarms   []Alarm
	Unheard  []string // why people are not told of alarms
	Doubts   []Doubt
	Alerts   []Alert
	// AlarmsBelow counts the open alarms of descendants, as far as they are known, by their priority; "" for those that they do not list.
	AlarmsBelow map[string]int
	Children    []Child
	Proposals   []Proposal
	Trial       *Trial
	Books       Books
}

// Sink takes blocks from the log: the history, or the parent node.
type Sink struct {
	Part    Part // Store or Uplink
	Reason  string
	Since   time.Time // of Reason; zero: unknown
	Waiting uint64    // blocks
	Oldest  time.Time // when the oldest of them was written; zero: none waits
}

// Damage is a piece of the history that was set aside.
type Damage struct {
	File, Reason string
	Noticed      time.Time
}

// File is a small file of the data directory that was set aside, or cannot be read.
type File struct {
	Name, Sentence string
	Link           string // the page's screen that tells more; "" for that of the node's state
	Part           Part   // what it is about; "" for State
}

// Metering is something that is wrong with readings of meters on their way.
type Metering struct {
	About, Sentence string
}

// Replicas is what is wrong with the replicas that the node is one of.
type Replicas struct {
	Sentence string // "" for nothing
	Critical bool   // nothing is recorded here
	Since    time.Time
}

// Loss is a gap in what an origin produced.
type Loss struct {
	Origin, Reason string
	Samples        uint64
	Noticed        time.Time
}

// Point is a point that does not have what it was set to.
type Point struct {
	Path, Output string
	Why          string // why the last command or read gave no result; "" if it is not known
	Since        time.Time
}

// Device is a device that is to be read.
type Device struct {
	Path, Line string
	Silent     bool // it should answer, and does not
	Hung       bool // the driver of its line does not return
	Error      string
	Kind       string // a fault kind, of Error or of Problem
	Problem    string // why points are bad although it answers
	Refuses    bool   // all of them are
	Disabled   bool   // it need not be read
	Starting   bool   // it was not read yet, or another replica reads it
	Since      time.Time
}

// Agent is an agent that does not work.
type Agent struct {
	Name  string
	Does  string // what it does, such as "says that it does not work: no flow"
	Since time.Time
}

// Alarm is an alarm that is not normal.
type Alarm struct {
	Point    string // "" for the alert of an agent
	ID       string
	Text     string
	Priority string // low, medium, high, critical
	Since    time.Time
	Kept     bool   // operators are not told of it: it is shelved, suppressed or out of service
	Over     bool   // its condition does not hold any more, and it waits to be acknowledged or reset
	Agent    string // whose alert it is, of which Facts.Alerts and Facts.Points tell while it lasts; "" for an alarm of a rule
	Key      string // of the alert
}

// Doubt is that a rule of alarms cannot be judged: no alarm of it opens or returns to normal.
type Doubt struct {
	Rule string
	Why  string
	More int // alarms of the rule of which it is not known, either
}

// Alarming is what is known of alarms; the fields are those of Facts.
type Alarming struct {
	Unkept  string // as Facts.Unjudged
	Alarms  []Alarm
	Unheard []string
	Doubts  []Doubt
}

// Alert is an open alert of an agent.
type Alert struct {
	Agent, Key, Text, Severity string
	Count                      int
	Since                      time.Time
}

// Child is a descendant of the node.
type Child struct {
	Name    string
	Pending bool      // nobody has approved it
	Away    bool      // it is approved, and not connected
	Refused string    // why its data is not taken
	Crowded string    // that it describes more points than are listed
	All     int       // devices of its own
	Devices int       // of these that do not answer, or only with errors, as it told last
	Agents  int       // of its own that fail
	Alarms  int       // that are open there
	Waits   time.Time // when the oldest data that waits there was recorded; zero: none waits
	Unwell  bool      // it says that something is not well
	Since   time.Time // of what holds; zero: unknown
}

// Proposal is a command that needs approval.
type Proposal struct {
	Point, Requester string
	Since            time.Time
}

// Trial is a configuration that goes back unless somebody confirms it.
type Trial struct {
	User         string
	Begun, Until time.Time
}
