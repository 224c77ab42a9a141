package config_test

import (
	"testing"

	"voltbus/config"
)

func TestColumnsPointAtTheKey(t *testing.T) {
	text := config.Lines([]byte("devices:\n  ä: {interval: 1}\n\tx"))
	for _, tt := range []struct {
		p    config.Problem
		want int
	}{
		{config.Problem{Line: 2, Key: "devices.ä.interval"}, 7},
		{config.Problem{Line: 2, Key: "devices[0]"}, 3},
		{config.Problem{Line: 3, Key: ""}, 2},
		{config.Problem{Line: 9}, 0},
		{config.Problem{Line: 0}, 0},
	} {
		if got := text.Column(tt.p); got != tt.want {
			t.Errorf("%+v stands in column %d, want %d", tt.p, got, tt.want)
		}
	}
}
