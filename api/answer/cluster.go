package answer

// MeterAnswered lists the members of a cluster that took part in an answer.
type MeterAnswered struct {
	Complete bool            `json:"complete" doc:"Whether every meter that the question is about is in the answer; false if a member that keeps some of them did not answer"`
	Members  []MeterAnswerer `json:"members" doc:"That were asked"`
}

// MeterAnswerer is a member of a cluster that was asked.
type MeterAnswerer struct {
	Name     string `json:"name" doc:"Of its node"`
	Answered bool   `json:"answered"`
	Error    string `json:"error,omitempty" doc:"Why it did not answer"`
}
