package wire

// UpPrefix is the first token of the subjects on which a child sends blocks to its parent.
const UpPrefix = "up." // + caller, lane

// FlowPrefix is the first token of the subjects on which a child sends live messages to its parent.
const FlowPrefix = "flow." // + caller, session

// The lanes of blocks.
const (
	NormalLane = "n"
	UrgentLane = "u"
)

// EnrolMethod is the method that the holder of an invitation calls.
const EnrolMethod = "enrol"

// UpSubject is the subject of a child's blocks of a lane.
func UpSubject(caller, lane string) string { return UpPrefix + Token(caller) + "." + lane }

// PingSubject is the subject on which a child is probed. It is not a subject of calls: a request received by
// two subscriptions of one connection might not be answered.
func PingSubject(caller string) string { return CallPrefix + Token(caller) + ".ping" }
