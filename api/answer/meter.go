package answer

import "time"

// MeterEntry is a meter and where it is installed.
type MeterEntry struct {
	ID           string         `json:"id"`
	Commodity    string         `json:"commodity" api:"one-of=electricity|gas|heat|water"`
	Channels     []MeterChannel `json:"channels"`
	ServicePoint string         `json:"servicePoint,omitempty"`
	Premises     string         `json:"premises,omitempty"`
	From         *time.Time     `json:"from,omitempty" doc:"Since when it is there"`
}

// MeterChannel is a register, or a load profile.
type MeterChannel struct {
	Number      int     `json:"number" api:"min=1,max=65535"`
	ReadingType string  `json:"readingType" doc:"18 numbers of IEC 61968-9, annex C"`
	OBIS        string  `json:"obis,omitempty" doc:"IEC 62056-61"`
	Unit        string  `json:"unit,omitempty" doc:"Of the reading type"`
	Interval    float64 `json:"interval,omitempty" doc:"Seconds; 0 or left out for a register"`
	Multiplier  float64 `json:"multiplier,omitempty" doc:"Of transformers: quantity = reading × multiplier"`
	Digits      int     `json:"digits,omitempty" doc:"Of the register before the point"`
	Decimals    int     `json:"decimals,omitempty" doc:"Of the register behind it"`
}

// Meters is a page of the list of meters.
type Meters struct {
	Meters  []MeterEntry   `json:"meters"`
	Cluster *MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterRegistered is the outcome of registering meters.
type MeterRegistered struct {
	Added   int            `json:"added"`
	Known   int            `json:"known" doc:"Were there with the same channels"`
	Adopted int            `json:"adopted" doc:"Readings that came before their meter"`
	Refused []MeterRefusal `json:"refused"`
	Cluster *MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterRefusal explains why an entry of a list was refused.
type MeterRefusal struct {
	Index  int    `json:"index" doc:"In the list that was sent"`
	Reason string `json:"reason"`
}

// MeterReadingIn is a reading sent by a program.
type MeterReadingIn struct {
	Meter       string   `json:"meter"`
	Channel     int      `json:"channel,omitempty"`
	ReadingType string   `json:"readingType,omitempty"` // instead of the channel
	End         string   `json:"end"`
	Value       *float64 `json:"value"`
}

// MeterTaken is the outcome of sending readings.
type MeterTaken struct {
	Accepted int            `json:"accepted" doc:"Readings that are on disk"`
	Refused  []MeterRefusal `json:"refused"`
}

// Taken is how many readings were sent.
func (t MeterTaken) Taken() int { return t.Accepted + len(t.Refused) }

// MeterReadings are the readings of a channel.
type MeterReadings struct {
	Meter    string         `json:"meter"`
	Channel  int            `json:"channel"`
	Unit     string         `json:"unit,omitempty"`
	Readings []MeterVersion `json:"readings"`
	Cluster  *MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterVersion is a version of a reading.
type MeterVersion struct {
	End      time.Time `json:"end" doc:"Of the interval"`
	Value    float64   `json:"value"`
	Stage    string    `json:"stage" api:"one-of=raw|validated|estimated|edited"` // raw, validated, estimated or edited
	Status   string    `json:"status,omitempty" doc:"What validation doubts"`
	Recorded time.Time `json:"recorded" doc:"Since when it is known"`
	Who      string    `json:"who,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// MeterMissing lists the data missing for a day.
type MeterMissing struct {
	Day      string              `json:"day"`
	Expected uint64              `json:"expected" doc:"Intervals"`
	Received uint64              `json:"received"`
	Channels uint64              `json:"channels" doc:"That lack something"`
	List     []MeterMissingEntry `json:"list"`
	More     bool                `json:"more"`
	Cluster  *MeterAnswered      `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterMissingEntry is a channel that lacks data.
type MeterMissingEntry struct {
	Meter   string      `json:"meter"`
	Channel int         `json:"channel"`
	Ends    []time.Time `json:"ends"`
}

// MeterExceptions are pending exceptions.
type MeterExceptions struct {
	Exceptions []MeterException `json:"exceptions"`
	Cluster    *MeterAnswered   `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}

// MeterException is a day of a channel that failed validation.
type MeterException struct {
	Number    uint64    `json:"number"`
	Member    string    `json:"member,omitempty" doc:"Of the cluster, whose number it is"`
	Meter     string    `json:"meter"`
	Channel   int       `json:"channel"`
	Day       string    `json:"day"`
	Status    string    `json:"status"`
	Intervals int       `json:"intervals" doc:"That something was found about"`
	Noticed   time.Time `json:"noticed"`
}

// MeterJudgement is the result of a validation.
type MeterJudgement struct {
	Channels   int            `json:"channels"`
	Validated  int            `json:"validated" doc:"Readings"`
	Doubted    int            `json:"doubted"`
	Estimated  int            `json:"estimated"`
	Exceptions int            `json:"exceptions"`
	Cluster    *MeterAnswered `json:"cluster,omitempty" doc:"Which members had a part in the answer; none if the node is in no cluster"`
}
