package api

import "time"

// Bounds of what lasts or takes memory, for one person with all of their programs, and in total.
const (
	maxReaders   = 1000 // streams
	eachReaders  = 64
	maxExports   = 16
	eachExports  = 4
	eachRequests = 256       // other than streams; the total is bounded by the number of connections
	eachBodies   = 512 << 20 // bytes of bodies and of their decoded values, as wire.Weight estimates them
	maxBodies    = 2 * eachBodies
)

// Bounds of the PromQL queries of one person: a Grafana dashboard sends many at once.
const (
	eachQueries   = 2 // running; the node runs four
	eachWaiting   = 64
	queryPatience = 30 * time.Second
)

// Bounds of the SQL statements of one person.
const (
	maxStatements         = 2 // running at once: each may use the whole machine
	eachStatements        = 1 // running; the node runs two
	eachWaitingStatements = 16
)
