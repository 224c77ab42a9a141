package dnp3pairs_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/lab/dnp3pairs"
)

// secondProcess is set in the environment of the second process, which is this test again.
const secondProcess = "VOLTBUS_DNP3PAIRS_FLEET"

func TestMain(m *testing.M) {
	if fleet, second := os.LookupEnv(secondProcess); second {
		o := small()
		o.Fleet = fleet == "true"
		if err := dnp3pairs.Serve(context.Background(), o, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func small() dnp3pairs.Options {
	return dnp3pairs.Options{Sessions: 3, Values: 10, Duration: 50 * time.Millisecond}
}

// second returns the command of the second process.
func second(fleet string) func(ctx context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), secondProcess+"="+fleet)
		return cmd
	}
}

func TestPairsExchangeMessagesInOneProcessAndInTwo(t *testing.T) {
	for name, other := range map[string]func(ctx context.Context) *exec.Cmd{"one": nil, "two": second("false")} {
		t.Run(name, func(t *testing.T) {
			o := small()
			o.Other = other
			r, err := dnp3pairs.Measure(t.Context(), o)
			if err != nil || r.Messages == 0 || r.CPU == 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestAFleetIsReadAndReportsWithoutALostEvent(t *testing.T) {
	o := small()
	o.Fleet, o.Other = true, second("true")
	r, err := dnp3pairs.MeasureFleet(t.Context(), o)
	if err != nil || r.Values != 3*33 || r.Events != 3*10 {
		t.Errorf("%+v, %v", r, err)
	}
}
