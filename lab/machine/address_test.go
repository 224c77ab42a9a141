package machine_test

import (
	"net"
	"testing"

	"voltbus/lab/machine"
)

func TestFreeAddressesAreFreeAndNoneThatConnectionsGet(t *testing.T) {
	list, err := machine.FreeAddresses(t.Context(), "127.0.0.1", 20)
	if err != nil || len(list) != 20 {
		t.Fatal(len(list), err)
	}
	for _, address := range list {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("the address is taken, or there twice: %v", err)
		}
		defer l.Close()
		if port := l.Addr().(*net.TCPAddr).Port; port >= 32768 {
			t.Errorf("the system gives %s to connections", address)
		}
	}
	if _, err := machine.FreeAddresses(t.Context(), "192.0.2.1", 1); err == nil {
		t.Error("an address of another machine is free here")
	}
}
