package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"voltbus/bus/client"
	"voltbus/identity"
)

// raise is an agent that raises an alert: raise boiler flow/low critical 'no flow'. Its key is in
// boiler.nk, and the node's data in the script's directory.
func raise(ts *testscript.TestScript, _ bool, args []string) {
	var node struct {
		Bus string `json:"bus"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("data/node.json")), &node))
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM([]byte(ts.ReadFile("data/tls/ca.pem")))
	key, err := identity.ReadKey(ts.MkAbs(args[0] + ".nk"))
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.Connect(ctx, client.Options{Address: node.Bus, CA: ca, Key: key, Name: args[0]})
	ts.Check(err)
	defer c.Close()
	ts.Check(c.Alert(args[1], args[2], args[3]))
}
