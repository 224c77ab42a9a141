// Package account defines the answers about a cluster of metering data systems, about the progress of a day, and about repeated sending.
package account

import (
	"encoding/json"
	"time"

	"voltbus/api/answer"
)

// MeterMemberAnswer is the answer of one member of a cluster to another.
type MeterMemberAnswer struct {
	Result json.RawMessage     `json:"result,omitempty"`
	Failed *MeterMemberFailure `json:"failed,omitempty" doc:"Why the operation failed, in place of a result"`
}

// MeterMemberFailure is the error of an operation that a member of a cluster carried out for another.
type MeterMemberFailure struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail"`
}

// MeterCluster is the account of a cluster: of all members that answered.
type MeterCluster struct {
	Cluster  *answer.MeterAnswered `json:"cluster,omitempty" doc:"None if the node is in no cluster"`
	Copies   int                   `json:"copies,omitempty" doc:"How many members keep each meter"`
	Members  []MeterMember         `json:"members"`
	Sum      MeterSum              `json:"sum"`
	Balanced bool                  `json:"balanced" doc:"Whether each reading that any member acknowledged is stored, waiting, refused or lost, and all members answered"`
}

// MeterSum counts the readings of all members that answered. With two copies a reading counts once for each, except in accepted.
type MeterSum struct {
	Accepted  uint64 `json:"accepted" doc:"Acknowledged by any member"`
	Stored    uint64 `json:"stored" doc:"By the members that keep them"`
	Waiting   uint64 `json:"waiting" doc:"For another member, or for the store"`
	Refused   uint64 `json:"refused" doc:"By the member that keeps the meter, after they were acknowledged"`
	Lost      uint64 `json:"lost" doc:"Samples that a log dropped before they were forwarded"`
	Repeated  uint64 `json:"repeated" doc:"That arrived at a member more than once, after a failure; they are stored once"`
	Forwarded uint64 `json:"forwarded" doc:"Taken by another member"`
}

// MeterMember is the account of one member.
type MeterMember struct {
	Name     string         `json:"name" doc:"Of its node"`
	Digest   string         `json:"digest" doc:"Of the cluster as the member knows it: the same at all"`
	Rules    string         `json:"rules" doc:"Digest of the rules of validation: the same at all"`
	Meters   int            `json:"meters" doc:"That are registered here"`
	Accepted uint64         `json:"accepted" doc:"Readings that were sent to this member and acknowledged"`
	Kept     uint64         `json:"kept" doc:"Of them those that it keeps itself"`
	Unusable uint64         `json:"unusable" doc:"Of them those that no member keeps: from child nodes, with an impossible point or time"`
	Received uint64         `json:"received" doc:"Readings that other members forwarded"`
	Stored   uint64         `json:"stored" doc:"Of those kept and received"`
	Unstored uint64         `json:"unstored" doc:"Of those kept and received, the ones that wait for the store"`
	Strays   uint64         `json:"strays" doc:"Of those stored, the ones that wait for their meter to be registered"`
	Forwards []MeterForward `json:"forwards" doc:"To each other member"`
	Balanced bool           `json:"balanced" doc:"Whether accepted = kept + unusable + what was or will be forwarded, and that = sent + refused + waiting for each member"`
}

// MeterForward is what a member forwards to another.
type MeterForward struct {
	To       string     `json:"to" doc:"The other member"`
	Total    uint64     `json:"total" doc:"Readings that were accepted here and are kept there"`
	Sent     uint64     `json:"sent" doc:"Of them those that it took"`
	Refused  uint64     `json:"refused" doc:"Those that it refused"`
	Waiting  uint64     `json:"waiting" doc:"Those that are still to be sent"`
	Lost     uint64     `json:"lost" doc:"Samples that the log dropped before they were sent"`
	Received uint64     `json:"received" doc:"Readings from it that arrived here"`
	Oldest   *time.Time `json:"oldest,omitempty" doc:"When the oldest of those was recorded that are being sent"`
	State    string     `json:"state" api:"one-of=ready|away"`
	Since    *time.Time `json:"since,omitempty" doc:"Since when it is away"`
	Reason   string     `json:"reason,omitempty" doc:"Why it is away"`
	Rate     float64    `json:"rate" doc:"Readings sent a second, over the last ten seconds"`
}

// MeterProgress is the progress of a local day.
type MeterProgress struct {
	Day     string                `json:"day"`
	Hours   []MeterHour           `json:"hours" doc:"Of the local day: 23 or 25 when the clock changes"`
	Arrived []MeterArrival        `json:"arrived" doc:"How late readings came, the shortest time first"`
	Cluster *answer.MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterHour counts the intervals that begin in an hour. Each counts once, in its current state: edited, else estimated, validated or doubted.
type MeterHour struct {
	From      time.Time `json:"from"`
	Expected  uint64    `json:"expected" doc:"Intervals"`
	Received  uint64    `json:"received" doc:"Have a reading"`
	Validated uint64    `json:"validated"`
	Doubted   uint64    `json:"doubted"`
	Estimated uint64    `json:"estimated"`
	Edited    uint64    `json:"edited"`
}

// MeterArrival is how many readings arrived within a period.
type MeterArrival struct {
	Within   float64 `json:"within" doc:"Seconds after the end of the interval"`
	Readings uint64  `json:"readings"`
}

// ToSend selects readings that a concentrator sends again.
type ToSend struct {
	From   string `json:"from" api:"required,max=40" doc:"Intervals that end after it, as 2026-03-01T00:00:00Z"`
	To     string `json:"to" api:"required,max=40" doc:"and not after it"`
	System string `json:"system" api:"max=2048" doc:"The only address to send to, as meter.concentrators lists it; all in turn if left out"`
	After  int    `json:"after" api:"min=0" doc:"The place that the answer before gave; 0 begins with the oldest block of the log"`
}
