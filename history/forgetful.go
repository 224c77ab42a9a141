package history

import (
	"context"
	"errors"

	"voltbus/fault"
	"voltbus/store/memory"
)

// forgetful is a store in memory as a node uses it.
type forgetful struct{ *memory.Store }

// SQL implements store.SQL: it refuses.
func (forgetful) SQL(context.Context, string, func([]string) error, func([]any) error) error {
	return fault.E("history.SQL", fault.Unavailable, "store", errors.New("the store in memory answers no SQL; set store.engine to duckdb or postgres"))
}
