// Package alarms declares and carries out the operations on alarms and their rules.
package alarms

import (
	"context"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/monitor"
	"voltbus/alarm/storage"
	"voltbus/identity"
	"voltbus/operation"
)

// Monitor keeps the alarms. See monitor.Monitor.
type Monitor interface {
	List(ctx context.Context, limit int) (monitor.List, error)
	History(ctx context.Context, q storage.Query) ([]storage.Entry, error)
	Rates(ctx context.Context, from, to time.Time) (alarm.Rates, error)
	Rules() []monitor.Rule
	Put(ctx context.Context, r alarm.Rule, by, note string, expect int) (monitor.Rule, error)
	Delete(ctx context.Context, name, by, note string) error
	Try(ctx context.Context, r alarm.Rule) (list []monitor.Tried, all int, err error)
	Acknowledge(ctx context.Context, id alarm.ID, by, note string) error
	Reset(ctx context.Context, id alarm.ID, by, note string) error
	Shelve(ctx context.Context, id alarm.ID, until time.Time, by, note string) error
	Unshelve(ctx context.Context, id alarm.ID, by, note string) error
	Remove(ctx context.Context, id alarm.ID, by, note string) error
	Restore(ctx context.Context, id alarm.ID, by, note string) error
}

// The arguments.
type (
	// Page selects alarms.
	Page struct {
		Limit int    `json:"limit" api:"query,min=1,max=100000,default=1000" doc:"So many at most"`
		Local bool   `json:"local" api:"query" doc:"Only those of this node, and not of its descendants"`
		Known string `json:"known" api:"query,max=64" doc:"With local: the version of the list that the caller knows; it is left out if that is the current one"`
	}
	// Act is what somebody does to an alarm.
	Act struct {
		Alarm string `json:"alarm" api:"required,max=2048" doc:"Its id"`
		Note  string `json:"note" api:"max=1024" doc:"Why, for those who come later"`
	}
	// Shelving keeps an alarm from being annunciated for a time.
	Shelving struct {
		Act
		Seconds float64 `json:"seconds" api:"required,min=1,max=2678400" doc:"For how long"`
	}
	// Query selects changes of alarms.
	Query struct {
		Alarm  string         `json:"alarm" api:"query,max=2048" doc:"The id of an alarm; all if left out"`
		Rule   string         `json:"rule" api:"query,max=128" doc:"The name of a rule; all if left out"`
		Point  string         `json:"point" api:"query,max=1024" doc:"The path of a point; all if left out"`
		From   operation.Time `json:"from" api:"query" doc:"The oldest if left out"`
		To     operation.Time `json:"to" api:"query" doc:"Now if left out"`
		Before int            `json:"before" api:"query,max=9007199254740991" doc:"The next of the page before"`
		Limit  int            `json:"limit" api:"query,min=1,max=10000,default=100" doc:"So many at most"`
	}
	// Time selects a time.
	Time struct {
		From operation.Time `json:"from" api:"query" doc:"A week before to if left out"`
		To   operation.Time `json:"to" api:"query" doc:"Now if left out"`
	}
	// NewRule is a rule to write.
	NewRule struct {
		alarm.Rule

		Note   string `json:"note" api:"max=1024" doc:"Why, for the history of the document"`
		Expect *int   `json:"expect" api:"min=-1" doc:"The version that it was made from, 0 for a rule that is not there, -1 for whatever"`
	}
	// TriedRule is a rule to try.
	TriedRule struct{ alarm.Rule }
	// RuleName names a rule.
	RuleName struct {
		Rule string `json:"rule" api:"required,max=64"`
		Note string `json:"note" api:"query,max=1024" doc:"Why, for the history of the document"`
	}
)

const (
	smallBody = 8 << 10
	ruleBody  = 512 << 10
)

// The operations.
var (
	List = operation.Declare[Page, Alarms](operation.Spec{
		Name: "alarm.list", ID: "listAlarms", HTTP: "GET /alarms", Role: identity.Viewer, Remote: true,
		Summary: "List the alarms that are not normal, by rules on points and by agents, here and at descendants", Result: "Those that need an operator first, of these the most urgent, of these the newest",
		Doc: "A descendant that does not answer is listed in nodes with known: false; its alarms are the last ones that were known.",
	})
	Acknowledge = operation.Declare[Act, operation.None](operation.Spec{
		Name: "alarm.acknowledge", ID: "acknowledgeAlarm", HTTP: "POST /alarms/acknowledge", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody,
		Summary: "Say that somebody has seen an alarm", Doc: "409 names who was first, if somebody else was. An alarm of a device is acknowledged at the device, too.",
	})
	Reset = operation.Declare[Act, operation.None](operation.Spec{
		Name: "alarm.reset", ID: "resetAlarm", HTTP: "POST /alarms/reset", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody,
		Summary: "Reset a latched alarm", Doc: "409 while its condition holds, and before it is acknowledged.",
	})
	Shelve = operation.Declare[Shelving, operation.None](operation.Spec{
		Name: "alarm.shelve", ID: "shelveAlarm", HTTP: "POST /alarms/shelve", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody,
		Summary: "Keep an alarm from being annunciated for a time", Doc: "It stays in the list, and is annunciated again after 31 days at most.",
	})
	Unshelve = operation.Declare[Act, operation.None](operation.Spec{
		Name: "alarm.unshelve", ID: "unshelveAlarm", HTTP: "POST /alarms/unshelve", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody,
		Summary: "Have a shelved alarm annunciated again",
	})
	Remove = operation.Declare[Act, operation.None](operation.Spec{
		Name: "alarm.remove-from-service", ID: "removeAlarmFromService", HTTP: "POST /alarms/remove-from-service", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Take an alarm out of service", Doc: "It is not annunciated until it is returned to service, and stays in the list.",
	})
	Restore = operation.Declare[Act, operation.None](operation.Spec{
		Name: "alarm.return-to-service", ID: "returnAlarmToService", HTTP: "POST /alarms/return-to-service", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Put an alarm back in service",
	})
	History = operation.Declare[Query, AlarmHistory](operation.Spec{
		Name: "alarm.history", ID: "listAlarmHistory", HTTP: "GET /alarms/history", Role: identity.Viewer, Remote: true,
		Summary: "List how alarms changed, and who did what", Result: "The newest first, in pages",
	})
	RatesOf = operation.Declare[Time, AlarmRates](operation.Spec{
		Name: "alarm.rates", ID: "getAlarmRates", HTTP: "GET /alarms/rates", Role: identity.Viewer, Remote: true,
		Summary: "Report how many alarms operators had to attend to, as ISA-18.2 counts", Result: "Rates, the most frequent, chattering and standing alarms",
	})
	Rules = operation.Declare[struct{}, AlarmRules](operation.Spec{
		Name: "alarm.rules", ID: "listAlarmRules", HTTP: "GET /alarms/rules", Role: identity.Viewer, Remote: true,
		Summary: "List the rules of alarms", Result: "By name, also those whose documents are wrong",
	})
	Put = operation.Declare[NewRule, KeptRule](operation.Spec{
		Name: "alarm.put-rule", ID: "putAlarmRule", HTTP: "PUT /alarms/rules", Role: identity.Engineer, Remote: true, Audited: true, Body: ruleBody,
		Summary: "Write a rule of alarms", Result: "The rule",
		Doc: "It is kept as the shared document alarms/<name>, with its history. 409 if expect is another version.",
	})
	Delete = operation.Declare[RuleName, operation.None](operation.Spec{
		Name: "alarm.delete-rule", ID: "deleteAlarmRule", HTTP: "DELETE /alarms/rules/{rule}", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Delete a rule of alarms", Doc: "Its alarms end; the history of the document stays.",
	})
	Try = operation.Declare[TriedRule, TriedPoints](operation.Spec{
		Name: "alarm.try-rule", ID: "tryAlarmRule", HTTP: "POST /alarms/rules/try", Role: identity.Viewer, Remote: true, Body: ruleBody,
		Summary: "Say for which points a rule would have alarms, and which would be active now", Result: "At most 1,000 points, those in alarm first",
		Doc: "Nothing is written. Delays do not count; rate and stuck need more than the newest reading, and are not known yet.",
	})
)

// Part carries out the operations on alarms.
type Part struct {
	Monitor Monitor // nil for a node that is not running
	People  People  // who is told
	// Below returns the alarms of descendants as far as they are known, and what is known of each; nil for none.
	Below func() ([]Alarm, []NodeAlarms)
	// AcknowledgeAlert tells the device of an alert of the node that somebody has seen it, if the alert is of a device's alarm.
	AcknowledgeAlert func(ctx context.Context, agent, key, who string) error
	Now              func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Acknowledge, nil, p.acknowledge), operation.Bind(Reset, nil, p.reset),
		operation.Bind(Shelve, nil, p.shelve), operation.Bind(Unshelve, nil, p.unshelve), operation.Bind(Remove, nil, p.remove),
		operation.Bind(Restore, nil, p.restore), operation.Bind(History, nil, p.history), operation.Bind(RatesOf, nil, p.rates),
		operation.Bind(Rules, nil, p.rules), operation.Bind(Put, nil, p.put), operation.Bind(Delete, nil, p.delete), operation.Bind(Try, nil, p.try),
	}
	list = append(list, p.aboutPeople()...)
	if p.Monitor == nil {
		return operation.Absent(list)
	}
	return list
}
