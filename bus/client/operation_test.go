package client_test

import (
	"testing"

	"voltbus/bus/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

func TestAnOperationIsAskedForByItsDeclaration(t *testing.T) {
	h := openHall(t)
	c, _ := h.enter("calc", identity.Grants{}, nil)
	people := operation.Declare[struct{}, operation.None](operation.Spec{Name: "sum.forget"})
	if _, err := client.Do(wait(t), c, people, struct{}{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("what only people ask for gives %v", err)
	}
	ping := operation.Declare[struct{}, string](operation.Spec{Name: "node.ping", Method: "ping"})
	if got, err := client.Do(wait(t), c, ping, struct{}{}); err != nil || got != "pong" {
		t.Errorf("gives %q, %v", got, err)
	}
}
