package machine_test

import (
	"math"
	"os"
	"testing"

	"voltbus/fault"
	"voltbus/lab/machine"
)

func TestTheMachineIsDescribed(t *testing.T) {
	d := machine.Describe(t.TempDir())
	if d.Cores < 1 || d.Memory == 0 || d.Kernel == "" || d.Disk == "" || d.DiskFree == 0 || d.Files == 0 || d.Go == "" {
		t.Errorf("%+v", d)
	}
}

// A process that computes uses time; the meter sees no less than another one made later.
func TestAMeterCountsFromWhenItWasMade(t *testing.T) {
	before := machine.NewMeter(os.Getpid())
	x := 1.0
	for {
		for i := range 1_000_000 {
			x += math.Sqrt(float64(i))
		}
		if u, err := before.Usage(); err != nil || u.CPU > 0.1 { // much more than passes below
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	after := machine.NewMeter(os.Getpid())
	first, err := before.Usage()
	if err != nil {
		t.Fatal(err)
	}
	second, err := after.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if first.CPU <= second.CPU || first.Wall <= second.Wall || first.Memory == 0 || first.Peak < first.Memory/2 || x == 0 {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestAProcessThatHasGoneIsNotFound(t *testing.T) {
	if _, err := machine.NewMeter(1 << 30).Usage(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v, want not found", err)
	}
}

func TestPagesOfFilesArePartOfAProcessesMemory(t *testing.T) {
	u, err := machine.NewMeter(os.Getpid()).Usage()
	if err != nil {
		t.Fatal(err)
	}
	if file := machine.FileMemory(os.Getpid()); file == 0 || file >= u.Memory {
		t.Errorf("%d bytes of %d are pages of files", file, u.Memory)
	}
	if file := machine.FileMemory(1 << 30); file != 0 {
		t.Errorf("a process that has gone has %d bytes", file)
	}
}

func TestUsagesAddUp(t *testing.T) {
	u := machine.Usage{Wall: 1, CPU: 1, Memory: 5, Peak: 7, Written: 1, Threads: 2}
	u.Add(machine.Usage{Wall: 1, CPU: 2, Memory: 4, Peak: 9, Written: 2, Threads: 1})
	if want := (machine.Usage{Wall: 2, CPU: 3, Memory: 5, Peak: 9, Written: 3, Threads: 2}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	if u.Cores() != 1.5 || (&machine.Usage{}).Cores() != 0 {
		t.Error("cores", u.Cores())
	}
}
