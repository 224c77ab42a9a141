package api

import "voltbus/fault"

const maxPagePoints = 10_000

func absent(what string) error { return fault.E("api", fault.Unavailable, what, errAbsent) }
