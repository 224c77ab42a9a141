package host

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestTheTemperatureIsTheHighestThatABoardTells(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  float64
		known bool
	}{
		{"nothing is told", fstest.MapFS{}, 0, false},
		{"two zones", fstest.MapFS{"class/thermal/thermal_zone0/temp": file("45123\n"), "class/thermal/thermal_zone1/temp": file("51000\n")}, 51, true},
		{"zones count before chips", fstest.MapFS{"class/thermal/thermal_zone0/temp": file("45000\n"), "class/hwmon/hwmon0/temp1_input": file("60000\n")}, 45, true},
		{"only chips", fstest.MapFS{"class/hwmon/hwmon3/temp2_input": file("38500\n"), "class/hwmon/hwmon3/name": file("nct")}, 38.5, true},
		{"a sensor that is not connected", fstest.MapFS{"class/thermal/thermal_zone0/temp": file("-274000\n"), "class/hwmon/hwmon0/temp1_input": file("41000")}, 41, true},
		{"no number", fstest.MapFS{"class/thermal/thermal_zone0/temp": file("warm")}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, known := Temperature(c.files); got != c.want || known != c.known {
				t.Errorf("%g, %v; want %g, %v", got, known, c.want, c.known)
			}
		})
	}
}

func TestThisProcessUsesMemoryAndTimeAndHasADisk(t *testing.T) {
	if Memory() <= 0 {
		t.Error("it uses no memory")
	}
	for began := Processor(); Processor() == began; { // what it does meanwhile takes time
		_ = time.Now()
	}
	if free, size := FreeSpace(t.TempDir()); free < 0 || size <= 0 || free > size {
		t.Errorf("free %d of %d", free, size)
	}
	if free, size := FreeSpace("/no such folder"); free != 0 || size != 0 {
		t.Errorf("a folder that is not there has %d of %d", free, size)
	}
}
