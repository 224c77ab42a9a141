package meter

// valueNames are the values of the enumerated parts of a reading type (IEC 61968-9, annex C).
var valueNames = [18]map[int16]string{
	MacroPeriod: {
		0: "none", 8: "billingPeriod", 11: "daily", 13: "monthly", 22: "seasonal", 24: "weekly",
		32: "specifiedPeriod",
	},
	Aggregate: {
		0: "none", 2: "average", 4: "excess", 5: "highThreshold", 7: "lowThreshold", 8: "maximum", 9: "minimum",
		11: "nominal", 12: "normal", 16: "secondMaximum", 17: "secondMinimum", 23: "thirdMaximum",
		24: "fourthMaximum", 25: "fifthMaximum", 26: "sum",
	},
	MeasuringPeriod: {
		0: "none", 1: "tenMinute", 2: "fifteenMinute", 3: "oneMinute", 4: "twentyfourHour", 5: "thirtyMinute",
		6: "fiveMinute", 7: "sixtyMinute", 10: "twoMinute", 14: "threeMinute", 15: "present", 16: "previous",
		31: "twentyMinute", 50: "fixedBlock60Min", 51: "fixedBlock30Min", 52: "fixedBlock20Min",
		53: "fixedBlock15Min", 54: "fixedBlock10Min", 55: "fixedBlock5Min", 56: "fixedBlock1Min",
		57: "rollingBlock60MinIntvl30MinSubIntvl", 58: "rollingBlock60MinIntvl20MinSubIntvl",
		59: "rollingBlock60MinIntvl15MinSubIntvl", 60: "rollingBlock60MinIntvl12MinSubIntvl",
		61: "rollingBlock60MinIntvl10MinSubIntvl", 62: "rollingBlock60MinIntvl6MinSubIntvl",
		63: "rollingBlock60MinIntvl5MinSubIntvl", 64: "rollingBlock60MinIntvl4MinSubIntvl",
		65: "rollingBlock30MinIntvl15MinSubIntvl", 66: "rollingBlock30MinIntvl10MinSubIntvl",
		67: "rollingBlock30MinIntvl6MinSubIntvl", 68: "rollingBlock30MinIntvl5MinSubIntvl",
		69: "rollingBlock30MinIntvl3MinSubIntvl", 70: "rollingBlock30MinIntvl2MinSubIntvl",
		71: "rollingBlock15MinIntvl5MinSubIntvl", 72: "rollingBlock15MinIntvl3MinSubIntvl",
		73: "rollingBlock15MinIntvl1MinSubIntvl", 74: "rollingBlock10MinIntvl5MinSubIntvl",
		75: "rollingBlock10MinIntvl2MinSubIntvl", 76: "rollingBlock10MinIntvl1MinSubIntvl",
		77: "rollingBlock5MinIntvl1MinSubIntvl",
	},
	Accumulation: {
		0: "none", 1: "bulkQuantity", 2: "continuousCumulative", 3: "cumulative", 4: "deltaData", 6: "indicating",
		9: "summation", 10: "timeDelay", 12: "instantaneous", 13: "latchingQuantity", 14: "boundedQuantity",
	},
	FlowDirection: {
		0: "none", 1: "forward", 2: "lagging", 3: "leading", 4: "net", 5: "q1plusQ2", 7: "q1plusQ3", 8: "q1plusQ4",
		9: "q1minusQ4", 10: "q2plusQ3", 11: "q2plusQ4", 12: "q2minusQ3", 13: "q3plusQ4", 14: "q3minusQ2",
		15: "quadrant1", 16: "quadrant2", 17: "quadrant3", 18: "quadrant4", 19: "reverse", 20: "total",
		21: "totalByPhase",
	},
	CommodityKind: {
		0: "none", 1: "electricitySecondaryMetered", 2: "electricityPrimaryMetered", 3: "communication", 4: "air",
		5: "insulativeGas", 6: "insulativeOil", 7: "naturalGas", 8: "propane", 9: "potableWater", 10: "steam",
		11: "wasteWater", 12: "heatingFluid", 13: "coolingFluid", 14: "nonpotableWater", 15: "nox", 16: "so2",
		17: "ch4", 18: "co2", 19: "carbon", 20: "hch", 21: "pfc", 22: "sf6", 23: "tvLicence", 24: "internet",
		25: "refuse",
	},
	MeasurementKind: {
		0: "none", 2: "apparentPowerFactor", 3: "currency", 4: "current", 5: "currentAngle", 6: "currentImbalance",
		7: "date", 8: "demand", 9: "distance", 10: "distortionVoltAmperes", 11: "energization", 12: "energy",
		13: "energizationLoadSide", 14: "fan", 15: "frequency", 16: "funds", 17: "ieee1366ASAI", 18: "ieee1366ASIDI",
		19: "ieee1366ASIFI", 20: "ieee1366CAIDI", 21: "ieee1366CAIFI", 22: "ieee1366CEMIn", 23: "ieee1366CEMSMIn",
		24: "ieee1366CTAIDI", 25: "ieee1366MAIFI", 26: "ieee1366MAIFIe", 27: "ieee1366SAIDI", 28: "ieee1366SAIFI",
		31: "lineLosses", 32: "losses", 33: "negativeSequence", 34: "phasorPowerFactor", 35: "phasorReactivePower",
		36: "positiveSequence", 37: "power", 38: "powerFactor", 40: "quantityPower", 41: "sag", 42: "swell",
		43: "switchPosition", 44: "tapPosition", 45: "tariffRate", 46: "temperature", 47: "totalHarmonicDistortion",
		48: "transformerLosses", 49: "unipedeVoltageDip10to15", 50: "unipedeVoltageDip15to30",
		51: "unipedeVoltageDip30to60", 52: "unipedeVoltageDip60to90", 53: "unipedeVoltageDip90to100", 54: "voltage",
		55: "voltageAngle", 56: "voltageExcursion", 57: "voltageImbalance", 58: "volume", 59: "zeroFlowDuration",
		60: "zeroSequence", 64: "distortionPowerFactor", 81: "frequencyExcursion", 94: "batteryVoltage",
		115: "signalStrength", 117: "signaltoNoiseRatio", 118: "alarm", 119: "batteryCarryover", 122: "demandReset",
		123: "diagnostic", 136: "powerOutage", 137: "powerQuality", 138: "powerRestoration", 139: "programmed",
		148: "tamper", 149: "watchdogTimeout", 150: "billLastPeriod", 151: "billToDate", 152: "billCarryover",
		153: "connectionFee", 154: "audibleVolume", 155: "volumetricFlow",
	},
	Phases: {
		0: "none", 16: "N", 17: "NG", 32: "C", 33: "CN", 40: "CA", 41: "CAN", 64: "B", 65: "BN", 66: "BC", 97: "BCN",
		128: "A", 129: "AN", 132: "AB", 193: "ABN", 224: "ABC", 225: "ABCN", 256: "S1", 257: "S1N", 512: "S2",
		513: "S2N", 768: "S12", 769: "S12N",
	},
	Unit: {
		0: "none", 2: "m", 3: "g", 4: "rev/s", 5: "A", 6: "K", 9: "deg", 23: "°C", 27: "s", 29: "V", 30: "Ω",
		31: "J", 33: "Hz", 38: "W", 39: "Pa", 41: "m²", 42: "m³", 45: "m³/s", 61: "VA", 63: "var", 65: "cosθ",
		69: "A²", 71: "VAh", 72: "Wh", 73: "varh", 80: "money", 82: "l/s", 105: "A²h", 106: "Ah", 107: "Wh/m³",
		108: "timeStamp", 109: "status", 111: "count", 114: "code", 119: "ft³", 120: "ft³(compensated)",
		123: "ft³/h(compensated)", 125: "m³/h", 126: "m³/h(compensated)", 127: "m³/h(uncompensated)", 128: "gal(US)",
		129: "gal/h(US)", 130: "gal(imperial)", 131: "gal/h(imperial)", 132: "Btu", 133: "Btu/h", 134: "l",
		137: "l/h", 140: "Pa(gauge)", 155: "Pa(absolute)", 156: "l(uncompensated)", 157: "l(compensated)",
		159: "min", 160: "h", 166: "m³(uncompensated)", 167: "m³(compensated)", 169: "therm",
	},
}

// periodMinuteTable are the lengths of measuring periods in minutes; of rolling blocks the sub-interval.
var periodMinuteTable = map[int16]int{
	1: 10, 2: 15, 3: 1, 4: 1440, 5: 30, 6: 5, 7: 60, 10: 2, 14: 3, 31: 20, 50: 60, 51: 30, 52: 20, 53: 15, 54: 10,
	55: 5, 56: 1, 57: 30, 58: 20, 59: 15, 60: 12, 61: 10, 62: 6, 63: 5, 64: 4, 65: 15, 66: 10, 67: 6, 68: 5,
	69: 3, 70: 2, 71: 5, 72: 3, 73: 1, 74: 5, 75: 2, 76: 1, 77: 1,
}
