package app

import (
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// Function is the function code of a fragment (clause 4.4).
type Function uint8

// Function codes: 0–33 are requests, 129–131 responses.
const (
	FuncConfirm             Function = 0
	FuncRead                Function = 1
	FuncWrite               Function = 2
	FuncSelect              Function = 3
	FuncOperate             Function = 4
	FuncDirectOperate       Function = 5
	FuncDirectOperateNoAck  Function = 6
	FuncFreeze              Function = 7
	FuncFreezeNoAck         Function = 8
	FuncFreezeClear         Function = 9
	FuncFreezeClearNoAck    Function = 10
	FuncFreezeAtTime        Function = 11
	FuncFreezeAtTimeNoAck   Function = 12
	FuncColdRestart         Function = 13
	FuncWarmRestart         Function = 14
	FuncInitializeData      Function = 15
	FuncInitializeApp       Function = 16
	FuncStartApp            Function = 17
	FuncStopApp             Function = 18
	FuncSaveConfig          Function = 19
	FuncEnableUnsolicited   Function = 20
	FuncDisableUnsolicited  Function = 21
	FuncAssignClass         Function = 22
	FuncDelayMeasure        Function = 23
	FuncRecordCurrentTime   Function = 24
	FuncOpenFile            Function = 25
	FuncCloseFile           Function = 26
	FuncDeleteFile          Function = 27
	FuncGetFileInfo         Function = 28
	FuncAuthenticateFile    Function = 29
	FuncAbortFile           Function = 30
	FuncActivateConfig      Function = 31
	FuncAuthRequest         Function = 32
	FuncAuthRequestNoAck    Function = 33
	FuncResponse            Function = 129
	FuncUnsolicitedResponse Function = 130
	FuncAuthResponse        Function = 131
)

var functionNames = [...]string{
	FuncConfirm:             "CONFIRM",
	FuncRead:                "READ",
	FuncWrite:               "WRITE",
	FuncSelect:              "SELECT",
	FuncOperate:             "OPERATE",
	FuncDirectOperate:       "DIRECT_OPERATE",
	FuncDirectOperateNoAck:  "DIRECT_OPERATE_NR",
	FuncFreeze:              "IMMED_FREEZE",
	FuncFreezeNoAck:         "IMMED_FREEZE_NR",
	FuncFreezeClear:         "FREEZE_CLEAR",
	FuncFreezeClearNoAck:    "FREEZE_CLEAR_NR",
	FuncFreezeAtTime:        "FREEZE_AT_TIME",
	FuncFreezeAtTimeNoAck:   "FREEZE_AT_TIME_NR",
	FuncColdRestart:         "COLD_RESTART",
	FuncWarmRestart:         "WARM_RESTART",
	FuncInitializeData:      "INITIALIZE_DATA",
	FuncInitializeApp:       "INITIALIZE_APPL",
	FuncStartApp:            "START_APPL",
	FuncStopApp:             "STOP_APPL",
	FuncSaveConfig:          "SAVE_CONFIG",
	FuncEnableUnsolicited:   "ENABLE_UNSOLICITED",
	FuncDisableUnsolicited:  "DISABLE_UNSOLICITED",
	FuncAssignClass:         "ASSIGN_CLASS",
	FuncDelayMeasure:        "DELAY_MEASURE",
	FuncRecordCurrentTime:   "RECORD_CURRENT_TIME",
	FuncOpenFile:            "OPEN_FILE",
	FuncCloseFile:           "CLOSE_FILE",
	FuncDeleteFile:          "DELETE_FILE",
	FuncGetFileInfo:         "GET_FILE_INFO",
	FuncAuthenticateFile:    "AUTHENTICATE_FILE",
	FuncAbortFile:           "ABORT_FILE",
	FuncActivateConfig:      "ACTIVATE_CONFIG",
	FuncAuthRequest:         "AUTHENTICATE_REQ",
	FuncAuthRequestNoAck:    "AUTH_REQ_NO_ACK",
	FuncResponse:            "RESPONSE",
	FuncUnsolicitedResponse: "UNSOLICITED_RESPONSE",
	FuncAuthResponse:        "AUTHENTICATE_RESP",
}

// Known reports whether the standard assigns the code.
func (f Function) Known() bool {
	return int(f) < len(functionNames) && functionNames[f] != ""
}

// Response reports whether fragments of this function carry internal indications.
func (f Function) Response() bool {
	return f >= FuncResponse && f <= FuncAuthResponse
}

// Answered reports whether an outstation answers a request of this function.
func (f Function) Answered() bool {
	switch f {
	case FuncConfirm, FuncDirectOperateNoAck, FuncFreezeNoAck, FuncFreezeClearNoAck,
		FuncFreezeAtTimeNoAck, FuncAuthRequestNoAck:
		return false
	default:
		return !f.Response()
	}
}

// String returns the standard's name, or the number.
func (f Function) String() string {
	if f.Known() {
		return functionNames[f]
	}
	return fmt.Sprintf("function %d", uint8(f))
}

// carriesValues reports whether objects of group follow their headers in a
// fragment of this function; elsewhere a header alone names what is meant.
func (f Function) carriesValues(group uint8) bool {
	switch f {
	case FuncWrite, FuncSelect, FuncOperate, FuncDirectOperate, FuncDirectOperateNoAck, FuncActivateConfig,
		FuncAuthRequest, FuncAuthRequestNoAck:
		return true
	case FuncFreezeAtTime, FuncFreezeAtTimeNoAck:
		return group == object.G50V2.Group()
	default:
		return f.Response()
	}
}
