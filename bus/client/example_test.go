package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"voltbus/bus/client"
	"voltbus/identity"
)

// An agent that another one may ask for a sum. It needs a node, so it is compiled and not run.
func Example() {
	ctx := context.Background()
	pem, err := os.ReadFile("data/tls/ca.pem")
	if err != nil {
		fmt.Println(err)
		return
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	key, err := identity.OpenKey("adder.nk") // its public half is registered: voltbus agent register
	if err != nil {
		fmt.Println(err)
		return
	}
	bus, err := client.Connect(ctx, client.Options{Address: "127.0.0.1:4222", CA: ca, Key: key, Name: "adder"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()
	err = bus.Handle(client.Method{
		Name: "sum", Doc: "Add two numbers.",
		Do: func(_ context.Context, r *client.Request) (any, error) {
			var a, b float64
			if err := errors.Join(r.Arg(0, &a), r.Arg(1, &b)); err != nil {
				return nil, err
			}
			return a + b, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-bus.Stopping()
}
