package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"voltbus/fault"
)

func TestKindOfFindsTheOutermostKind(t *testing.T) {
	cause := errors.New("no answer")
	inner := fault.E("modbus.Read", fault.Timeout, "10.0.0.7", cause)
	for _, tt := range []struct {
		err  error
		want fault.Kind
	}{
		{inner, fault.Timeout},
		{fmt.Errorf("scan boiler: %w", inner), fault.Timeout},
		{fault.E("device.Read", fault.Unreachable, "boiler", inner), fault.Unreachable},
		{context.Canceled, fault.Canceled},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), fault.Timeout},
		{cause, fault.Internal},
		{nil, fault.Internal},
	} {
		if got := fault.KindOf(tt.err); got != tt.want {
			t.Errorf("KindOf(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
	if !errors.Is(inner, cause) {
		t.Error("the cause is lost")
	}
	if fault.Is(nil, fault.Internal) {
		t.Error("no error is of a kind")
	}
}

func TestErrorTextNamesTheSubjectButNotTheOperation(t *testing.T) {
	for want, err := range map[string]error{
		"boiler: no answer": fault.E("device.Read", fault.Timeout, "boiler", errors.New("no answer")),
		"no answer":         fault.E("device.Read", fault.Timeout, "", errors.New("no answer")),
		"boiler: timeout":   fault.E("device.Read", fault.Timeout, "boiler", nil),
	} {
		if got := err.Error(); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
	}
}

func TestEveryKindHasANameThatReadsBack(t *testing.T) {
	for k := fault.Internal; k <= fault.Canceled; k++ {
		if got, ok := fault.ParseKind(k.String()); !ok || got != k {
			t.Errorf("kind %d is called %q and reads back as %d", k, k, got)
		}
	}
	if _, ok := fault.ParseKind("nonsense"); ok || fault.Kind(200).String() != "internal" {
		t.Error("an unknown kind is not internal")
	}
}
