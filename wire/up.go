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

// EnrolMethod is what the holder of an invitation asks for.
const EnrolMethod = "enrol"

// UpSubject is where a child sends blocks of a lane.
func UpSubject(caller, lane string) string { return UpPrefix + Token(caller) + "." + lane }

// PingSubject is where a child is asked whether it is there. It is none of the subjects of calls: a
// request that two subscriptions of one connection receive may not be answered.
func PingSubject(caller string) string { return CallPrefix + Token(caller) + ".ping" }
