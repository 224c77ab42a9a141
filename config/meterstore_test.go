package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/config"
	metersetting "voltbus/meter/setting"
	database "voltbus/store/postgres/setting"
)

func TestReadingsOfMetersAreKeptInTheDatabaseOfTheHistoryUnlessAnotherIsNamed(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Engine, cfg.Store.URL, cfg.Store.PasswordFile, cfg.Store.Schema = "postgres", "postgres://a@one/x", "secret", "history"
	cfg.Metering.Store.Engine = "postgres"
	verify := database.TLS{Mode: "verify"}
	want := metersetting.Store{Engine: "postgres", URL: "postgres://a@one/x", PasswordFile: "secret", Schema: "history", TLS: verify}
	if diff := cmp.Diff(want, cfg.MeterStore()); diff != "" {
		t.Error(diff)
	}
	cfg.Metering.Store.URL = "postgres://b@two/y"
	want = metersetting.Store{Engine: "postgres", URL: "postgres://b@two/y", Schema: "voltbus", TLS: verify}
	if diff := cmp.Diff(want, cfg.MeterStore()); diff != "" {
		t.Error(diff)
	}
}
