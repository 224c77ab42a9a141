package fmu_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/virtual/fmu"
)

// written writes an archive with a description.
func written(t *testing.T, description string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "unit.fmu")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("modelDescription.xml")
	if err == nil {
		_, err = w.Write([]byte(description))
	}
	for _, e := range []error{err, z.Close(), f.Close()} {
		if e != nil {
			t.Fatal(e)
		}
	}
	return name
}

func TestADescriptionHasItsPorts(t *testing.T) {
	d, err := fmu.Read(written(t, `<fmiModelDescription fmiVersion="3.0" modelName="office">
<CoSimulation modelIdentifier="o" canSerializeFMUState="true"/>
<ModelVariables>
<Float64 name="T" valueReference="1" causality="output"/>
<Boolean name="on" valueReference="2" causality="input" start="true"/>
<Float64 name="C" valueReference="3" causality="parameter" start="2.5"/>
<String name="label" valueReference="4" causality="parameter"><Start value="x"/></String>
<Float64 name="all" valueReference="5" causality="output"><Dimension start="3"/></Float64>
<Float64 name="inner" valueReference="6" causality="local"/>
</ModelVariables></fmiModelDescription>`))
	if err != nil {
		t.Fatal(err)
	}
	k := d.Kind()
	if d.Version != 3 || d.Varies || !d.Serialises || len(k.Outputs) != 1 || len(k.Inputs) != 1 || len(k.Parameters) != 1 {
		t.Errorf("%+v", d)
	}
	if k.Inputs[0].Name != "on" || k.Inputs[0].Default != 1 || k.Parameters[0].Default != 2.5 || k.Outputs[0].Name != "T" {
		t.Errorf("%+v", k)
	}
}

func TestWhatAWorldCannotRunIsTold(t *testing.T) {
	for want, text := range map[string]string{
		`it is of FMI "1.0"`:     `<fmiModelDescription fmiVersion="1.0"/>`,
		"not for co-simulation":  `<fmiModelDescription fmiVersion="2.0"><ModelExchange/></fmiModelDescription>`,
		"needs the tool":         `<fmiModelDescription fmiVersion="2.0"><CoSimulation needsExecutionTool="true"/></fmiModelDescription>`,
		"starts with \"warm\"":   `<fmiModelDescription fmiVersion="3.0"><CoSimulation/><ModelVariables><Float64 name="T" valueReference="1" causality="input" start="warm"/></ModelVariables></fmiModelDescription>`,
		"reference \"-1\"":       `<fmiModelDescription fmiVersion="3.0"><CoSimulation/><ModelVariables><Float64 name="T" valueReference="-1" causality="input"/></ModelVariables></fmiModelDescription>`,
		"modelDescription.xml: ": `<fmiModelDescription`,
	} {
		if _, err := fmu.Read(written(t, text)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
