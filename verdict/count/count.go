// Package count has the numbers of what is not well at a node, in the form in which everybody is told.
package count

// Counts says how many there are of what is not well, also of what the list of concerns leaves out. The sentence of health and the page's menu
// say the same.
type Counts struct {
	_ struct{} `doc:"How many there are of what is not well; the summary and the menu of the page say the same"`

	Alarms         int `json:"alarms" api:"min=0" doc:"Open alarms, of this node and its descendants: those that operators are told of"`
	AlarmsHere     int `json:"alarms_here" api:"min=0" doc:"Open alarms of this node"`
	AlarmsCritical int `json:"alarms_critical" api:"min=0"`
	AlarmsHigh     int `json:"alarms_high" api:"min=0"`
	AlarmsMedium   int `json:"alarms_medium" api:"min=0"`
	AlarmsLow      int `json:"alarms_low" api:"min=0"`
	AlarmsUnlisted int `json:"alarms_unlisted" api:"min=0" doc:"Of a priority that is not known: a descendant has more than it lists"`
	AlarmsKept     int `json:"alarms_kept" api:"min=0" doc:"Alarms of this node that are shelved, suppressed or out of service"`
	RulesUnjudged  int `json:"rules_unjudged" api:"min=0" doc:"Rules of alarms of this node that cannot be judged: a point is not there or was not read, or the rule is wrong"`

	CommandsFailed      int `json:"commands_failed" api:"min=0" doc:"Points whose device did not carry out the last command"`
	CommandsUnconfirmed int `json:"commands_unconfirmed" api:"min=0" doc:"Points of which it is not known whether the device took the last command"`
	CommandsDiffering   int `json:"commands_differing" api:"min=0" doc:"Points that have another value than they were set to"`
	CommandsPending     int `json:"commands_pending" api:"min=0" doc:"Commands that wait for the approval of a second person"`

	Devices           int `json:"devices" api:"min=0" doc:"Devices of this node"`
	DevicesDisabled   int `json:"devices_disabled" api:"min=0"`
	DevicesStarting   int `json:"devices_starting" api:"min=0" doc:"Not read yet, or read by another replica"`
	DevicesSilent     int `json:"devices_silent" api:"min=0" doc:"They do not answer"`
	DevicesUnreadable int `json:"devices_unreadable" api:"min=0" doc:"They answer, and none of their points can be read"`
	DevicesPartial    int `json:"devices_partial" api:"min=0" doc:"They answer, and some of their points cannot be read"`

	Agents int `json:"agents" api:"min=0" doc:"Agents that do not work"`

	Nodes        int `json:"nodes" api:"min=0" doc:"Descendants, without those that wait for approval"`
	NodesPending int `json:"nodes_pending" api:"min=0" doc:"Nodes that wait for approval"`
	NodesAway    int `json:"nodes_away" api:"min=0"`
	NodesRefused int `json:"nodes_refused" api:"min=0" doc:"Their data is not taken"`
	NodesBehind  int `json:"nodes_behind" api:"min=0" doc:"They are connected, and data that they recorded a minute ago or earlier waits there"`
	NodesUnwell  int `json:"nodes_unwell" api:"min=0" doc:"They say that something is wrong with them"`

	Destinations int `json:"destinations" api:"min=0" doc:"Destinations that are behind or refuse readings"`
	Others       int `json:"others" api:"min=0" doc:"Concerns about something else"`
}

// Add counts open alarms of a priority.
func (c *Counts) Add(priority string, n int) {
	c.Alarms += n
	switch priority {
	case "critical":
		c.AlarmsCritical += n
	case "high":
		c.AlarmsHigh += n
	case "medium":
		c.AlarmsMedium += n
	case "low":
		c.AlarmsLow += n
	default:
		c.AlarmsUnlisted += n
	}
}
