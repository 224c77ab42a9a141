package declared_test

import (
	"strings"
	"testing"

	"voltbus/operation"
	"voltbus/operation/declared"
)

// A second operation of a name would hide the first, over one of the ways.
func TestNoTwoOperationsAreCalledTheSame(t *testing.T) {
	seen := map[string]string{}
	once := func(d *operation.Declared, way, name string) {
		if other, twice := seen[way+name]; twice && name != "" && other != d.Name {
			t.Errorf("%s and %s are both called %q %s", other, d.Name, name, way)
		}
		seen[way+name] = d.Name
	}
	names := map[string]int{}
	list := declared.All()
	for i := range list {
		d := &list[i]
		if names[d.Name]++; names[d.Name] > 1 {
			t.Errorf("%s is declared %d times", d.Name, names[d.Name])
		}
		method, path := d.Path()
		once(d, "over HTTP", strings.TrimSpace(method+" "+path))
		once(d, "on the bus", d.Method)
		once(d, "in OpenAPI", d.ID)
		if d.Remote {
			once(d, "by other nodes", d.Known())
			if !d.Granted {
				once(d, "by other nodes", d.Name)
			}
		}
	}
}

// Agents have no role: what their grants let them do a judge must say, or the package that keeps control, which judges every request.
func TestWhatAgentsChangeIsJudgedByTheirGrants(t *testing.T) {
	list := (&declared.Parts{}).Operations()
	for i := range list {
		d := &list[i]
		if agents := d.Method != "" && !d.People; agents && d.Changes() && !d.Judges && !strings.HasPrefix(d.Name, "control.") {
			t.Errorf("any agent may ask for %s, whatever its grants: bind it with a judge, or leave out Method", d.Name)
		}
	}
}

func TestEveryOperationSaysWhatItIs(t *testing.T) {
	list := declared.All()
	for i := range list {
		if d := &list[i]; d.Name == "" || d.Summary == "" || (d.HTTP == "" && d.Method == "") {
			t.Errorf("%s needs a name, a summary, and a way to be asked", d.Name)
		}
	}
}
