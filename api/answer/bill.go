package answer

import "time"

// MeterBill holds the billing determinants. Quantities are in the unit, demand in the unit per hour.
type MeterBill struct {
	Meters        []string        `json:"meters" doc:"That were read, the first one first"`
	From          time.Time       `json:"from"`
	To            time.Time       `json:"to"`
	Unit          string          `json:"unit"`
	Tariff        string          `json:"tariff,omitempty"`
	TariffVersion int             `json:"tariffVersion,omitempty" doc:"Of its document"`
	Periods       []MeterPeriod   `json:"periods" doc:"In the order of the tariff"`
	Registers     []MeterRegister `json:"registers"`
	Stray         int             `json:"stray" doc:"Readings at no end of an interval, which do not count"`
}

// MeterPeriod is the consumption in one period of a tariff.
type MeterPeriod struct {
	Period    string       `json:"period"`
	Quantity  float64      `json:"quantity"`
	Intervals int          `json:"intervals" doc:"Of the period"`
	Missing   int          `json:"missing" doc:"Of them those without a value"`
	Estimated int          `json:"estimated"`
	Edited    int          `json:"edited"`
	Demand    *MeterDemand `json:"demand,omitempty" doc:"The highest"`
	Net       *MeterNet    `json:"net,omitempty" doc:"Of consumption and what was fed in"`
}

// MeterDemand is the highest demand in a period.
type MeterDemand struct {
	Demand     float64    `json:"demand" doc:"Quantity an hour: kW for kWh"`
	End        *time.Time `json:"end,omitempty" doc:"Of the window"`
	Windows    int        `json:"windows" doc:"That are complete"`
	Incomplete int        `json:"incomplete" doc:"Windows that lack a value do not count"`
}

// MeterNet is consumption and feed-in.
type MeterNet struct {
	Import    float64 `json:"import"`
	Export    float64 `json:"export"`
	Net       float64 `json:"net" doc:"import - export"`
	NetImport float64 `json:"netImport" doc:"Netted in each interval: the sum of what is above 0"`
	NetExport float64 `json:"netExport" doc:"and of what is below"`
	Missing   int     `json:"missing" doc:"Intervals in which one of the two is missing count to neither"`
}

// MeterRegister is a register at two billing dates.
type MeterRegister struct {
	Meter        string  `json:"meter"`
	Channel      int     `json:"channel"`
	Unit         string  `json:"unit"`
	First        float64 `json:"first" doc:"What it read at the first bill date"`
	Last         float64 `json:"last" doc:"and at the last one"`
	Used         float64 `json:"used" doc:"Between them, with the multiplier"`
	Interpolated bool    `json:"interpolated" doc:"Between readings within 24 hours around a bill date"`
	Unknown      string  `json:"unknown,omitempty" doc:"Why nothing is known of it"`
}
