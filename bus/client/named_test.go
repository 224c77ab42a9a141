package client

import (
	"testing"

	"voltbus/operation"
	"voltbus/wire"
)

type sumArguments struct {
	A     float64  `json:"a"`
	B     *float64 `json:"b"`
	Where string   `json:"where"`
}

func TestArgumentsOfAnOperationGoByName(t *testing.T) {
	sum := operation.Declare[sumArguments, operation.None](operation.Spec{Name: "sum", Method: "sum"}).Declared()
	for want, in := range map[string]sumArguments{
		"":                                      {},
		`{"kwargs":{"a":1.5}}`:                  {A: 1.5},
		`{"kwargs":{"b":0,"where":"site/\"x"}}`: {B: new(0.0), Where: `site/"x`},
	} {
		args, err := sum.Given(in)
		body := named(&sum, args)
		if err != nil || string(body) != want {
			t.Errorf("%+v goes as %s, %v; want %s", in, body, err, want)
		}
		if _, err := wire.ParseArguments(body); err != nil {
			t.Errorf("the node cannot read %s: %v", body, err)
		}
	}
}
