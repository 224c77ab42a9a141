package answer

import "time"

// MeterEntry is a meter with where it is installed.
type MeterEntry struct {
	ID           string         `json:"id"`
	Commodity    string         `json:"commodity"`
	Channels     []MeterChannel `json:"channels"`
	ServicePoint string         `json:"servicePoint,omitempty"`
	Premises     string         `json:"premises,omitempty"`
	From         *time.Time     `json:"from,omitempty"` // since when it is there, or expected to deliver
}

// MeterChannel is a register, or a load profile.
type MeterChannel struct {
	Number      int     `json:"number"`
	ReadingType string  `json:"readingType"` // IEC 61968-9, annex C
	OBIS        string  `json:"obis,omitempty"`
	Unit        string  `json:"unit,omitempty"`       // of the reading type
	Interval    float64 `json:"interval,omitempty"`   // seconds; 0 for a register
	Multiplier  float64 `json:"multiplier,omitempty"` // 1 if left out
	Digits      int     `json:"digits,omitempty"`
	Decimals    int     `json:"decimals,omitempty"`
}

// Meters is a part of the list of meters.
type Meters struct {
	Meters []MeterEntry `json:"meters"`
}

// MeterRegistered says what became of meters.
type MeterRegistered struct {
	Added   int            `json:"added"`
	Known   int            `json:"known"`   // were there with the same channels
	Adopted int            `json:"adopted"` // readings that came before their meter
	Refused []MeterRefusal `json:"refused"`
}

// MeterRefusal says why an entry of a list was refused.
type MeterRefusal struct {
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

// MeterReadingIn is a reading as a program sends it.
type MeterReadingIn struct {
	Meter       string   `json:"meter"`
	Channel     int      `json:"channel,omitempty"`
	ReadingType string   `json:"readingType,omitempty"` // in place of the channel
	End         string   `json:"end"`
	Value       *float64 `json:"value"`
}

// MeterTaken says what became of readings.
type MeterTaken struct {
	Accepted int            `json:"accepted"`
	Refused  []MeterRefusal `json:"refused"`
}

// Taken is how many readings were sent.
func (t MeterTaken) Taken() int { return t.Accepted + len(t.Refused) }

// MeterReadings are readings of a channel.
type MeterReadings struct {
	Meter    string         `json:"meter"`
	Channel  int            `json:"channel"`
	Unit     string         `json:"unit,omitempty"`
	Readings []MeterVersion `json:"readings"`
}

// MeterVersion is a version of a reading.
type MeterVersion struct {
	End      time.Time `json:"end"`
	Value    float64   `json:"value"`
	Stage    string    `json:"stage"`            // raw, validated, estimated or edited
	Status   string    `json:"status,omitempty"` // what validation doubts
	Recorded time.Time `json:"recorded"`
	Who      string    `json:"who,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// MeterMissing is what is missing of a day.
type MeterMissing struct {
	Day      string              `json:"day"`
	Expected uint64              `json:"expected"`
	Received uint64              `json:"received"`
	Channels uint64              `json:"channels"` // that lack something
	List     []MeterMissingEntry `json:"list"`
	More     bool                `json:"more"`
}

// MeterMissingEntry is a channel that lacks something.
type MeterMissingEntry struct {
	Meter   string      `json:"meter"`
	Channel int         `json:"channel"`
	Ends    []time.Time `json:"ends"`
}

// MeterExceptions are exceptions that wait.
type MeterExceptions struct {
	Exceptions []MeterException `json:"exceptions"`
}

// MeterException is a day of a channel that validation doubts.
type MeterException struct {
	Number    uint64    `json:"number"`
	Meter     string    `json:"meter"`
	Channel   int       `json:"channel"`
	Day       string    `json:"day"`
	Status    string    `json:"status"`
	Intervals int       `json:"intervals"`
	Noticed   time.Time `json:"noticed"`
}

// MeterJudgement is what validation found.
type MeterJudgement struct {
	Channels   int `json:"channels"`
	Validated  int `json:"validated"`
	Doubted    int `json:"doubted"`
	Estimated  int `json:"estimated"`
	Exceptions int `json:"exceptions"`
}
