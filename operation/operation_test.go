package operation_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

type rename struct {
	Device string  `json:"device" api:"person,query,max=20"`
	Name   *string `json:"name" api:"required,max=5"`
	Kind   string  `json:"kind" api:"one-of=pump|fan"`
	Times  int     `json:"times" api:"min=1,max=9"`
	Keep   bool    `json:"keep"`
}

type renamed struct {
	Device string `json:"device"`
	Name   string `json:"name"`
}

var errTaken = errors.New("another device has this name")

// table has one operation, and writes down what the audit log is told.
func table(told *[]operation.Entry) *operation.Table {
	op := operation.Declare[rename, renamed](operation.Spec{
		Name: "device.rename", Method: "rename", HTTP: "POST /devices/{device}/rename", Role: identity.Engineer, Audited: true, Body: 100, Remote: true,
	})
	forget := operation.Declare[struct{}, operation.None](operation.Spec{Name: "device.forget", HTTP: "DELETE /devices", Role: identity.Viewer, Remote: true})
	may := func(_ context.Context, c *operation.Call, in *rename) error {
		c.Did(in.Device, nil)
		if c.IsAgent() && !c.Grants.Administer {
			return fault.E("test", fault.Refused, in.Device, &identity.Missing{Capability: "administer"})
		}
		return nil
	}
	do := func(_ context.Context, c *operation.Call, in *rename) (renamed, error) {
		if *in.Name == "taken" {
			return renamed{}, fault.E("test", fault.Conflict, in.Device, errTaken)
		}
		c.Did(in.Device, map[string]string{"to": *in.Name})
		return renamed{in.Device, *in.Name}, nil
	}
	nothing := func(context.Context, *operation.Call, *struct{}) (operation.None, error) {
		return operation.None{}, nil
	}
	return operation.NewTable(func(_ context.Context, e operation.Entry) { *told = append(*told, e) },
		[]operation.Bound{operation.Bind(op, may, do), operation.Bind(forget, nil, nothing)})
}

func arguments(t *testing.T, text string) operation.Arguments {
	t.Helper()
	var a operation.Arguments
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArgumentsAreJudgedAsTheyAreDeclared(t *testing.T) {
	tests := []struct{ args, result, err string }{
		{`{"device":"a","name":"b"}`, `{"device":"a","name":"b"}`, ""},
		{`{"device":"a","name":""}`, `{"device":"a","name":""}`, ""},
		{`{"device":"a","name":"b","kind":"pump","times":9,"keep":true}`, `{"device":"a","name":"b"}`, ""},
		{`{"device":"a"}`, "", "name: is missing"},
		{`{"name":"b"}`, "", "device: is missing"},
		{`{"device":"a","name":"abcdef"}`, "", "name: has 6 characters; 5 at most"},
		{`{"device":"a","name":"b","kind":"cat"}`, "", `kind: must be one of pump or fan, not "cat"`},
		{`{"device":"a","name":"b","times":10}`, "", "times: must be a whole number from 1 to 9"},
		{`{"device":"a","name":"b","times":1.5}`, "", "times: must be a whole number from 1 to 9"},
		{`{"device":"a","name":"b","keep":"yes"}`, "", "keep: must be true or false, not string"},
		{`{"device":"a","name":null}`, "", "name: is null; leave it out instead"},
		{`{"device":"a","name":"b","NAME":"c"}`, "", "NAME: is no argument; there are device, name, kind, times, keep"},
	}
	var told []operation.Entry
	ops := table(&told)
	who := operation.Caller{Name: "person:ada", Role: identity.Engineer}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			result, err := ops.Run(t.Context(), &who, "device.rename", arguments(t, tt.args))
			if string(result) != tt.result || (err == nil) != (tt.err == "") || (err != nil && (!strings.HasSuffix(err.Error(), tt.err) || !fault.Is(err, fault.Invalid))) {
				t.Errorf("gives %s, %v", result, err)
			}
		})
	}
}

func TestNumbersWithAPointHaveTheBoundsAndTheDefaultThatAreDeclared(t *testing.T) {
	type share struct {
		Loss  float64 `json:"loss" api:"min=0,max=0.9,default=0.25"`
		Limit float64 `json:"limit"`
	}
	op := operation.Declare[share, share](operation.Spec{Name: "share.set", HTTP: "POST /share", Role: identity.Engineer, Body: 100})
	do := func(_ context.Context, _ *operation.Call, in *share) (share, error) { return *in, nil }
	ops := operation.NewTable(func(context.Context, operation.Entry) {}, []operation.Bound{operation.Bind(op, nil, do)})
	who := operation.Caller{Name: "person:ada", Role: identity.Engineer}
	for args, want := range map[string]string{
		`{}`:                       `{"loss":0.25,"limit":0}`,
		`{"loss":0.9,"limit":-5}`:  `{"loss":0.9,"limit":-5}`,
		`{"loss":0,"limit":1e300}`: `{"loss":0,"limit":1e+300}`,
		`{"loss":0.91}`:            "loss: must be a number from 0 to 0.9",
		`{"loss":-0.1}`:            "loss: must be a number from 0 to 0.9",
	} {
		result, err := ops.Run(t.Context(), &who, "share.set", arguments(t, args))
		got := string(result)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s gives %s, want %s", args, got, want)
		}
	}
}

func TestAttackTheCallerIsJudgedBeforeAnythingIsDone(t *testing.T) {
	tests := map[string]struct {
		who  operation.Caller
		name string
		want fault.Kind
	}{
		"an operator":                      {operation.Caller{Name: "person:bob", Role: identity.Operator}, "device.rename", fault.Refused},
		"a person of no role":              {operation.Caller{Name: "person:eve"}, "device.forget", fault.Refused},
		"an agent without the right":       {operation.Caller{Name: "agent:a", Agent: "a"}, "device.rename", fault.Refused},
		"an agent at what is for people":   {operation.Caller{Name: "agent:a", Agent: "a", Grants: identity.Grants{Administer: true}}, "device.forget", fault.Refused},
		"an agent that calls itself admin": {operation.Caller{Name: "person:root", Agent: "a"}, "device.rename", fault.Refused},
		"what there is not":                {operation.Caller{Name: "person:ada", Role: identity.Administrator}, "device.melt", fault.NotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var told []operation.Entry
			result, err := table(&told).Run(t.Context(), &tt.who, tt.name, arguments(t, `{"device":"a","name":"b"}`))
			if result != nil || !fault.Is(err, tt.want) {
				t.Errorf("gives %s, %v", result, err)
			}
			if tt.name == "device.rename" && (len(told) != 1 || told[0].Err == nil || told[0].Detail != nil) {
				t.Errorf("the audit log was told %+v", told)
			}
		})
	}
}

func TestTheAuditLogIsToldHowItEnded(t *testing.T) {
	var told []operation.Entry
	ops := table(&told)
	who := operation.Caller{Name: "agent:a", Agent: "a", Grants: identity.Grants{Administer: true}}
	for _, args := range []string{`{"device":"p","name":"b"}`, `{"device":"p","name":"taken"}`} {
		_, _ = ops.Run(t.Context(), &who, "device.rename", arguments(t, args))
	}
	want := []operation.Entry{
		{Caller: who, Action: "device.rename", Subject: "p", Detail: map[string]string{"to": "b"}},
		{Caller: who, Action: "device.rename", Subject: "p", Err: errTaken},
	}
	same := cmp.Comparer(func(a, b error) bool { return (a == nil) == (b == nil) && (errors.Is(a, b) || errors.Is(b, a)) })
	if diff := cmp.Diff(want, told, same); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestArgumentsFromAnOlderNodeAreTheSame(t *testing.T) {
	var told []operation.Entry
	who := operation.Caller{Name: "person:campus/ada", Role: identity.Engineer, Remote: true}
	result, err := table(&told).AnswerRemote(t.Context(), &who, "device.rename", arguments(t, `{"device":"a","times":"3","body":{"name":"b","keep":true}}`))
	if err != nil || string(result) != `{"device":"a","name":"b"}` {
		t.Errorf("gives %s, %v", result, err)
	}
	if _, err := table(&told).AnswerRemote(t.Context(), &who, "device.rename", arguments(t, `{"device":"a","times":"many","body":{"name":"b"}}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a number in words gives %v", err)
	}
	if result, err := table(&told).AnswerRemote(t.Context(), &who, "device.forget", nil); err != nil || string(result) != "null" {
		t.Errorf("without arguments it gives %s, %v", result, err)
	}
}
