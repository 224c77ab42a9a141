package alarms

import (
	"time"

	"voltbus/alarm"
	"voltbus/alarm/monitor"
	"voltbus/alarm/storage"
)

// Alarms are the alarms of a node.
type Alarms struct {
	Alarms []Alarm `json:"alarms"`
	All    int     `json:"all" api:"min=0" doc:"How many there are, also those beyond the limit"`
	Open   int     `json:"open" api:"min=0" doc:"How many are annunciated; the others are shelved, suppressed or out of service"`
	// Flood is since when there have been more new alarms than an operator can attend to.
	Flood  *time.Time `json:"flood" doc:"Since when more new alarms come than an operator can attend to (ISA-18.2: more than ten within ten minutes); null for no flood"`
	Recent int        `json:"recent" api:"min=0" doc:"New alarms within the last ten minutes"`
	// Nodes are the descendants, whose alarms are in the list as far as they are known.
	Nodes   []NodeAlarms `json:"nodes" doc:"The descendants of the node, and whether their alarms are known"`
	Version string       `json:"version" doc:"Changes with the list of the node's own alarms"`
	Same    bool         `json:"same" doc:"Whether the list has the version that known names, and is left out"`
}

// NodeAlarms says what is known of the alarms of a descendant.
type NodeAlarms struct {
	Node   string     `json:"node"`
	Known  bool       `json:"known" doc:"Whether its alarms are those of now; if not, those listed are the last that were known, and others may have opened"`
	At     *time.Time `json:"at" doc:"When they were known last; null if they were not since this node started"`
	Open   int        `json:"open" api:"min=0" doc:"How many were annunciated then"`
	All    int        `json:"all" api:"min=0"` // how many there were
	Reason string     `json:"reason" doc:"Why they are not known"`
}

// Alarm is an alarm that is not normal.
type Alarm struct {
	Node        string     `json:"node" doc:"The descendant whose alarm it is; empty for this node. Send what you do with node=<name>"`
	Known       bool       `json:"known" doc:"Whether this is so now: false for a descendant that does not answer"`
	ID          string     `json:"id"`
	State       string     `json:"state" api:"one-of=normal|unacknowledged|acknowledged|returned|latched_unacknowledged|latched_acknowledged|shelved|suppressed|out_of_service"`
	Active      bool       `json:"active" doc:"Whether the condition holds, also if it is not annunciated"`
	Priority    string     `json:"priority" api:"one-of=low|medium|high|critical"`
	Rule        string     `json:"rule" doc:"The name of the rule; empty for the alert of an agent"`
	Agent       string     `json:"agent" doc:"The agent whose alert it is; empty for the alarm of a rule"`
	Key         string     `json:"key" doc:"The key of the alert; empty for the alarm of a rule"`
	Point       string     `json:"point" doc:"Empty for the alert of an agent"`
	Description string     `json:"description" doc:"Of the point"`
	Unit        string     `json:"unit" doc:"Of the point"`
	Text        string     `json:"text" doc:"What is wrong"`
	Limit       string     `json:"limit" doc:"What the rule looks for, in words"`
	Value       string     `json:"value" doc:"Of the point, when the alarm opened"`
	Now         string     `json:"now" doc:"The newest value of the point; empty if it is not known"`
	Since       time.Time  `json:"since" doc:"When it opened or returned to normal"`
	Count       int        `json:"count" api:"min=0" doc:"How often it opened since it was normal"`
	First       bool       `json:"first" doc:"Whether it opened first in its group"`
	Group       string     `json:"group"`
	By          string     `json:"acknowledged_by"`
	At          *time.Time `json:"acknowledged_at"`
	Note        string     `json:"note" doc:"Of the last act"`
	Shelved     *time.Time `json:"shelved_until"`
	ShelvedBy   string     `json:"shelved_by"`
	RemovedBy   string     `json:"removed_by" doc:"Who took it out of service"`
	Unjudged    string     `json:"unjudged" doc:"Why it is not known now whether its condition holds; empty if it is"`
}

// Told reports whether operators are told of it.
func (a *Alarm) Told() bool { return alarm.State(a.State).Told() }

// AlarmHistory is a page of changes of alarms.
type AlarmHistory struct {
	Changes []AlarmChange `json:"changes"`
	Next    int           `json:"next" api:"min=0" doc:"The before of the next page; 0 if this is the last"`
}

// AlarmChange is a change of an alarm.
type AlarmChange struct {
	Number   int       `json:"number" api:"min=1"`
	Time     time.Time `json:"time"`
	Alarm    string    `json:"alarm"`
	Rule     string    `json:"rule"`
	Point    string    `json:"point"`
	Event    string    `json:"event" api:"one-of=opened|returned|acknowledged|reset|shelved|unshelved|shelf_expired|suppressed|unsuppressed|out_of_service|back_in_service|ended"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	By       string    `json:"by" doc:"Who did it; empty for the node"`
	Note     string    `json:"note"`
	Priority string    `json:"priority"`
	Text     string    `json:"text"`
	Value    string    `json:"value"`
	First    bool      `json:"first"`
}

// AlarmRates says how much operators had to attend to.
type AlarmRates struct {
	From       time.Time      `json:"from"`
	To         time.Time      `json:"to"`
	Alarms     int            `json:"alarms" api:"min=0" doc:"That were annunciated"`
	PerHour    float64        `json:"per_hour" doc:"ISA-18.2: about 6 are acceptable for an operator, 12 can just be attended to"`
	Peak       int            `json:"peak" api:"min=0" doc:"The most within ten minutes"`
	Flood      float64        `json:"flood" doc:"The part of the time in which there were more than ten within ten minutes, from 0 to 1"`
	ByPriority map[string]int `json:"by_priority"`
	Top        []AlarmCount   `json:"top" doc:"The ten that came most often"`
	Chattering []AlarmCount   `json:"chattering" doc:"Those that came three times or more within a minute"`
	Standing   []AlarmCount   `json:"standing" doc:"Those that have been active for more than 24 hours now"`
}

// AlarmCount is how often an alarm came.
type AlarmCount struct {
	Alarm string    `json:"alarm"`
	Rule  string    `json:"rule"`
	Point string    `json:"point"`
	Text  string    `json:"text"`
	Times int       `json:"times" api:"min=0"`
	Share float64   `json:"share" doc:"Of all, from 0 to 1"`
	Most  int       `json:"most" api:"min=0" doc:"How often it came within one minute, at most"`
	Since time.Time `json:"since,omitzero" doc:"Of a standing alarm"`
}

// AlarmRules are the rules of alarms.
type AlarmRules struct {
	Rules []KeptRule `json:"rules"`
}

// KeptRule is a rule with its document.
type KeptRule struct {
	_ struct{} `api:"schema=KeptAlarmRule"`

	Rule    alarm.Rule `json:"rule"`
	Version int        `json:"version" api:"min=0" doc:"Of its document"`
	By      string     `json:"by" doc:"Who wrote it"`
	Wrong   string     `json:"wrong" doc:"What is wrong with it, so that it is not looked at; empty if nothing is"`
	// Unjudged are ten at most.
	Unjudged []string `json:"unjudged" doc:"Why it is not known now whether its alarms should be open, of up to ten points; they stay as they were"`
}

// TriedPoints are the points of a rule.
type TriedPoints struct {
	Points []TriedPoint `json:"points"`
	All    int          `json:"all" api:"min=0"` // how many points there are
	Active int          `json:"active" api:"min=0" doc:"How many of those listed would be in alarm now"`
}

// TriedPoint is a point of a rule.
type TriedPoint struct {
	Point       string     `json:"point"`
	Description string     `json:"description"`
	Unit        string     `json:"unit"`
	Time        *time.Time `json:"time"` // of the newest reading
	Value       string     `json:"value"`
	Active      bool       `json:"active"`
	Unjudged    string     `json:"unjudged" doc:"Why it is not known whether it would be in alarm; empty if it is"`
}

func shown(s *monitor.Shown) Alarm {
	out := Alarm{
		Known: true, ID: string(s.ID), State: string(s.State), Active: s.Active, Priority: string(s.Priority), Rule: s.Rule, Point: string(s.Point),
		Description: s.Info.Description, Unit: s.Info.Unit, Text: s.Text, Limit: s.Limit, Value: s.Value, Now: s.Now, Since: s.Since, Count: s.Count,
		First: s.First, Group: s.Group, By: s.SeenBy, At: pointer(s.SeenAt), Note: s.Note, Shelved: pointer(s.Shelf), ShelvedBy: s.ShelfBy, RemovedBy: s.OutBy, Unjudged: s.Unjudged,
	}
	if agent, key, is := s.ID.Source(); is {
		out.Agent, out.Key, out.Rule, out.Point = agent, key, "", ""
	}
	return out
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func change(e *storage.Entry) AlarmChange {
	return AlarmChange{
		Number: int(e.Number), Time: e.At, Alarm: string(e.Alarm), Rule: e.Rule, Point: string(e.Point), Event: string(e.Event), From: string(e.From),
		To: string(e.To), By: e.By, Note: e.Note, Priority: string(e.Priority), Text: e.Text, Value: e.Value, First: e.First,
	}
}

const mostUnjudged = 10

func ruleOf(r *monitor.Rule) KeptRule {
	out := KeptRule{Rule: r.Rule, Version: r.Version, By: r.By, Unjudged: []string{}}
	for _, u := range r.Unjudged[:min(len(r.Unjudged), mostUnjudged)] {
		out.Unjudged = append(out.Unjudged, u.Why)
	}
	if r.Wrong != nil {
		out.Wrong = r.Wrong.Error()
	}
	return out
}

func counts(list []alarm.Often) []AlarmCount {
	out := make([]AlarmCount, len(list))
	for i, o := range list {
		out[i] = AlarmCount{Alarm: string(o.Alarm), Rule: o.Rule, Point: string(o.Point), Text: o.Text, Times: o.Times, Share: o.Share, Most: o.Most}
	}
	return out
}

func standing(list []alarm.Alarm) []AlarmCount {
	out := make([]AlarmCount, len(list))
	for i := range list {
		a := &list[i]
		out[i] = AlarmCount{Alarm: string(a.ID), Rule: a.Rule, Point: string(a.Point), Text: a.Text, Times: a.Count, Since: a.Since}
	}
	return out
}
