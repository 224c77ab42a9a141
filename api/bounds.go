package api

import "time"

// How many of what lasts or takes memory one person has at a time, with all of their programs, and all together.
const (
	maxReaders   = 1000 // streams
	eachReaders  = 64
	maxExports   = 16
	eachExports  = 4
	eachRequests = 256       // that are no streams; all together have as many as there are connections
	eachBodies   = 512 << 20 // bytes of bodies, and of what their values take when they are read, as wire.Weight has it
	maxBodies    = 2 * eachBodies
)

// Bounds of the queries in PromQL of one person: a screen of Grafana asks many at once.
const (
	eachQueries   = 2 // that run; the node runs four
	eachWaiting   = 64
	queryPatience = 30 * time.Second
)

// Bounds of the statements in SQL of one person.
const (
	maxStatements         = 2 // that run at once: each may use the whole machine
	eachStatements        = 1 // that run; the node runs two
	eachWaitingStatements = 16
)
