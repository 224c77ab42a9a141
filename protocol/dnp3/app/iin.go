package app

import (
	"fmt"
	"strings"
)

// IIN holds the two octets of internal indications of a response (clause 4.2.2):
// IIN1, sent first, in the low octet and IIN2 in the high one.
type IIN uint16

// Internal indications.
const (
	// IINBroadcast says that a broadcast message arrived.
	IINBroadcast IIN = 1 << iota
	// IINClass1 says that class 1 events wait.
	IINClass1
	// IINClass2 says that class 2 events wait.
	IINClass2
	// IINClass3 says that class 3 events wait.
	IINClass3
	// IINNeedTime asks the master to set the clock.
	IINNeedTime
	// IINLocalControl says that some outputs are under local control.
	IINLocalControl
	// IINDeviceTrouble reports a fault of the device as a whole.
	IINDeviceTrouble
	// IINDeviceRestart says that the device restarted; the master clears it.
	IINDeviceRestart
	// IINNoFunction refuses an unknown function code.
	IINNoFunction
	// IINObjectUnknown refuses an unknown object or one without points.
	IINObjectUnknown
	// IINParameterError refuses a qualifier, range or value.
	IINParameterError
	// IINOverflow says that events were lost.
	IINOverflow
	// IINAlreadyExecuting says that the operation already runs.
	IINAlreadyExecuting
	// IINConfigCorrupt reports a corrupt configuration.
	IINConfigCorrupt
)

// IINEvents is the union of the three class indications.
const IINEvents = IINClass1 | IINClass2 | IINClass3

// restartBit is the index of IINDeviceRestart as an object of g80v1.
const restartBit = 7

var iinNames = [...]string{
	"BROADCAST", "CLASS_1_EVENTS", "CLASS_2_EVENTS", "CLASS_3_EVENTS",
	"NEED_TIME", "LOCAL_CONTROL", "DEVICE_TROUBLE", "DEVICE_RESTART",
	"NO_FUNC_CODE_SUPPORT", "OBJECT_UNKNOWN", "PARAMETER_ERROR", "EVENT_BUFFER_OVERFLOW",
	"ALREADY_EXECUTING", "CONFIG_CORRUPT", "RESERVED_2", "RESERVED_1",
}

// Has reports whether all indications of want are set.
func (i IIN) Has(want IIN) bool { return i&want == want }

// String returns the octets in the order they are sent and the names of the set bits.
func (i IIN) String() string {
	text := fmt.Sprintf("%02X %02X", uint8(i), uint8(i>>8))
	var set []string
	for bit, name := range iinNames {
		if i&(1<<bit) != 0 {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return text
	}
	return text + " " + strings.Join(set, "|")
}
