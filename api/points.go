package api

import "voltbus/fault"

func absent(what string) error { return fault.E("api", fault.Unavailable, what, errAbsent) }
