package object

// groupAttribute is the group of device attributes.
const groupAttribute = 0

// table holds the layout of every variation of a group, indexed by variation
// (Annex A). Obsolete delta counters (g20v3 and so on) are missing on purpose.
var table = [256][]Layout{
	0: same(256, KindAttribute, FormTyped),

	1: {every(KindBinaryInput), packed(KindBinaryInput, 1), row(KindBinaryInput, stateBit, flagged)},
	2: stateEvents(KindBinaryInput, stateBit),
	3: {every(KindDoubleBitInput), packed(KindDoubleBitInput, 2), row(KindDoubleBitInput, statePair, flagged)},
	4: stateEvents(KindDoubleBitInput, statePair),

	10: {every(KindBinaryOutput), packed(KindBinaryOutput, 1), row(KindBinaryOutput, stateBit, flagged)},
	11: stateEvents(KindBinaryOutput, stateBit)[:3],
	12: {every(KindBinaryCommand), block(KindBinaryCommand, CROBSize), block(KindBinaryCommand, CROBSize), packed(KindBinaryCommand, 1)},
	13: {
		anyEvent(KindBinaryCommandEvent),
		row(KindBinaryCommandEvent, stateBit, statusOf|isEvent),
		row(KindBinaryCommandEvent, stateBit, statusOf|timed|isEvent),
	},

	20: {
		every(KindCounter),
		row(KindCounter, u32, flagged), row(KindCounter, u16, flagged), missing(), missing(),
		row(KindCounter, u32, 0), row(KindCounter, u16, 0),
	},
	21: {
		every(KindFrozenCounter),
		row(KindFrozenCounter, u32, flagged), row(KindFrozenCounter, u16, flagged), missing(), missing(),
		row(KindFrozenCounter, u32, flagged|timed), row(KindFrozenCounter, u16, flagged|timed), missing(), missing(),
		row(KindFrozenCounter, u32, 0), row(KindFrozenCounter, u16, 0),
	},
	22: counterEvents(KindCounter),
	23: counterEvents(KindFrozenCounter),

	30: {
		every(KindAnalogInput),
		row(KindAnalogInput, i32, flagged), row(KindAnalogInput, i16, flagged),
		row(KindAnalogInput, i32, 0), row(KindAnalogInput, i16, 0),
		row(KindAnalogInput, f32, flagged), row(KindAnalogInput, f64, flagged),
	},
	31: {
		every(KindFrozenAnalog),
		row(KindFrozenAnalog, i32, flagged), row(KindFrozenAnalog, i16, flagged),
		row(KindFrozenAnalog, i32, flagged|timed), row(KindFrozenAnalog, i16, flagged|timed),
		row(KindFrozenAnalog, i32, 0), row(KindFrozenAnalog, i16, 0),
		row(KindFrozenAnalog, f32, flagged), row(KindFrozenAnalog, f64, flagged),
	},
	32: analogEvents(KindAnalogInput, flagged),
	33: analogEvents(KindFrozenAnalog, flagged),
	34: {every(KindDeadband), row(KindDeadband, u16, 0), row(KindDeadband, u32, 0), row(KindDeadband, f32, 0)},

	40: {
		every(KindAnalogOutput),
		row(KindAnalogOutput, i32, flagged), row(KindAnalogOutput, i16, flagged),
		row(KindAnalogOutput, f32, flagged), row(KindAnalogOutput, f64, flagged),
	},
	41: {
		every(KindAnalogCommand),
		row(KindAnalogCommand, i32, statusAt), row(KindAnalogCommand, i16, statusAt),
		row(KindAnalogCommand, f32, statusAt), row(KindAnalogCommand, f64, statusAt),
	},
	42: analogEvents(KindAnalogOutput, flagged),
	43: analogEvents(KindAnalogCommandEvent, statusOf),

	50: {every(KindTime), block(KindTime, 6), block(KindTime, 10), block(KindTime, 6), block(KindTime, 11)},
	51: {every(KindCommonTime), block(KindCommonTime, TimeSize), block(KindCommonTime, TimeSize)},
	52: {every(KindDelay), block(KindDelay, 2), block(KindDelay, 2)},

	60: {missing(), every(KindClass), every(KindClass), every(KindClass), every(KindClass)},
	70: append([]Layout{missing()}, same(8, KindFile, FormFree)...),
	80: {missing(), packed(KindIndications, 1)},
	91: {missing(), {kind: KindActivation, form: FormFree}},

	102: {every(KindInteger), row(KindInteger, u8, 0)},
	110: texts(KindOctetString, 0),
	111: texts(KindOctetString, isEvent),
	112: texts(KindTerminal, 0),
	113: texts(KindTerminal, isEvent),
}

// stateEvents describes events of binary points: without, with absolute and with
// relative time.
func stateEvents(kind Kind, value encoding) []Layout {
	return []Layout{
		anyEvent(kind),
		row(kind, value, flagged|isEvent),
		row(kind, value, flagged|timed|isEvent),
		row(kind, value, flagged|offset|isEvent),
	}
}

// counterEvents describes events of counters: 32 and 16 bits, without and with time.
func counterEvents(kind Kind) []Layout {
	return []Layout{
		anyEvent(kind),
		row(kind, u32, flagged|isEvent), row(kind, u16, flagged|isEvent), missing(), missing(),
		row(kind, u32, flagged|timed|isEvent), row(kind, u16, flagged|timed|isEvent),
	}
}

// analogEvents describes events of analog points: integers and floats, each
// without and with time, behind flags or a command status.
func analogEvents(kind Kind, lead parts) []Layout {
	plain, stamped := lead|isEvent, lead|timed|isEvent
	return []Layout{
		anyEvent(kind),
		row(kind, i32, plain), row(kind, i16, plain), row(kind, i32, stamped), row(kind, i16, stamped),
		row(kind, f32, plain), row(kind, f64, plain), row(kind, f32, stamped), row(kind, f64, stamped),
	}
}
