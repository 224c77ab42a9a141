package memory_test

import (
	"testing"
	"time"

	"voltbus/meter/store"
	"voltbus/meter/store/memory"
	"voltbus/meter/store/metertest"
)

func TestStore(t *testing.T) {
	metertest.Run(t, metertest.Engine{Open: func(_ testing.TB, _ string, zone *time.Location, now func() time.Time) store.Store {
		return memory.New(memory.Options{Zone: zone, Now: now})
	}})
}
