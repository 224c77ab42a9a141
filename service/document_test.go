package service_test

import (
	"strings"
	"testing"

	"voltbus/identity"
)

func TestAnAgentKeepsDocumentsOfItsOwn(t *testing.T) {
	d := open(t, identity.Grants{})
	result, failure := d.ask("boiler", "config_set", `{"name":"Config","type":"yaml","text":"limit: 5\nzones: config://zones\n"}`)
	if failure == nil || failure.Kind != "invalid" {
		t.Errorf("a reference to nothing gave %s, %+v", result, failure)
	}
	for _, set := range []string{`{"name":"zones","type":"csv","text":"name\na\n"}`, `{"name":"Config","type":"yaml","text":"limit: 5\nzones: config://zones\n","expect":0}`} {
		if _, failure := d.ask("boiler", "config_set", set); failure != nil {
			t.Fatalf("%s: %+v", set, failure)
		}
	}
	result, failure = d.ask("boiler", "config_get", `{"name":"config"}`)
	if failure != nil || !strings.Contains(result, `"content":{"limit":5,"zones":[{"name":"a"}]}`) || !strings.Contains(result, `"by":"agent:boiler"`) {
		t.Errorf("got %s, %+v", result, failure)
	}
	if result, failure = d.ask("boiler", "config_list", ``); failure != nil || strings.Count(result, `"owner":"agent/boiler"`) != 2 {
		t.Errorf("got %s, %+v", result, failure)
	}
	if _, failure = d.ask("boiler", "config_set", `{"name":"config","type":"json","text":"{}","expect":0}`); failure == nil || failure.Kind != "conflict" {
		t.Errorf("a second first version gave %+v", failure)
	}
	if _, failure = d.ask("boiler", "config_delete", `{"name":"config"}`); failure != nil {
		t.Errorf("got %+v", failure)
	}
	if _, failure = d.ask("boiler", "config_get", `{"name":"config"}`); failure == nil || failure.Kind != "not-found" {
		t.Errorf("a deleted document gave %+v", failure)
	}
	if result, failure = d.ask("boiler", "config_history", `{"name":"config"}`); failure != nil || strings.Count(result, `"version"`) != 2 {
		t.Errorf("got %s, %+v", result, failure)
	}
}

func TestDocumentsOfOthersAreForAdministrators(t *testing.T) {
	d := open(t, identity.Grants{})
	for _, owner := range []string{"agent/boiler", "shared", "device/a"} {
		if _, failure := d.ask("admin", "config_set", `{"owner":"`+owner+`","name":"x","type":"json","text":"1"}`); failure != nil {
			t.Fatalf("%s: %+v", owner, failure)
		}
	}
	if _, failure := d.ask("boiler", "config_get", `{"owner":"shared","name":"x"}`); failure != nil {
		t.Errorf("what is shared gave %+v", failure)
	}
	for method, args := range map[string]string{
		"config_get": `{"owner":"device/a","name":"x"}`, "config_list": `{"owner":"agent/admin"}`,
		"config_set":    `{"owner":"shared","name":"x","type":"json","text":"2"}`,
		"config_delete": `{"owner":"shared","name":"x"}`, "config_history": `{"owner":"device/a","name":"x"}`,
	} {
		_, failure := d.ask("boiler", method, args)
		if failure == nil || failure.Kind != "refused" || failure.Missing != "administer" {
			t.Errorf("%s %s gave %+v", method, args, failure)
		}
	}
}
