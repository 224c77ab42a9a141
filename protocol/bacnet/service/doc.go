// Package service reads and writes the parameters of BACnet services (ASHRAE 135 clauses 13
// to 16): what follows the fixed part of an APDU.
//
// Each message is a struct with Append, which writes it, and a function DecodeX, which reads
// it from the whole rest of an APDU and refuses what is too short, too long or malformed.
// Values of properties stay encoded, as [encoding.Any], and refer to the data that was read.
package service

import (
	"strconv"
)

// Confirmed is a service with an answer (clause 21, BACnetConfirmedServiceChoice).
type Confirmed uint8

// The confirmed services.
const (
	AcknowledgeAlarm           Confirmed = 0
	ConfirmedCOVNotification   Confirmed = 1
	ConfirmedEventNotification Confirmed = 2
	SubscribeCOV               Confirmed = 5
	AtomicReadFile             Confirmed = 6
	AtomicWriteFile            Confirmed = 7
	AddListElement             Confirmed = 8
	RemoveListElement          Confirmed = 9
	ReadProperty               Confirmed = 12
	ReadPropertyMultiple       Confirmed = 14
	WriteProperty              Confirmed = 15
	WritePropertyMultiple      Confirmed = 16
	DeviceCommunicationControl Confirmed = 17
	ReinitializeDevice         Confirmed = 20
	ReadRange                  Confirmed = 26
	SubscribeCOVProperty       Confirmed = 28
	GetEventInformation        Confirmed = 29
)

var confirmedNames = [...]string{
	"AcknowledgeAlarm", "ConfirmedCOVNotification", "ConfirmedEventNotification", "GetAlarmSummary",
	"GetEnrollmentSummary", "SubscribeCOV", "AtomicReadFile", "AtomicWriteFile", "AddListElement",
	"RemoveListElement", "CreateObject", "DeleteObject", "ReadProperty", "ReadPropertyConditional",
	"ReadPropertyMultiple", "WriteProperty", "WritePropertyMultiple", "DeviceCommunicationControl",
	"ConfirmedPrivateTransfer", "ConfirmedTextMessage", "ReinitializeDevice", "VT-Open", "VT-Close", "VT-Data",
	"Authenticate", "RequestKey", "ReadRange", "LifeSafetyOperation", "SubscribeCOVProperty", "GetEventInformation",
	"SubscribeCOVPropertyMultiple", "ConfirmedCOVNotificationMultiple",
}

// String returns the name of the service.
func (c Confirmed) String() string {
	if int(c) < len(confirmedNames) {
		return confirmedNames[c]
	}
	return "service " + strconv.Itoa(int(c))
}

// Unconfirmed is a service without an answer (clause 21, BACnetUnconfirmedServiceChoice).
type Unconfirmed uint8

// The unconfirmed services.
const (
	IAm                          Unconfirmed = 0
	IHave                        Unconfirmed = 1
	UnconfirmedCOVNotification   Unconfirmed = 2
	UnconfirmedEventNotification Unconfirmed = 3
	TimeSynchronization          Unconfirmed = 6
	WhoHas                       Unconfirmed = 7
	WhoIs                        Unconfirmed = 8
	UTCTimeSynchronization       Unconfirmed = 9
)

var unconfirmedNames = [...]string{
	"I-Am", "I-Have", "UnconfirmedCOVNotification", "UnconfirmedEventNotification", "UnconfirmedPrivateTransfer",
	"UnconfirmedTextMessage", "TimeSynchronization", "Who-Has", "Who-Is", "UTCTimeSynchronization", "WriteGroup",
}

// String returns the name of the service.
func (u Unconfirmed) String() string {
	if int(u) < len(unconfirmedNames) {
		return unconfirmedNames[u]
	}
	return "service " + strconv.Itoa(int(u))
}
