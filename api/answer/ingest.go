package answer

import (
	"encoding/json"
	"time"
)

// Ingested is the outcome of a body of readings.
type Ingested struct {
	Accepted int           `json:"accepted" api:"schema=Count"` // on disk
	Refused  int           `json:"refused" api:"min=0" doc:"A line that cannot be read counts once"`
	Errors   []IngestError `json:"errors" api:"max=100"` // the first hundred
	// Misdated counts readings whose time was outside the node's bounds; they are recorded with their time of arrival.
	Misdated int `json:"misdated,omitempty" api:"min=1" doc:"Readings whose time was out of bounds (ingest.clock_ahead, ingest.clock_behind): they have the time of their arrival and are uncertain(clock)"`
}

// IngestError explains why a reading was refused.
type IngestError struct {
	Line   int    `json:"line" api:"min=1" doc:"Of a text; the number of the reading in JSON and SenML"`
	Point  string `json:"point"`
	Kind   string `json:"kind" api:"schema=FaultKind"` // a fault kind
	Detail string `json:"detail"`
}

// Tokens lists the tokens that are restricted to recording.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// Token describes a token without the secret.
type Token struct {
	Name    string    `json:"name"`
	Purpose string    `json:"purpose" api:"one-of=record|member"` // record, or a member of a metering cluster
	Under   string    `json:"under"`                              // where it may record; "" for anywhere
	Created time.Time `json:"created"`
}

// IssuedToken is a new token, with the secret.
type IssuedToken struct {
	Name  string `json:"name"`
	Under string `json:"under"`
	Token string `json:"token"`
}

// OwnTokens lists the tokens that a user created for programs.
type OwnTokens struct {
	Tokens []OwnToken `json:"tokens"`
}

// OwnToken describes a token that a user created for programs, without the secret.
type OwnToken struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Role    string     `json:"role" api:"one-of=viewer|operator|engineer|administrator"` // the most it may do
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires" doc:"Null: never"`
}

// IssuedOwnToken is a new token, with the secret.
type IssuedOwnToken struct {
	OwnToken
	Token string `json:"token"`
}

// InfluxError is an error in the form of InfluxDB.
type InfluxError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// InfluxHealth is the health of the node in the form of InfluxDB.
type InfluxHealth struct {
	Name    string   `json:"name"`
	Message string   `json:"message"`
	Checks  []string `json:"checks"`
	Status  string   `json:"status" api:"one-of=pass|fail"`
}

// Prometheus is a response in the form of Prometheus.
type Prometheus struct {
	Status string          `json:"status" api:"one-of=success"`
	Data   json.RawMessage `json:"data"`
}
