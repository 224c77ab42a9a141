package main

import (
	"os"
	"testing"
)

func TestTheGeneratedPayloadIsUpToDate(t *testing.T) {
	want, err := generate(t.Context(), "../payload")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../payload/" + target)
	if err != nil || string(got) != string(want) {
		t.Errorf("payload.pb.go is out of date: run \"make generate\" (%v)", err)
	}
}
