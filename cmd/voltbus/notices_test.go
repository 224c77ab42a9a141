package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTheBillOfMaterialsAndTheNoticesAreCurrent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}pkg:golang/{{.Path}}@{{.Version}}{{end}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(out))
	var page struct{ Dependencies map[string]string }
	text, err := os.ReadFile("../../web/package.json")
	if err == nil {
		err = json.Unmarshal(text, &page)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range page.Dependencies {
		want = append(want, "pkg:npm/"+name+"@"+version)
	}
	var bill struct {
		Packages []struct {
			Name         string
			ExternalRefs []struct{ ReferenceLocator string }
		}
	}
	if err := json.Unmarshal([]byte(billSPDX), &bill); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range bill.Packages {
		if len(p.ExternalRefs) > 0 {
			got = append(got, p.ExternalRefs[0].ReferenceLocator)
			if !strings.Contains(thirdParty, "\n"+p.Name+" ") {
				t.Errorf("the notices lack %s", p.Name)
			}
		}
	}
	var cyclone struct{ Components []struct{ Purl string } }
	if err := json.Unmarshal([]byte(billCycloneDX), &cyclone); err != nil {
		t.Fatal(err)
	}
	for _, purl := range want {
		is := slices.ContainsFunc(cyclone.Components, func(c struct{ Purl string }) bool { return c.Purl == purl })
		if !is || !slices.Contains(got, purl) {
			t.Errorf("%s is in the program and not in the bills of materials; run go generate ./cmd/voltbus", purl)
		}
	}
}
