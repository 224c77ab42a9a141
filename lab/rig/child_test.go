package rig_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig"
)

// silent is a program that says nothing until its input is closed.
var silent = []string{"sh", "-c", "read x; echo 'waiting for a majority' >&2; exec cat"}

func TestAChildThatSaysNothingIsKilledWithItsLastWords(t *testing.T) {
	c, err := rig.Start([]string{"sh", "-c", "read x; echo '{}'; echo 'I wait' >&2; exec cat"}, "part", nil)
	if err != nil {
		t.Fatal(err)
	}
	var said struct{}
	if err := c.Next(&said); err != nil {
		t.Fatal(err)
	}
	err = c.NextWithin(100*time.Millisecond, &said)
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "it said nothing within 100ms") || !strings.Contains(err.Error(), "I wait") {
		t.Errorf("%v", err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("it has ended, and is stopped: %v", err)
	}
}

func TestANodeThatIsNotReadyEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel) // whenever it is: the child never gets ready
	if _, err := rig.Open(ctx, silent, "none.yaml"); fault.KindOf(err) != fault.Canceled {
		t.Errorf("%v", err)
	}
}

func TestANodeThatEndsBeforeItIsReadySaysWhy(t *testing.T) {
	_, err := rig.Open(t.Context(), []string{"sh", "-c", "read x; echo 'the port is taken' >&2; exit 1"}, "none.yaml")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("%v", err)
	}
}
